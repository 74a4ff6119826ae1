# SPDX-License-Identifier: MIT
# The test of a `code` assertion whose expressions are judged apart from the program: src/eval/assertions/code/code_apart.c puts
# test_cases.py and this text in front of a call of compared. `candidate` is the stand-in for the answer's function, so that each call
# is made in the program's sandbox, and each expression evaluated here. Values compare as those of cases do.
import builtins


def compared(name, candidate, cases, tolerance):
    kind = type
    errors = {error.__name__: error for error in vars(builtins).values() if kind(error) is kind and issubclass(error, BaseException)}

    def outcome(expression, arguments, keywords):
        try:
            if expression is None:
                return None, candidate(*arguments, **(keywords or {}))
            return None, eval(expression, {name: candidate})
        except Exception as error:
            return error, None

    def name_of(error):
        """The name of an error's class. What arrives as another class has its own name in raised_as: a class of the program's, or one
        that would end a loop here (split_judge.py). A built-in's name is worth nothing without the class."""
        its = kind(error)
        name = getattr(error, "raised_as", its.__name__)
        return name if errors.get(name, its) is its or name[:4] == "Stop" else name + " (not Python's own)"

    def shown(expression, arguments):
        return expression if expression is not None else "%s(%s)" % (name, ", ".join(map(repr, arguments)))

    for expression, arguments, keywords, wanted, wanted_error in cases:
        error, got = outcome(expression, arguments, keywords)
        call = shown(expression, arguments)
        raised = None if error is None else name_of(error)
        if wanted_error is not None:
            if raised != wanted_error:
                raise AssertionError("call %.200s: expected %s, %s" % (call, wanted_error,
                                     "got %.200r" % (got,) if error is None else "raised %s: %.200s" % (raised, error)))
        elif error is not None:
            raise AssertionError("call %.200s: raised %s: %.200s" % (call, raised, error))
        else:
            try:
                check_cases(lambda: got, (((), {}, wanted),), tolerance)
            except AssertionError:
                raise AssertionError("call %.200s: expected %.200r, got %.200r" % (call, wanted, got)) from None


