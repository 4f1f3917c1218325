n = 2
while True:
    print("?", n, flush=True)
    line = input()
    if line == "<":
        break
    n += 1
print("!", n - 1, "bye", flush=True)
