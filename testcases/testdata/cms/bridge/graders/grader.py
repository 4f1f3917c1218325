from bridge import cross

print(cross(*map(int, input().split())))
