import sys

import relay

with open(sys.argv[1]) as i, open(sys.argv[2], "w") as o:
    numbers = map(int, i.readline().split())
    print(relay.encode(*numbers) if sys.argv[3] == "0" else "%d %d" % relay.decode(*numbers), file=o)
