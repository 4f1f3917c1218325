#include "shout.h"
#include <stdio.h>
int main(void) {
#ifdef EVAL
    freopen("input.txt", "r", stdin);
    freopen("output.txt", "w", stdout);
#endif
    char line[1000];
    if (!fgets(line, sizeof line, stdin)) return 1;
    shout(line);
    fputs(line, stdout);
    return 0;
}
