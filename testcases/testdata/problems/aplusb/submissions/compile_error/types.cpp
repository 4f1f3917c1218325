#include <string>

int main() { int x = std::string("1"); }
