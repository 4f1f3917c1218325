// An interactor: as many turns as its first argument, a file, says, each a number out
// and its successor back.
#include <stdio.h>
int main(int argc, char **argv) {
	long turns, got;
	FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!in || fscanf(in, "%ld", &turns) != 1) return 1;
	for (long i = 0; i < turns; i++) {
		printf("%ld\n", i);
		fflush(stdout);
		if (scanf("%ld", &got) != 1 || got != i + 1) return 43;
	}
	return 42;
}
