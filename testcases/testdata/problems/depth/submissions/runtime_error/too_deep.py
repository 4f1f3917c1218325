# Python's own limit of 1000 calls ends this one.
import sys

n, *parents = map(int, sys.stdin.read().split())
children = [[] for _ in range(n + 1)]
for node, parent in enumerate(parents, 2):
    children[parent].append(node)


def depth(node):
    return max((depth(child) for child in children[node]), default=0) + 1


print(depth(1))
