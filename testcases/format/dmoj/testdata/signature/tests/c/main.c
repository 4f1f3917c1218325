int twice(int n) { return 2 * n; }
int main(void) { return 1; }
