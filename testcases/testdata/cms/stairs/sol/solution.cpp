#include <iostream>
#ifndef EVAL
#error "EVAL must be defined"
#endif
int main() {
    long long n, a = 1, b = 1;
    std::cin >> n;
    for (int i = 0; i < n; i++) { long long c = a + b; a = b; b = c; }
    std::cout << "  " << n << "   stairs\r\n" << a << " ways\n\n";
}
