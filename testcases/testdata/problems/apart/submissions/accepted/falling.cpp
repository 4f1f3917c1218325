#include <iostream>

int main() {
    int n;
    std::cin >> n;
    if (n == 2 || n == 3) {
        std::cout << "none\n";
        return 0;
    }
    for (int i = n - 1; i > 0; i -= 2) std::cout << i << '\n';
    for (int i = n; i > 0; i -= 2) std::cout << i << '\n';
}
