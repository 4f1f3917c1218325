#include <stdio.h>

int main(void) {
    for (int c; (c = getchar()) != EOF && c != '\n';) putchar(c);
    putchar('\n');
    return 0;
}
