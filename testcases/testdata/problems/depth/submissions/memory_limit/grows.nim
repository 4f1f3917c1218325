var kept: seq[seq[int]]
while true:
  kept.add(newSeq[int](100000))
