"""Prints a case, and its answer on standard error."""
import sys

numbers = list(range(int(sys.argv[1]))) if len(sys.argv) > 1 else [2 * int(w) for w in sys.stdin.read().split()[1:]]
print(len(numbers))
print(*numbers)
sys.stderr.write("%d" % sum(numbers))
