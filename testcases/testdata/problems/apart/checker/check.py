# check INPUT ANSWER FEEDBACK/ --distance=D < OUTPUT: exit status 42 accepts, 43 refuses.
import sys


def refuse(why):
    with open(sys.argv[3] + "teammessage.txt", "w") as f:
        print(why, file=f)
    sys.exit(43)


n = int(open(sys.argv[1]).read())
expected = open(sys.argv[2]).read().split()
distance = int(sys.argv[4].removeprefix("--distance="))
words = sys.stdin.buffer.read(1 << 20).split()
if expected == ["none"]:
    if words != [b"none"]:
        refuse("there is no such order")
    sys.exit(42)
if len(words) != n or not all(w.isdigit() and len(w) < 8 for w in words):
    refuse("not n numbers")
order = list(map(int, words))
if sorted(order) != list(range(1, n + 1)):
    refuse("not the numbers 1 to n, each once")
for i in range(1, n):
    if abs(order[i] - order[i - 1]) < distance:
        refuse(f"neighbours {i} and {i + 1} are too near")
sys.exit(42)
