# @check-accepted: subtask0
# @check-wrong-answer: subtask1
def encode(a, b):
    return a * 100 + b


def decode(code):
    return code // 100 % 100, code % 100
