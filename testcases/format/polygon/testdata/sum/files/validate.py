import sys
n, *a = sys.stdin.read().split()
sys.exit(0 if len(a) == int(n) else 3)
