/* noise alu N | chase N | rival: the same work every time, to see how its CPU time
   varies. alu computes in registers, chase follows a random cycle through 64 MiB;
   N is in millions of steps. rival chases for ever, so that it needs its core and the
   caches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state = 88172645463325252ULL;

static unsigned long long next(void) { /* xorshift64: the same numbers every time */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

#define CELLS (64 << 20 >> 6)

static struct cell {
  unsigned to;
  char line[60]; /* a cache line each */
} cells[CELLS];

/* shuffle makes one cycle through all the cells; Sattolo's algorithm. */
static void shuffle(void) {
  for (unsigned i = 0; i < CELLS; i++) {
    cells[i].to = i;
  }
  for (unsigned i = CELLS - 1; i > 0; i--) {
    unsigned j = (unsigned)(next() % i), to = cells[i].to;
    cells[i].to = cells[j].to;
    cells[j].to = to;
  }
}

int main(int c, char **v) {
  long long steps = c > 2 ? atoll(v[2]) * 1000000 : 0;
  unsigned long long sum = 0;
  if (c > 1 && strcmp(v[1], "alu") == 0) {
    for (long long i = 0; i < steps; i++) {
      sum += next();
    }
  } else if (c > 1) {
    unsigned at = 0;
    shuffle();
    for (long long i = 0; i < steps || strcmp(v[1], "rival") == 0; i++) {
      at = cells[at].to;
    }
    sum = at;
  }
  return printf("%llu\n", sum) < 0;
}
