#include <stdio.h>

int main(void) {
    int a, b;
    if (scanf("%d %d", &a, &b) != 2) return 1;
    if (b == 0) printf("Ratio undefined\n");
    else printf("Ratio %.3f\n", (double)a / b);
}
