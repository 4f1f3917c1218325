// Answers every number with its successor.
#include <stdio.h>
int main(void) {
	long n;
	while (scanf("%ld", &n) == 1) {
		printf("%ld\n", n + 1);
		fflush(stdout);
	}
}
