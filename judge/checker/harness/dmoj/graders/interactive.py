"""The dialogue with a submission, whose streams are this program's."""

from dmoj.utils.unicode import utf8bytes, utf8text

MAX_NUMBER_DIGITS = 10000


class WrongAnswer(BaseException):
    """What the submission said is wrong: raised by reads, or by the problem itself."""


class Interactor:
    def __init__(self, source, sink):
        self._source = source
        self._sink = sink
        self._rest = None  # of the line that tokens are taken from

    def read(self):
        return self._some(self._source.read())

    def readln(self, strip_newline=True):
        line = self._some(self._source.readline())
        return line.rstrip() if strip_newline else line

    def readtoken(self, delim=None):
        if not self._rest:
            self._rest = self.readln()
        parts = self._rest.split(delim, 1)
        if len(parts) == 2:
            token, self._rest = parts
        else:
            token, self._rest = self._rest, None
        return token

    def readint(self, lo=float("-inf"), hi=float("inf"), delim=None):
        return self._number(int, "int", "integer", "[%.0f, %.0f], got %d", lo, hi, delim)

    def readfloat(self, lo=float("-inf"), hi=float("inf"), delim=None):
        return self._number(float, "float", "float", "[%.2f, %.2f], got %.2f", lo, hi, delim)

    def write(self, val):
        self._sink.write(utf8bytes(str(val)))
        self._sink.flush()

    def writeln(self, val):
        self.write(str(val) + "\n")

    def close(self):
        self._sink.close()

    def _some(self, data):
        if not data:
            raise IOError("the submission has closed its output")
        return data

    def _number(self, parse, kind, name, bounds, lo, hi, delim):
        token = self.readtoken(delim)
        if len(token) > MAX_NUMBER_DIGITS:
            raise WrongAnswer("%s is too long" % name)
        try:
            value = parse(token)
        except ValueError:
            text = utf8text(token, "replace")
            raise WrongAnswer('expected %s, got "%s"' % (kind, text[:5] + "..." if len(text) > 5 else text))
        if not lo <= value <= hi:
            raise WrongAnswer(("expected %s in range " % kind) + bounds % (lo, hi, value))
        return value


class InteractiveGrader:
    """A problem's Grader derives from this and defines interact(case, interactor)."""

    def __init__(self, judge, problem, language, source):
        self.judge = judge
        self.problem = problem
        self.language = language
        self.source = source

    def grade(self, case):
        raise NotImplementedError("the judge calls interact")

    def interact(self, case, interactor):
        raise NotImplementedError("interact must be defined")
