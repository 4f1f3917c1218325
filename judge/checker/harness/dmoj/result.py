class CheckerResult:
    """What a checker says: passed or not, with how many points."""

    def __init__(self, passed, points, feedback=None, extended_feedback=None):
        if not isinstance(passed, bool):
            raise TypeError("passed must be a bool, is %r" % (passed,))
        if not isinstance(points, (int, float)):
            raise TypeError("points must be a number, is %r" % (points,))
        for text in (feedback, extended_feedback):
            if text is not None and not isinstance(text, str):
                raise TypeError("feedback must be a str, is %r" % (text,))
        self.passed = passed
        self.points = points
        self.feedback = feedback
        self.extended_feedback = extended_feedback


class Result:
    """How a run ended before the checker was asked."""

    AC = 0
    WA = 1 << 0
    RTE = 1 << 1
    TLE = 1 << 2
    MLE = 1 << 3
    IR = 1 << 4
    SC = 1 << 5
    OLE = 1 << 6
    IE = 1 << 30

    _FLAGS = {"TLE": TLE, "WTL": TLE, "ILE": TLE, "MLE": MLE, "OLE": OLE, "RTE": RTE, "SV": RTE}

    def __init__(self, case, facts=None, proc_output=b""):
        facts = facts or {}
        self.case = case
        self.result_flag = self._FLAGS.get(facts.get("verdict", ""), 0)
        self.execution_time = facts.get("cpu", 0.0)
        self.wall_clock_time = facts.get("wall", 0.0)
        self.max_memory = facts.get("memory", 0)
        self.context_switches = (0, 0)
        self.runtime_version = ""
        self.proc_output = proc_output
        self.feedback = ""
        self.extended_feedback = ""
        self.points = 0

    def readable_codes(self):
        order = ("IE", "TLE", "MLE", "OLE", "RTE", "IR", "WA", "SC")
        return [name for name in order if self.result_flag & getattr(self, name)] or ["AC"]

    @property
    def total_points(self):
        return self.case.points

    @property
    def output(self):
        return self.proc_output.decode("utf-8", "replace")
