for n in input().split(): print(int(n) ** 2)
