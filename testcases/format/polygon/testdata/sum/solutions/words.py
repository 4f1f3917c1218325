input(); print("sum:", sum(map(int, input().split())))
