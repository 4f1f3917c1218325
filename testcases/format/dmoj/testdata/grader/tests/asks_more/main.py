import functools


def less(a, b):
    print("ask", a, b, flush=True)
    return -1 if input() == "less" else 1


n = int(input())
for _ in range(4): less(1, 2)
print("answer", *sorted(range(1, n + 1), key=functools.cmp_to_key(less)), flush=True)
