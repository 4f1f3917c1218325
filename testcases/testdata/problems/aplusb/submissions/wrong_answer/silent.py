# Reads everything and prints nothing.
import sys

sys.stdin.read()
