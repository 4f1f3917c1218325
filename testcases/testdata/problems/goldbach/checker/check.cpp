// check INPUT ANSWER FEEDBACK/ < OUTPUT: exit status 42 accepts, 43 refuses.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

static std::string feedback;

[[noreturn]] static void refuse(const std::string &why) {
    std::ofstream(feedback + "teammessage.txt") << why << '\n';
    std::exit(43);
}

static bool prime(long long n) {
    if (n < 2) return false;
    for (long long d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return true;
}

static long long number(const std::string &word) {
    if (word.empty() || word.size() > 7 || word.find_first_not_of("0123456789") != std::string::npos)
        refuse("not a number in the range");
    return std::stoll(word);
}

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    feedback = argv[3];
    long long n;
    std::ifstream(argv[1]) >> n;
    std::string expected, first, second, more;
    std::ifstream(argv[2]) >> expected;
    if (!(std::cin >> first)) refuse("no output");
    std::cin >> second;
    if (std::cin >> more) refuse("more than two words");
    std::ofstream(feedback + "judgemessage.txt") << "n = " << n << ", " << first << " and " << second << '\n';
    if (expected == "none" || first == "none") {
        if (first != expected || !second.empty()) refuse("it is the other way round: there are, or are not, two such primes");
        return 42;
    }
    long long p = number(first), q = number(second);
    if (p + q != n) refuse("the sum is not n");
    if (!prime(p) || !prime(q)) refuse("one of the numbers is not prime");
    return 42;
}
