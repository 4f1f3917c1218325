/* Nor does this one. */
#include <stdio.h>

int main(void) {
    int low = 1, high = 1000;
    char said[8];
    for (;;) {
        int middle = (low + high) / 2;
        printf("%d\n", middle);
        if (scanf("%7s", said) != 1 || said[0] == 'y') return 0;
        if (said[0] == 'l') high = middle - 1;
        else low = middle + 1;
    }
}
