// How many questions the program needed to find the number, which it then tells.
#include <csignal>
#include <fstream>
#include <iostream>
#include <string>
int main(int, char **argv) {
    std::signal(SIGPIPE, SIG_IGN);
    int number, asked = 0, x;
    std::cin >> number;
    std::ofstream to(argv[2]);
    std::ifstream from(argv[1]);
    std::string word;
    while (asked < 2000 && from >> word >> x) {
        if (word == "is") {
            std::cout << (x == number ? asked : 0) << std::endl;
            std::cerr << "after " << asked << " questions" << std::endl;
            return 0;
        }
        asked++;
        to << (x < number ? "more" : "not more") << std::endl;
    }
    std::cout << 0 << std::endl;
    std::cerr << "no answer" << std::endl;
}
