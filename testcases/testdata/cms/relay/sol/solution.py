def encode(a, b):
    return a * 1000000 + b


def decode(code):
    return divmod(code, 1000000)
