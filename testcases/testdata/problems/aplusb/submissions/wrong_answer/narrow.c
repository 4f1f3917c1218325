#include <stdio.h>

// 32 bits are too few for the larger cases.
int main(void) {
    long long a, b;
    if (scanf("%lld %lld", &a, &b) != 2) return 1;
    printf("%d\n", (int)((unsigned)a + (unsigned)b));
    return 0;
}
