int twice(int n) { return n; }
