class InternalError(Exception):
    """The problem is at fault."""


class CompileError(Exception):
    pass


class OutputLimitExceeded(Exception):
    pass
