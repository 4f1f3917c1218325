a, b = map(int, input().split())
print("RATIO", f"{a / b:.7e}" if b else "undefined")
