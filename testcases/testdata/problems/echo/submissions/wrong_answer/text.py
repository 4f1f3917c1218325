# Replaces what is not UTF-8.
import sys

sys.stdout.write(sys.stdin.buffer.read().decode("utf-8", "replace"))
