# SPDX-License-Identifier: MIT
"""A context's shell where IPython is not installed: values, rich display, tracebacks, `await`, and the magics that
notebooks use most. What most cells do without is loaded when it is first used. `part` is defined by the driver
(python.py)."""
import _ast
import builtins
import os
import sys

modules = part("modules")  # noqa: F821

#: Values that have one form only: what repr() says.
_PLAIN = (int, float, complex, bool, str, bytes)

publish = clear = None  # set by the shell, for the part that displays


class UsageError(Exception):
    """A magic that was not used as it can be."""


class StdinNotImplementedError(NotImplementedError):
    """A program asks for input, which a context cannot give."""


def _input(prompt="", *_):
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")


def _getpass(prompt="", *_, **_more):
    raise StdinNotImplementedError("getpass was called, but this frontend does not support input requests.")


def _display(*values, **more):
    """Shows values, as IPython's function of this name does."""
    real = part("display").display  # noqa: F821
    if builtins.display is _display:
        builtins.display = real
    return real(*values, **more)


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
        self.module = type(sys)("__main__")
        self.names = self.module.__dict__
        sys.modules["__main__"] = self.module
        self.flags = 0
        self.inputs, self.outputs = [""], {}    # whatever the code's own In and Out become
        self.latest = ("", "", "")              # values: _, __, ___
        self.names.update(In=self.inputs, Out=self.outputs, _="", __="", ___="", exit=_Exit(driver), quit=_Exit(driver))
        self.names["_oh"], self.names["_ih"] = self.outputs, self.inputs
        self.names["__builtins__"] = builtins
        self.names["__fumehood_magic__"] = lambda *arguments: self.magics().call(*arguments)
        self.names["get_ipython"] = lambda: self.magics().call("interactive")
        self.folder = os.getcwd()
        self.cells = {}
        self.before_cell = self.after_cell = None   # functions of %autoreload
        self._offer()

    def _offer(self):
        """What the code may use beside Python's own."""
        global publish, clear
        publish = self._publish
        clear = lambda wait: self.driver.wire.emit("clear", wait=bool(wait))
        builtins.display = _display
        builtins.input = _input
        modules.after("getpass", lambda module: setattr(module, "getpass", _getpass))
        modules.after("linecache", lambda module: module.cache.update(self.cells))
        modules.before("IPython", lambda: part("display").offer())  # noqa: F821
        modules.before("fumehood_context_figures", lambda: part("inline").install(_display))  # noqa: F821
        modules.before("PIL.Image", lambda: part("pictures").install(_display))  # noqa: F821

    def magics(self):
        known = part("magics")  # noqa: F821
        if known.magics is None:
            known.magics = known.Magics(self, self.folder)
        return known.magics

    # ---- events

    def _publish(self, data, metadata, display_id, update):
        rich = part("rich")  # noqa: F821
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
        if all(names.get("_" * n, old) is old for n, old in enumerate(self.latest, 1)):     # none is the code's own, such as gettext's
            names.update(_=value, __=self.latest[0], ___=self.latest[1])
        self.latest = (value,) + self.latest[:2]
        names["_%d" % self.driver.count] = value
        self.outputs[self.driver.count] = value
        if self.quiet:
            return
        if type(value) in _PLAIN:
            data, metadata = {"text/plain": repr(value)}, {}
        else:
            data, metadata = part("display").bundle(value)  # noqa: F821
            rich = part("rich")  # noqa: F821
            data, metadata = rich.portable(data), rich.portable_metadata(metadata)
        if data:
            self.driver.wire.later("result", count=self.driver.count, data=data, metadata=metadata)

    def error(self, kind, value, trace, skip=True):
        text = self.driver.text_of(value)
        trace = self.driver.wire.lock.without_handler(trace)
        sys.last_type, sys.last_value, sys.last_traceback = kind, value, trace  # for pdb.pm() and the like
        try:
            import traceback
            lines = traceback.format_exception(kind, value, _of_the_code(trace) if skip else trace)
        except Exception:  # it cannot be imported: no file can be opened any more, say
            lines = [kind.__name__ + ": " + text]
        self.driver.wire.emit("error", name=kind.__name__, value=text, traceback="".join(lines).rstrip("\n"))
        return "error"

    # ---- cells

    def run(self, code, silent):
        number = self.driver.count
        name = "Cell In[%d]" % number if not silent else "Cell"
        self.silent = silent
        try:
            if self.before_cell:
                self.before_cell()
            source = self._python(code)
            if not silent:
                self.names["_i"] = self.inputs[-1] if self.inputs else ""
                self.inputs.append(code)
            self.quiet = silent or _ends_with_semicolon(source)
            self._keep(name, source)
            tree = compile(source, name, "exec", _ast.PyCF_ONLY_AST | _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.flags, True)
            return self._execute(tree, name, source)
        except UsageError as error:
            self.driver.wire.emit("stderr", text="UsageError: %s\n" % error)
            return "error"
        except BaseException as error:
            return self.error(type(error), error, error.__traceback__)

    def _python(self, code):
        """The cell without what is no Python: a common indentation, magics, `!command`."""
        if not code[:1].isspace():
            if "%" not in code and "!" not in code:
                return code
            if not code.startswith("%%"):
                try:  # code that parses as Python contains no magics: `a\n% b`
                    compile(code, "<cell>", "exec", _ast.PyCF_ONLY_AST)
                    return code
                except SyntaxError:
                    pass
        return self.magics().transform(part("magics").dedent(code))  # noqa: F821

    def _keep(self, name, source):
        """Keeps the lines of a cell, for tracebacks."""
        linecache = sys.modules.get("linecache")
        cells = self.cells if linecache is None else linecache.cache
        cells[name] = (len(source), None, [line + "\n" for line in source.splitlines()], name)

    def _execute(self, tree, name, source):
        """Executes a cell: all statements but the last, then the last one, whose value is shown if it is an expression."""
        last = None
        if tree.body and isinstance(tree.body[-1], _ast.Expr):
            last = _ast.Interactive([tree.body.pop()])
        pieces = [tree] if tree.body else []
        if last is not None:
            pieces.append(last)
        old, sys.displayhook = sys.displayhook, self._result
        try:
            codes = []
            for piece in pieces:
                mode = "single" if isinstance(piece, _ast.Interactive) else "exec"
                codes.append(compile(piece, name, mode, _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.flags, True))
            if "__future__" in source:
                self._note_futures(codes)
            if self.driver.needs_loop(source):
                stopped = self.driver.run_async(self._in_loop(codes))
                if stopped:
                    raise stopped
            else:
                for code in codes:
                    exec(code, self.names)
        finally:
            sys.displayhook = old
        return "ok"

    def _note_futures(self, codes):
        """`from __future__ import …` holds in the cells that follow, too."""
        import __future__
        for name in __future__.all_feature_names:
            for code in codes:
                self.flags |= code.co_flags & getattr(__future__, name).compiler_flag

    async def _in_loop(self, codes):
        """Executes them. A StopIteration is given back: raised, it would be Python's error of a coroutine."""
        import inspect
        for code in codes:
            if code.co_flags & inspect.CO_COROUTINE:
                await eval(code, self.names)
                continue
            try:
                exec(code, self.names)
            except StopIteration as stopped:
                return stopped

    def after(self):
        """Called after each cell: shows open figures."""
        if self.after_cell:
            self.after_cell()
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


def _ends_with_semicolon(source):
    """Whether the cell's last statement ends with ";", which hides its value."""
    if ";" not in source[-200:] or not (source.rstrip().endswith(";") or "#" in source):
        return False
    import io
    import tokenize
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline)
                  if token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return False
    return bool(tokens) and tokens[-1].string == ";"


def _of_the_code(trace):
    """The traceback from the first frame of a cell; None if there is none."""
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("Cell"):
        trace = trace.tb_next
    return trace
