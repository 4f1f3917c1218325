#include <cstdio>

int main() {
    double a, b;
    if (std::scanf("%lf %lf", &a, &b) != 2) return 1;
    if (b == 0) std::puts("ratio undefined");
    else std::printf("ratio %.9f\n", a / b);
}
