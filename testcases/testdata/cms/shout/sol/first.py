# @check-partial-score: subtask0
def shout(line):
    return line[0].upper() + line[1:]
