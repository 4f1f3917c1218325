n = int(input()); print(sum(map(int, input().split())) if n < 3 else 1 // 0)
