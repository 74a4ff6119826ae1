# SPDX-License-Identifier: MIT
# Ends the loop of the test by a class of its own below StopIteration, which has the name of a built-in one.
# class: exits
# task: turned
    raise type("ValueError", (StopIteration,), {"__module__": "builtins"})("the end")
