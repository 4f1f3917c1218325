for n in range(1, 1001):
    print(n)
    if input() == "yes": break
