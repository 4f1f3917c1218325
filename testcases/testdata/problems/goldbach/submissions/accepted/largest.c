#include <stdio.h>

static int prime(int n) {
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0) return 0;
    return n > 1;
}

// Gives another pair than the answer: the largest prime first.
int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    for (int p = n - 2; p > 1; p--)
        if (prime(p) && prime(n - p)) {
            printf("%d\n%d\n", p, n - p);
            return 0;
        }
    puts("none");
    return 0;
}
