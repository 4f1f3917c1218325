#include "bridge.h"
long long cross(long long a, long long b) {
    volatile long long s = a;
    for (long long i = 0; i < b; i++) s = s + 1;
    return s;
}
