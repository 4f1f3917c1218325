// Answers as testlib does: INPUT OUTPUT ANSWER, a status and words on standard error.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>
std::vector<std::string> words(const char *path) {
    std::ifstream in(path);
    std::vector<std::string> all;
    for (std::string w; in >> w;) all.push_back(w);
    return all;
}
int main(int argc, char **argv) {
    if (argc != 4) return 3;
    auto got = words(argv[2]), want = words(argv[3]);
    if (got == want) return fputs("ok all\n", stderr), 0;
    if (got.empty() || got[0] != want[0]) return fputs("wrong answer another word\n", stderr), 1;
    fputs("points 50 a part\n", stderr);
    return 7;
}
