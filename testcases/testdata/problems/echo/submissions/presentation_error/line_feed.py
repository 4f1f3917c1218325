# A line feed too many at the end.
import sys

sys.stdout.buffer.write(sys.stdin.buffer.read() + b"\n")
