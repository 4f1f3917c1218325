#include <iostream>
int main() {
    long long n, x, s = 0;
    std::cin >> n;
    for (long long i = 0; i < n; i++) std::cin >> x, s += x;
    for (volatile long long i = 0; n > 3;) i = i + 1;
    std::cout << s << "\n";
}
