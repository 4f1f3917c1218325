# Called as an interactor of testlib: INPUT NOTES ANSWER.
import sys
number = int(open(sys.argv[1]).read())
notes = open(sys.argv[2], "w")
for asked in range(12):
    words = sys.stdin.readline().split()
    if not words:
        sys.exit(2)
    if words[0] == "!":
        print("found", words[1], "bye" if "bye" in words else "", file=notes)
        sys.exit(0 if int(words[1]) == number else 1)
    print("<" if number < int(words[1]) else ">=", flush=True)
sys.exit(1)
