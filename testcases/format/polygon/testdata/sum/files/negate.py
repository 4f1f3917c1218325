n, *a = input(), *map(int, input().split())
print(n)
print(*(-x for x in a))
