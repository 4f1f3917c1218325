#include <fstream>
#include <string>
inline void copies(int n, const std::string &word) {
    std::ofstream out("copies.out");
    for (int i = 0; i < n; i++) out << word << " ";
}
