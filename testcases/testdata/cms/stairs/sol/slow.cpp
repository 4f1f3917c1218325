/*
 * @check-accepted: subtask0 few
 * @check-time-limit-exceeded: many
 */
#include <iostream>
volatile int steps;
long long ways(int n) { steps = steps + 1; return n < 2 ? 1 : ways(n - 1) + ways(n - 2); }
int main() {
    int n;
    std::cin >> n;
    long long w = ways(n);
    std::cout << n << " stairs\n" << w << " ways\n";
}
