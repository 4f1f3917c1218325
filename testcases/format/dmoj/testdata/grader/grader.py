from dmoj.graders.interactive import InteractiveGrader
from dmoj.result import CheckerResult


class Grader(InteractiveGrader):
    def interact(self, case, interactor):
        """The submission sorts numbers by asking which of two is less."""
        numbers = [int(word) for word in case.input_data().split()]
        interactor.writeln(len(numbers))
        asked = 0
        while True:
            word = interactor.readtoken()
            if word == b"answer":
                break
            asked += 1
            a, b = (interactor.readint(1, len(numbers)) - 1 for _ in range(2))
            interactor.writeln("less" if numbers[a] < numbers[b] else "more")
        order = [interactor.readint(1, len(numbers)) - 1 for _ in numbers]
        if [numbers[i] for i in order] != sorted(numbers):
            return False
        return CheckerResult(True, case.points if asked <= 4 else case.points / 2)
