n = int(input())
order = list(range(2, n + 1, 2)) + list(range(1, n + 1, 2))
print(*(order if n == 1 or n > 3 else ["none"]))
