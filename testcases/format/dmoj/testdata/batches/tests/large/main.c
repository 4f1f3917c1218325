#include <stdio.h>
int main(void) { int n; if (scanf("%d", &n) != 1) return 1; if (n == 1000) return 3; printf("%d\n", n * n); return 0; }
