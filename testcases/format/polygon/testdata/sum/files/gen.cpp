#include <cstdio>
#include <cstdlib>
#include "numbers.h"
int main(int, char **argv) {
    int n = atoi(argv[1]);
    printf("%d\n", n);
    for (int i = 1; i <= n; i++) printf("%lld ", number(i, atoi(argv[2])));
    puts("");
}
