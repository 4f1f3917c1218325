for n in input().split(): print(int(n) ** 2 if n != "3" else 0)
