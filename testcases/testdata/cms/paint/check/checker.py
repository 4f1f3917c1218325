# A line of N letters, no two neighbours equal: everything for two colours, half for three.
import sys

n = int(open(sys.argv[1]).read())
line = open(sys.argv[3], encoding="latin-1").readline().strip()
good = len(line) == n and all(a != b for a, b in zip(line, line[1:]))
print(0 if not good else 1 if len(set(line)) <= 2 else 0.5)
