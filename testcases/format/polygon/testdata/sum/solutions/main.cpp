#include <iostream>
int main() {
    long long n, x, s = 0;
    std::cin >> n;
    while (n--) std::cin >> x, s += x;
    std::cout << s << "\n";
}
