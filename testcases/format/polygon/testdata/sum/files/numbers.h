#pragma once
inline long long number(long long i, long long step) { return i * step; }
