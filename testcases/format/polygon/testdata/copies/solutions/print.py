print("a a a")
