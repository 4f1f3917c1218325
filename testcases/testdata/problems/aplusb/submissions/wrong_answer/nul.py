# The right number, and a NUL byte after it.
import sys

print(sum(map(int, sys.stdin.read().split())), end="\0\n")
