import sys

n, *parents = map(int, sys.stdin.read().split())
children = [[] for _ in range(n + 1)]
for node, parent in enumerate(parents, 2):
    children[parent].append(node)
level, depth = [1], 0
while level:
    depth += 1
    level = [child for node in level for child in children[node]]
print(depth)
