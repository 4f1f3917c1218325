#include <iostream>

// More words than asked for.
int main() {
    int n;
    std::cin >> n;
    std::cout << "2 " << n - 2 << " 0\n";
}
