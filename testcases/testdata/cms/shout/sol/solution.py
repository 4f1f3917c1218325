def shout(line):
    return line.upper()
