print(int(input()) - 9)
