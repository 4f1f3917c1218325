long encode(long a, long b);
void decode(long code, long *a, long *b);
