#include <math.h>
#include <stdio.h>

// Prints in the form 1.25e+03, which is a number too.
int main(void) {
    int n;
    double x[1000], mean = 0, square = 0;
    if (scanf("%d", &n) != 1 || n > 1000) return 1;
    for (int i = 0; i < n; i++) {
        if (scanf("%lf", &x[i]) != 1) return 1;
        mean += x[i] / n;
    }
    for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean) / n;
    printf("%.12e\n%.12e\n", mean, sqrt(square));
    return 0;
}
