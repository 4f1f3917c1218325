#ifdef SIGNATURE_GRADER
int twice(int n) { return n << 1; }
#endif
