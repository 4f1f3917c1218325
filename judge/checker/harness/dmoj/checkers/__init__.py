"""The checkers that DMOJ has by name, each a module with check()."""

import re
import sys
import types
from collections import Counter

from dmoj.error import InternalError
from dmoj.result import CheckerResult
from dmoj.utils.unicode import utf8bytes

CheckerOutput = object


def _lines(data):
    return [line for line in re.split(rb"[\r\n]", utf8bytes(data)) if line]


def _standard(process_output, judge_output, **kwargs):
    def words(data):
        return [line.split() for line in _lines(data) if line.split()]

    return words(process_output) == words(judge_output)


def _easy(process_output, judge_output, **kwargs):
    def letters(data):
        return Counter(b"".join(utf8bytes(data).split()).lower())

    return letters(process_output) == letters(judge_output)


def _near(got, want, epsilon, mode):
    if mode == "absolute":
        return abs(got - want) <= epsilon
    if mode == "relative":
        ends = want * (1 - epsilon), want * (1 + epsilon)
        return min(ends) <= got <= max(ends)
    return abs(got - want) <= epsilon or (abs(want) >= epsilon and abs(1.0 - got / want) <= epsilon)


def _number(word):
    try:
        return float(word)
    except ValueError:
        return None


def _floats(process_output, judge_output, precision=6, error_mode="default", **kwargs):
    if error_mode not in ("default", "absolute", "relative"):
        raise InternalError("error_mode is not known: %r" % (error_mode,))
    epsilon = 10 ** -int(precision)
    outputs, answers = _lines(process_output), _lines(judge_output)
    if len(outputs) != len(answers):
        return False
    for output, answer in zip(outputs, answers):
        got, want = output.split(), answer.split()
        if len(got) != len(want):
            return False
        for a, b in zip(got, want):
            number = _number(b)
            if number is None:
                if a != b:
                    return False
            elif _number(a) is None or not _near(_number(a), number, epsilon, error_mode):
                return False
    return True


def _floatsabs(process_output, judge_output, **kwargs):
    return _floats(process_output, judge_output, **{**kwargs, "error_mode": "absolute"})


def _floatsrel(process_output, judge_output, **kwargs):
    return _floats(process_output, judge_output, **{**kwargs, "error_mode": "relative"})


def _identical(process_output, judge_output, pe_allowed=True, **kwargs):
    if process_output == judge_output:
        return True
    layout = pe_allowed and _standard(process_output, judge_output)
    return CheckerResult(False, 0, feedback="Presentation Error, check your whitespace" if layout else None)


def _linecount(process_output, judge_output, point_value, feedback=True, **kwargs):
    outputs, answers = _lines(process_output), _lines(judge_output)
    if len(outputs) > len(answers):
        return False
    if not answers:
        return True
    right = [i < len(outputs) and outputs[i].strip() == line.strip() for i, line in enumerate(answers)]
    marks = "".join("✓" if ok else "✗" for ok in right)
    return CheckerResult(
        all(right),
        point_value * sum(right) / len(answers),
        extended_feedback="Case Feedback:\n" + marks if feedback else "",
    )


_linecount.run_on_error = True


def _linematches(process_output, judge_output, point_value=1, point_distribution=[1], filler_lines_required=True, **kwargs):
    outputs, answers = _lines(process_output), _lines(judge_output)
    if len(answers) != len(point_distribution) or not sum(point_distribution):
        raise InternalError("point_distribution must fit the answer's lines")
    if filler_lines_required and len(outputs) != len(answers):
        return False
    got = sum(worth for a, b, worth in zip(outputs, answers, point_distribution) if a == b)
    return CheckerResult(got > 0, point_value * (got / sum(point_distribution)))


def _rstripped(process_output, judge_output, filter_new_line=False, **kwargs):
    def lines(data):
        split = _lines(data) if filter_new_line else re.split(rb"[\r\n]", utf8bytes(data))
        return [line.rstrip() for line in split]

    return lines(process_output) == lines(judge_output)


def _sorted(process_output, judge_output, split_on="lines", **kwargs):
    if split_on not in ("lines", "whitespace"):
        raise InternalError("split_on is not known: %r" % (split_on,))

    def parts(data):
        if split_on == "whitespace":
            return sorted(utf8bytes(data).split())
        return sorted(line.split() for line in _lines(data))

    return parts(process_output) == parts(judge_output)


def _unordered(process_output, judge_output, **kwargs):
    return _sorted(process_output, judge_output, split_on="whitespace")


def _module(name, check):
    module = types.ModuleType(__name__ + "." + name)
    module.check = check
    sys.modules[module.__name__] = module
    return module


standard = _module("standard", _standard)
easy = _module("easy", _easy)
floats = _module("floats", _floats)
floatsabs = _module("floatsabs", _floatsabs)
floatsrel = _module("floatsrel", _floatsrel)
identical = _module("identical", _identical)
linecount = _module("linecount", _linecount)
linematches = _module("linematches", _linematches)
rstripped = _module("rstripped", _rstripped)
unordered = _module("unordered", _unordered)
sorted_module = _module("sorted", _sorted)


def __getattr__(name):  # the name is Python's own within this file
    if name == "sorted":
        return sorted_module
    raise AttributeError(name)
