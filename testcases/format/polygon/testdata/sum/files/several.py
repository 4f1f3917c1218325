import sys
n, values = int(sys.argv[1]), sys.argv[2].split()
for name in "ab":
    with open(name, "w") as f:
        print(n, file=f)
        print(*([values[0] + ("0" if name == "b" else "")] * n), file=f)
