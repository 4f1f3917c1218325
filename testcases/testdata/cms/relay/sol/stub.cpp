#include "relay.h"
#include <fstream>
#include <iostream>
int main(int argc, char **argv) {
    std::ifstream in(argv[1]);
    std::ofstream out(argv[2]);
    std::cout << "nobody reads this" << std::endl;
    long a, b;
    if (argv[3][0] == '0') {
        in >> a >> b;
        out << encode(a, b) << std::endl;
    } else {
        long code;
        in >> code;
        decode(code, &a, &b);
        out << a << " " << b << std::endl;
    }
}
