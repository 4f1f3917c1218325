/* It never flushes: interactors need not. */
#include <stdio.h>

int main(int argc, char **argv) {
    FILE *in = fopen(argv[1], "r");
    int n, guess, asked = 0;
    if (argc < 3 || !in || fscanf(in, "%d", &n) != 1) return 5;
    while (scanf("%d", &guess) == 1) {
        asked++;
        if (guess == n) {
            printf("yes\n");
            return asked > 10;
        }
        printf(n < guess ? "less\n" : "more\n");
    }
    return 1;
}
