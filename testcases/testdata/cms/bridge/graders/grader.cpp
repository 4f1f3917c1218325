#include "bridge.h"
#include <iostream>
int main() {
    long long a, b;
    std::cin >> a >> b;
    std::cout << cross(a, b) << std::endl;
}
