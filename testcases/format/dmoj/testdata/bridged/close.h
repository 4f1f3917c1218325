inline int gap(int a, int b) { return a < b ? b - a : a - b; }
