// @check-zero: *
#include "relay.h"
static long kept[2];
long encode(long a, long b) { kept[0] = a; kept[1] = b; return 0; }
void decode(long, long *a, long *b) { *a = kept[0]; *b = kept[1]; }
