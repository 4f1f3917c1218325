#include <iostream>
#include <string>
int main() {
    std::string said = "more";
    int x = 0;
    while (said == "more") {
        std::cout << "ask " << ++x << std::endl;
        std::getline(std::cin, said);
    }
    std::cout << "is " << x << std::endl;
}
