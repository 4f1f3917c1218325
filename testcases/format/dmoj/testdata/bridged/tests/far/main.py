print(int(input()) + 11)
