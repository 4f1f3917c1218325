import shout

with open("input.txt") as i, open("output.txt", "w") as o:
    o.write(shout.shout(i.readline()))
