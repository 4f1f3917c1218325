// Prints as many bytes as it reads the number of, in lines of seven digits.
#include <stdio.h>
int main(void) {
	long size;
	if (scanf("%ld", &size) != 1) return 1;
	for (long i = 0; i < size / 8; i++) printf("%07ld\n", i % 10000000);
}
