#include "shout.h"
#include <fstream>
#include <string>
int main() {
    std::ifstream in("input.txt");
    std::ofstream out("output.txt");
    std::string line;
    std::getline(in, line);
    shout(&line[0]);
    out << line << std::endl;
}
