#include <stdio.h>

int main(void) {
    volatile int *nowhere = (volatile int *)16;
    printf("%d\n", *nowhere);
    return 0;
}
