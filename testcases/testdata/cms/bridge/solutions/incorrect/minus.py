def cross(a, b):
    return a - b
