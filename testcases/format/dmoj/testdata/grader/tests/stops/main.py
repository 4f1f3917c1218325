input()
print("ask 1", flush=True)
