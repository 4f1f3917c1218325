low, high = 1, 1001
while high - low > 1:
    middle = (low + high) // 2
    print("?", middle, flush=True)
    if input() == "<":
        high = middle
    else:
        low = middle
print("!", low, flush=True)
