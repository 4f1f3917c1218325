import sys

assert sys.implementation.name == "pypy"
print(sum(map(int, sys.stdin.read().split())))
