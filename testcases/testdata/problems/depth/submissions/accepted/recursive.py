import sys

sys.setrecursionlimit(50000)
n, *parents = map(int, sys.stdin.read().split())
children = [[] for _ in range(n + 1)]
for node, parent in enumerate(parents, 2):
    children[parent].append(node)


def depth(node):
    deepest = 0
    for child in children[node]:
        deepest = max(deepest, depth(child))
    return deepest + 1


print(depth(1))
