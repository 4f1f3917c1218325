// Half of the points for what is within WITHIN of the answer.
#include <cstdio>
#include <fstream>
#include "close.h"

int main(int, char **argv) {
    std::ifstream output(argv[2]), answer(argv[3]);
    int got, want;
    if (!(answer >> want)) return 3;
    if (!(output >> got)) return 2;
    if (got == want) return 0;
    if (gap(got, want) > WITHIN) return 1;
    std::fprintf(stderr, "partial 1/2\n");
    return 7;
}
