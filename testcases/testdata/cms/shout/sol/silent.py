# @check-zero: subtask*
def shout(line):
    return ""
