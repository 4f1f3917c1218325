# A right answer does not mend a bad exit status.
import sys

print(sum(map(int, sys.stdin.read().split())), flush=True)
sys.exit(1)
