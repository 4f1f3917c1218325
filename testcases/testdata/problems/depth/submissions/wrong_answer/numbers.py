# Believes that a parent's number is always less than its child's.
import sys

n, *parents = map(int, sys.stdin.read().split())
depth = [0, 1] + [0] * (n - 1)
for node, parent in enumerate(parents, 2):
    depth[node] = depth[parent] + 1
print(max(depth))
