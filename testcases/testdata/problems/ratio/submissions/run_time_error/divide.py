a, b = map(int, input().split())
print("Ratio", a / b)
