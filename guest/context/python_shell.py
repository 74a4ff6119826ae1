# SPDX-License-Identifier: MIT
"""A context's shell where IPython is not installed: values, rich display, tracebacks, `await`, and the magics that
notebooks use most. `part` is defined by the driver (python.py)."""
import __future__
import ast
import builtins
import linecache
import sys
import traceback
import types

rich = part("rich")  # noqa: F821
display = part("display")  # noqa: F821
magics = part("magics")  # noqa: F821

_FUTURES = [getattr(__future__, name) for name in __future__.all_feature_names]


class StdinNotImplementedError(NotImplementedError):
    """A program asks for input, which a context cannot give."""


def _input(prompt="", *_):
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")


def _getpass(prompt="", *_, **_more):
    raise StdinNotImplementedError("getpass was called, but this frontend does not support input requests.")


class _Exit:
    """`exit` and `quit`, as names and as calls."""

    def __init__(self, driver):
        self._driver = driver

    def __repr__(self):
        self._driver.exiting = True
        return ""

    def __call__(self, *_):
        self._driver.exiting = True


class Shell:
    name = "small"
    version = "%d.%d.%d" % sys.version_info[:3]

    def __init__(self, driver):
        self.driver = driver
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        sys.modules["__main__"] = self.module
        self.flags = 0
        self.names.update(In=[""], Out={}, _="", __="", ___="", exit=_Exit(driver), quit=_Exit(driver))
        self.names["_oh"], self.names["_ih"] = self.names["Out"], self.names["In"]
        self.names["__builtins__"] = builtins
        display.publish = self._publish
        display.clear = lambda wait: driver.wire.emit("clear", wait=bool(wait))
        builtins.display = display.display
        builtins.input = _input
        import getpass
        getpass.getpass = _getpass
        display.offer()
        part("inline").install(display.display)  # noqa: F821
        part("pictures").install(display.display)  # noqa: F821
        self.magics = magics.Magics(self)

    # ---- events

    def _publish(self, data, metadata, display_id, update):
        event = {"data": rich.portable(data), "metadata": rich.portable_metadata(metadata)}
        if display_id is not None:
            event["display_id"] = str(display_id)
        if update:
            event["update"] = True
        self.driver.wire.emit("display", **event)

    def _result(self, value):
        """sys.displayhook within a cell."""
        if value is None:
            return
        if isinstance(value, _Exit):
            repr(value)
            return
        builtins._ = value
        names = self.names
        names["___"], names["__"], names["_"] = names.get("__"), names.get("_"), value
        names["_%d" % self.driver.count] = value
        names["Out"][self.driver.count] = value
        if self.quiet:
            return
        data, metadata = display.bundle(value)
        if data:
            self.driver.wire.later("result", count=self.driver.count, data=rich.portable(data),
                                   metadata=rich.portable_metadata(metadata))

    def error(self, kind, value, trace, skip=True):
        text = rich.text_of(value)
        trace = self.driver.wire.lock.without_handler(trace)
        lines = traceback.format_exception(kind, value, _of_the_code(trace) if skip else trace)
        self.driver.wire.emit("error", name=kind.__name__, value=text, traceback="".join(lines).rstrip("\n"))
        return "error"

    # ---- cells

    def run(self, code, silent):
        number = self.driver.count
        name = "Cell In[%d]" % number if not silent else "Cell"
        self.silent = silent
        try:
            source = self.magics.transform(magics.dedent(code))
            if not silent:
                self.names["_i"] = self.names["In"][-1]
                self.names["In"].append(code)
            self.quiet = silent or magics.ends_with_semicolon(source)
            linecache.cache[name] = (len(source), None, [line + "\n" for line in source.splitlines()], name)
            tree = compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.flags, True)
            return self._execute(tree, name, source)
        except magics.UsageError as error:
            self.driver.wire.emit("stderr", text="UsageError: %s\n" % error)
            return "error"
        except BaseException as error:
            return self.error(type(error), error, error.__traceback__)

    def _execute(self, tree, name, source):
        """Executes a cell: all statements but the last, then the last one, whose value is shown if it is an expression."""
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Interactive([tree.body.pop()])
        pieces = [tree] if tree.body else []
        if last is not None:
            pieces.append(last)
        old, sys.displayhook = sys.displayhook, self._result
        try:
            codes = []
            for piece in pieces:
                mode = "single" if isinstance(piece, ast.Interactive) else "exec"
                codes.append(compile(piece, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.flags, True))
            for code in codes:
                for feature in _FUTURES:
                    self.flags |= code.co_flags & feature.compiler_flag
            if self.driver.needs_loop(source):
                self.driver.run_async(self._in_loop(codes))
            else:
                for code in codes:
                    exec(code, self.names)
        finally:
            sys.displayhook = old
        return "ok"

    async def _in_loop(self, codes):
        import inspect
        for code in codes:
            if code.co_flags & inspect.CO_COROUTINE:
                await eval(code, self.names)
            else:
                exec(code, self.names)

    def after(self):
        """Called after each cell: shows open figures."""
        inline = sys.modules.get("fumehood_context_figures")
        if inline is not None:
            try:
                inline.flush()
            except Exception as error:
                self.error(type(error), error, error.__traceback__, False)

    def complete(self, code):
        import rlcompleter
        completer, word = rlcompleter.Completer(self.names), ""
        for character in reversed(code):
            if not (character.isalnum() or character in "_."):
                break
            word = character + word
        matches = []
        while len(matches) < 500:
            match = completer.complete(word, len(matches))
            if match is None:
                break
            matches.append(match)
        return {"matches": matches}


def _of_the_code(trace):
    """The traceback from the first frame of a cell; None if there is none."""
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("Cell"):
        trace = trace.tb_next
    return trace
