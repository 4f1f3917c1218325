low, high = 1, 512
while low < high:
    mid = (low + high) // 2
    print("ask", mid, flush=True)
    if input() == "more": low = mid + 1
    else: high = mid
print("is", low, flush=True)
