open("copies.out", "w").write(open("words.txt").read())
