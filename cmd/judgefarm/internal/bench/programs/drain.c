// A checker: standard input must be what pour prints of as many bytes as the file that
// the first argument names says.
#include <stdio.h>
int main(int argc, char **argv) {
	long size, got;
	FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!in || fscanf(in, "%ld", &size) != 1) return 1;
	for (long i = 0; i < size / 8; i++)
		if (scanf("%ld", &got) != 1 || got != i % 10000000) return 43;
	return 42;
}
