"""Makes the data of the bundled problems: python3 generate.py PROBLEMS-FOLDER.

Everything is computed from a generator of its own, so that every Python makes
the same bytes. Answers come from the model solutions below, not from the labelled
submissions.
"""

import math
import os
import sys


class Random:
    """A linear congruential generator; its high bits are good enough here."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def case(problem, name, given, answer):
    for suffix, data in ((".in", given), (".ans", answer)):
        path = os.path.join(sys.argv[1], problem, "data", name + suffix)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())


def aplusb():
    pairs = {"sample/1": (1, 2), "sample/2": (-5, 5), "secret/1-small": (123, 456), "secret/2-int": (2**31 - 1, 1),
             "secret/3-large": (10**18, 10**18), "secret/4-negative": (-(10**18), -1), "secret/5-odd": (2**53, 1)}
    for name, (a, b) in pairs.items():
        case("aplusb", name, f"{a} {b}\n", f"{a + b}\n")
    case("aplusb", "secret/6-lines", "7\n\n  8", "15\n")


def spread():
    rnd = Random(1)
    lists = {"sample/1": [1, 2, 3, 4], "sample/2": [2.5, -2.5], "secret/1-one": [3.25], "secret/2-equal": [7] * 10,
             "secret/3-mixed": [(rnd.below(2 * 10**9) - 10**9) / 1000 for _ in range(200)],
             "secret/4-offset": [10**6 - rnd.below(1000) / 1000 for _ in range(1000)]}
    for name, xs in lists.items():
        mean = math.fsum(xs) / len(xs)
        dev = math.sqrt(math.fsum((x - mean) ** 2 for x in xs) / len(xs))
        text = " ".join(f"{x:.3f}" for x in xs)
        case("spread", name, f"{len(xs)}\n{text}\n", f"{mean:.9f} {dev:.9f}\n")


def ranking():
    rnd = Random(2)
    lists = {"sample/1": [("eve", 5), ("bob", 7), ("ann", 7)], "secret/1-one": [("ann", 0)]}
    for name, count, points in (("secret/2-ties", 40, 4), ("secret/10-many", 300, 500)):
        people = sorted({"".join(chr(97 + rnd.below(26)) for _ in range(2 + rnd.below(6))) for _ in range(count)})
        order = sorted(people, key=lambda p: rnd.below(10**6))
        lists[name] = [(p, rnd.below(points)) for p in order]
    for name, rows in lists.items():
        ranked = sorted(rows, key=lambda r: (-r[1], r[0]))
        lines = [f"{1 + sum(p > points for _, p in rows)}. {who} {points}\n" for who, points in ranked]
        case("ranking", name, "".join(f"{who} {points}\n" for who, points in rows), "".join(lines))


def depth():
    rnd = Random(3)
    chain = list(range(2, 20001))
    for i in range(len(chain) - 1, 0, -1):  # the chain's nodes in any order
        j = rnd.below(i + 1)
        chain[i], chain[j] = chain[j], chain[i]
    shuffled, above = {}, 1
    for node in chain:
        shuffled[node] = above
        above = node
    trees = {"sample/1": {2: 1, 3: 1, 4: 3}, "secret/1-root": {}, "secret/2-backwards": {2: 3, 3: 4, 4: 1},
             "secret/3-star": {i: 1 for i in range(2, 1001)},
             "secret/4-bushy": {i: 1 + rnd.below(i - 1) for i in range(2, 5001)}, "secret/5-chain": shuffled}
    for name, parent in trees.items():
        n = len(parent) + 1
        children = [[] for _ in range(n + 1)]
        for node, above in parent.items():
            children[above].append(node)
        level, deep = [1], 0
        while level:
            deep += 1
            level = [c for node in level for c in children[node]]
        text = " ".join(str(parent[i]) for i in range(2, n + 1))
        case("depth", name, f"{n}\n{text}\n", f"{deep}\n")


def goldbach():
    def prime(n):
        return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))

    for name, n in (("sample/1", 10), ("sample/2", 11), ("secret/1-least", 4), ("secret/2-odd", 9), ("secret/3-none", 27),
                    ("secret/4-large", 999998), ("secret/5-largest", 1000000), ("secret/6-odd-none", 999999)):
        pair = next((f"{p} {n - p}" for p in range(2, n // 2 + 1) if prime(p) and prime(n - p)), "none")
        case("goldbach", name, f"{n}\n", pair + "\n")


def apart():
    for name, n in (("sample/1", 4), ("sample/2", 3), ("secret/1-one", 1), ("secret/2-two", 2), ("secret/3-five", 5),
                    ("secret/4-large", 999), ("secret/5-largest", 1000)):
        order = [*range(2, n + 1, 2), *range(1, n + 1, 2)] if n == 1 or n > 3 else ["none"]
        case("apart", name, f"{n}\n", " ".join(map(str, order)) + "\n")


def echo():
    rnd = Random(4)
    texts = {"sample/1": b"two  words\nand a line\n", "secret/1-no-line-feed": b"no line feed  at the end",
             "secret/2-latin1": "Grüße  aus Köln\n".encode("latin-1"), "secret/3-nul": b"a\0b  c\n\0\n",
             "secret/4-bytes": bytes(rnd.below(256) for _ in range(20000)), "secret/5-empty-lines": b"\n\n  \n"}
    for name, text in texts.items():
        case("echo", name, text, text)


def countdown():
    for name, n in (("sample/1", 3), ("secret/1-one", 1), ("secret/2-some", 1000), ("secret/10-all", 20000)):
        case("countdown", name, f"{n}\n", "".join(f"{i}\n" for i in range(n, 0, -1)))


def ratio():
    for name, a, b in (("sample/1", 1, 3), ("secret/1-even", 6, 3), ("secret/2-small", 1, 999983), ("secret/3-zero", 0, 7),
                       ("secret/4-endless", 5, 0)):
        case("ratio", name, f"{a} {b}\n", f"Ratio {a / b:.9f}\n" if b else "Ratio Undefined\n")


for make in (aplusb, spread, ranking, depth, goldbach, apart, echo, countdown, ratio):
    make()
