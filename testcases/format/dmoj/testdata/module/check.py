from dmoj.result import CheckerResult
from dmoj.utils.unicode import utf8text


def check(process_output, judge_output, most, judge_input, point_value, **kwargs):
    """Any factorisation will do; one with more factors gives more points."""
    number = int(judge_input)
    factors = [int(word) for word in utf8text(process_output).split()]
    product = 1
    for factor in factors:
        if not 1 < factor <= most:
            return CheckerResult(False, 0, "no factor: %d" % factor)
        product *= factor
    if product != number:
        return False
    return CheckerResult(True, point_value * len(factors) / 3)
