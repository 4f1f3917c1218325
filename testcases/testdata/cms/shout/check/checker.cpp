// The share of letters that are loud, if nothing else changed.
#include <cctype>
#include <fstream>
#include <iostream>
#include <string>
int main(int argc, char **argv) {
    std::string in, want, got;
    std::getline(std::ifstream(argv[1]), in);
    std::getline(std::ifstream(argv[2]), want);
    std::getline(std::ifstream(argv[3]), got);
    int same = 0;
    bool bad = argc != 4 || got.size() != want.size();
    for (size_t i = 0; !bad && i < got.size(); i++) {
        same += got[i] == want[i];
        bad = std::toupper((unsigned char)got[i]) != want[i];
    }
    std::cout << (bad ? 0.0 : same == (int)want.size() ? 1.0 : same * 2 > (int)want.size() ? 0.75 : 0.25) << std::endl;
    std::cerr << (bad ? "translate:wrong" : "translate:success") << std::endl;
}
