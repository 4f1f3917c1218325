#include <expected>
#include <iostream>

std::expected<long long, int> add(long long a, long long b) { return a + b; }

int main() {
    long long a, b;
    std::cin >> a >> b;
    std::cout << add(a, b).value() << '\n';
}
