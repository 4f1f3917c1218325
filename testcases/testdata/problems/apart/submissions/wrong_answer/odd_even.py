# Odd numbers first: for n = 4 that is 1 3 2 4.
n = int(input())
print(*range(1, n + 1, 2), *range(2, n + 1, 2))
