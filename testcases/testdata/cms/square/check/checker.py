# Whole squares; an output of a case without programs must end in a full stop, what a program printed must not.
import sys

want, got, kind = open(sys.argv[2]).read().strip(), open(sys.argv[3], encoding="latin-1").read().strip(), sys.argv[4]
print(1.0 if got == want + ("." if kind == "outputonly" else "") else 0.0)
