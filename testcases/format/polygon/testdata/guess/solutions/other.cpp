#include <iostream>
#include <string>
int main() {
    int low = 1, high = 1001;
    std::string said;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        std::cout << "? " << middle << std::endl;
        std::cin >> said;
        (said == "<" ? high : low) = middle;
    }
    std::cout << "! " << low << " bye" << std::endl;
}
