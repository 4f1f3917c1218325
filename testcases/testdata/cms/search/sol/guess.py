print("is", 8, flush=True)
