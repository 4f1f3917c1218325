while True:
    print("1" * 1000)
