#include "relay.h"
long encode(long a, long b) { return a * 1000000 + b; }
void decode(long code, long *a, long *b) { *a = code / 1000000; *b = code % 1000000; }
