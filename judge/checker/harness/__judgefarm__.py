"""Calls a DMOJ checker or interactor and writes down what it rules.

python3 __judgefarm__.py check|interact INPUT ANSWER OUTPUT ARGS CASE

ARGS and CASE are JSON objects: the checker's own arguments, and what is known of the
case. facts.json in the work directory is what is known of the submission. The ruling
goes to ruling.json; whatever else happens ends with a status that is not 0.
"""

import base64
import importlib.util
import json
import math
import os
import sys

from dmoj.result import CheckerResult, Result

MODULE = "problem_module.py"
MOST_FEEDBACK = 4096  # characters, which the file of the ruling has room for; less is shown


class Case:
    """What DMOJ's TestCase shows of itself."""

    def __init__(self, known, files):
        self.position = known.get("case_position", 0)
        self.batch = known.get("batch", 0)
        self.points = known.get("point_value", 1)
        self.has_binary_data = known.get("binary_data", False)
        self._files = files

    def input_data(self):
        return self._files.input

    def output_data(self):
        return self._files.answer


class Files:
    def __init__(self, input, answer, output):
        self._names = {"input": input, "answer": answer, "output": output}

    def __getattr__(self, name):
        with open(self._names[name], "rb") as f:
            data = f.read()
        setattr(self, name, data)
        return data


class Problem:
    def __init__(self, facts):
        self.id = facts["problem"]


def load():
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location("problem_module", os.path.join(here, MODULE))
    module = importlib.util.module_from_spec(spec)
    sys.modules["problem_module"] = module
    spec.loader.exec_module(module)
    return module


def check(files, args, case, facts):
    source = base64.b64decode(facts["source"])
    result = Result(case, facts, files.output)
    known = dict(
        submission_source=source,
        judge_input=files.input,
        point_value=case.points,
        case_position=case.position,
        batch=case.batch,
        submission_language=facts["language"],
        binary_data=case.has_binary_data,
        execution_time=result.execution_time,
        problem_id=facts["problem"],
        case=case,
        result=result,
    )
    try:
        return load().check(files.output, files.answer, **{**args, **known})
    except UnicodeDecodeError:
        return CheckerResult(False, 0, feedback="invalid unicode")


def interact(files, case, facts):
    from dmoj.graders.interactive import InteractiveGrader, Interactor, WrongAnswer

    grader = load().Grader
    if not issubclass(grader, InteractiveGrader) or grader.grade is not InteractiveGrader.grade:
        raise TypeError("Grader must be an InteractiveGrader that defines interact and nothing else")
    grader = grader(None, Problem(facts), facts["language"], base64.b64decode(facts["source"]))
    try:
        return grader.interact(case, Interactor(sys.stdin.buffer, REAL_OUTPUT))
    except WrongAnswer as wrong:
        return CheckerResult(False, 0, feedback=str(wrong))
    except (OSError, UnicodeDecodeError):
        return False


def ruling(said, case):
    """The ruling as plain data. Points are left out where they are all or nothing."""
    if not isinstance(said, CheckerResult):
        return {"passed": bool(said)}
    points = said.points
    if not math.isfinite(points):
        raise ValueError("points must be a finite number, are %r" % points)
    whole = points == (case.points if said.passed else 0)
    return {
        "passed": said.passed,
        "points": None if whole else repr(points),
        "feedback": "\n".join(filter(None, [said.feedback, said.extended_feedback]))[:MOST_FEEDBACK],
    }


def main():
    what, *names, args, case = sys.argv[1:]
    with open("facts.json", encoding="utf-8") as f:
        facts = json.load(f)
    files = Files(*names)
    case = Case(json.loads(case), files)
    said = interact(files, case, facts) if what == "interact" else check(files, json.loads(args), case, facts)
    with open("ruling.json", "w", encoding="utf-8") as f:
        json.dump(ruling(said, case), f)
    REAL_OUTPUT.close()


# What a module prints is no part of any dialogue.
REAL_OUTPUT = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

if __name__ == "__main__":
    main()
