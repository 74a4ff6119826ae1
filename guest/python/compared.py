# SPDX-License-Identifier: MIT
# The test of a `code` assertion whose calls are compared with literals: src/eval/assertions/code/code_comparison.c puts this text in
# front of a call of compared. `candidate` is the stand-in for the answer's function, so that each call is made in the program's
# sandbox, and each comparison here. (StopIteration is passed on unchanged.)
def compared(name, candidate, cases):
    for expression, wanted in cases:
        got = eval(expression, {name: candidate})
        if got is not wanted:
            raise AssertionError("call %.200s: expected %s, got %.200r" % (expression, wanted, got))


