#include "copy.h"
int main() {
    std::ifstream in("copies.in"), list("words.txt");
    int n;
    std::string word;
    in >> n;
    list >> word;
    copies(n, word);
}
