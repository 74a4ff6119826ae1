# SPDX-License-Identifier: MIT
"""Reads cells as IPython does, if that is not installed: common indentation, `!command`, and the magics used most."""
import ast
import functools
import os
import re
import shlex
import subprocess
import sys
import textwrap
import time

_LINE = re.compile(r"^(\s*)(?:([A-Za-z_][\w.]*(?:\s*,\s*[A-Za-z_]\w*)*)\s*=\s*)?([!%])(?!=)(.*)$")
_OURS = {"In", "Out", "exit", "quit", "get_ipython"}
_HELP = "IPython has it: install ipython in the sandbox to use it here"


UsageError = part("shell").UsageError  # noqa: F821  defined by the driver (python.py)
magics = None  # those of the shell, once it has used some


def dedent(code):
    """Removes the indentation of a cell that is indented as a whole."""
    lines = code.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first[:1] not in (" ", "\t"):
        return code
    return textwrap.dedent(code)


class Magics:
    def __init__(self, shell, folder):
        self.shell = shell
        self.lines = {"cd": self.cd, "pwd": self.pwd, "env": self.env, "set_env": self.env, "pip": self.pip,
                      "matplotlib": self.nothing, "config": self.nothing, "time": self.time, "timeit": self.timeit,
                      "who": self.who, "who_ls": self.who_ls, "whos": self.whos, "lsmagic": self.lsmagic, "sx": self.sx,
                      "system": self.sx, "reset": self.reset, "load_ext": self.load_ext, "autoreload": self.autoreload}
        self.cells = {"bash": self.cell_shell, "sh": self.cell_shell, "time": self.cell_time, "timeit": self.cell_timeit,
                      "writefile": self.writefile, "file": self.writefile, "capture": self.capture, "script": self.script,
                      "js": functools.partial(self._shown, "Javascript")}
        for name in ("sx", "system", "!"):
            self.cells[name] = lambda _argument, body: self.sx(body)
        for name in ("perl", "python", "python3", "ruby"):
            command = sys.executable if name.startswith("python") else name
            self.cells[name] = functools.partial(self._interpreted, [command])
        for name in ("HTML", "Markdown", "Latex", "Javascript", "SVG"):
            self.cells[name.lower()] = functools.partial(self._shown, name)
        for name in ("cat", "cp", "ls", "mkdir", "mv", "rm", "rmdir"):
            self.lines[name] = functools.partial(self._command, name)
        self.last = folder
        self.local = shell.names    # the names where the magic stands: those of a function, or the cell's

    # ---- reading

    def transform(self, code):
        if "%" not in code and "!" not in code:
            return code
        if code.lstrip().startswith("%%"):
            head, _, body = code.lstrip().partition("\n")
            name, _, rest = head[2:].partition(" ")
            body += "\n" if body and not body.endswith("\n") else ""
            return "__fumehood_magic__('cell', %r, %r, %r)\n" % (name, rest.strip(), body)
        try:  # code that parses as Python contains no magics: `a\n% b`
            ast.parse(code)
            return code
        except SyntaxError:
            pass
        inside = _continued(code)
        return "\n".join(line if number in inside else self._line(line)
                         for number, line in enumerate(code.split("\n"))) + "\n"

    @staticmethod
    def _line(line):
        match = _LINE.match(line)
        if not match:
            return line
        indent, target, sign, rest = match.groups()
        if sign == "!":
            call = "__fumehood_magic__(%r, %r)" % ("capture" if target or rest.startswith("!") else "shell", rest.lstrip("!"))
        else:
            name, _, argument = rest.partition(" ")
            call = "__fumehood_magic__('line', %r, %r)" % (name, argument.strip())
        return indent + (target + " = " if target else "") + call

    def call(self, kind, *arguments):
        if kind == "interactive":
            return Interactive(self)
        return self.run(sys._getframe(2).f_locals, kind, *arguments)

    def run(self, local, kind, *arguments):
        self.local = local
        if kind == "shell":
            return self.system(self._expand(arguments[0]))
        if kind == "capture":
            return self.sx(arguments[0])
        table = self.lines if kind == "line" else self.cells
        name = arguments[0]
        if name not in table:
            raise UsageError("%s `%s%s` not found.\n%s" % (
                "Line magic function" if kind == "line" else "Cell magic", "%" if kind == "line" else "%%", name, _HELP))
        return table[name](*arguments[1:])

    def _expand(self, command):
        """Replaces `{expression}` and `$name` by values of the variables; `$$name` is the shell's own `$name`."""
        names, local = self.shell.names, self.local

        def value(match):
            if match.group(3):
                return match.group(3)
            expression = match.group(1) or match.group(2)
            try:
                return str(eval(expression, names, local))
            except SyntaxError:
                return _formatted(match.group(0), names, local)
            except Exception:
                return match.group(0)

        return re.sub(r"(?<!\$)\{([^{}]+)\}|(?<!\$)\$([A-Za-z_]\w*)|\$(\$[A-Za-z_]\w*)", value, command)

    def system(self, command):
        sys.stdout.flush()
        status = subprocess.call(command, shell=True, executable="/bin/bash" if os.path.exists("/bin/bash") else None)
        self.shell.names["_exit_code"] = status

    # ---- lines

    def nothing(self, _argument):
        """For magics that would configure a terminal or a notebook's page."""

    def cd(self, argument):
        quiet = re.match(r"-q(\s+|$)", argument)
        argument = argument[quiet.end():] if quiet else argument
        target = os.path.expanduser(argument.strip("'\"") or "~")
        if target == "-":
            target = self.last
        here = os.getcwd()
        try:
            os.chdir(target)
        except OSError as error:
            print(error)
        else:
            self.last = here
        if not quiet:
            print(os.getcwd())

    def pwd(self, _argument):
        return os.getcwd()

    def env(self, argument):
        if not argument:
            return dict(os.environ)
        name, sign, value = argument.partition("=" if "=" in argument else " ")
        if not sign:
            if name not in os.environ:
                raise UsageError("Environment does not have key: " + name)
            return os.environ[name]
        value = self._expand(value.strip())
        os.environ[name.strip()] = value
        print("env: %s=%s" % (name.strip(), value))

    def pip(self, argument):
        self.system("%s -m pip %s" % (shlex.quote(sys.executable), argument))
        print("Note: you may need to restart the kernel to use updated packages.")

    def time(self, argument):
        return self._timed(argument)

    def timeit(self, argument):
        return self.cell_timeit(argument, "")

    def _command(self, name, argument):
        self.system(self._expand(name + " " + argument))

    def sx(self, argument):
        done = subprocess.run(self._expand(argument), shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        return Lines(done.stdout.splitlines())

    def lsmagic(self, _argument):
        print("Available line magics:\n%s\n\nAvailable cell magics:\n%s" % (
            "  ".join("%" + name for name in sorted(self.lines)), "  ".join("%%" + name for name in sorted(self.cells))))

    def who_ls(self, argument):
        """The names of variables, or of those whose types are named."""
        kinds = argument.split()
        return sorted(name for name, value in self.shell.names.items() if not name.startswith("_") and name not in _OURS
                      and (not kinds or type(value).__name__ in kinds))

    def who(self, argument):
        names = self.who_ls(argument)
        if names:
            print(*names, sep="\t ", end="\t \n")
        else:
            print("No variables match your requested type." if argument else "Interactive namespace is empty.")

    def whos(self, argument):
        rows = [("Variable", "Type", "Data/Info")]
        for name in self.who_ls(argument):
            value = self.shell.names[name]
            rows.append((name, type(value).__name__, str(value).replace("\n", " ")[:45]))
        if len(rows) == 1:
            self.who(argument)
            return
        first, second = (max(len(row[at]) for row in rows) + 3 + at for at in (0, 1))
        lines = [row[0].ljust(first) + row[1].ljust(second) + row[2] for row in rows]
        print(lines[0], "-" * len(lines[0]), *lines[1:], sep="\n")

    def reset(self, argument):
        """`in` and `out`: what the history keeps. Without them: all variables."""
        words = [word for word in argument.split() if word not in ("-f", "-s")]
        for word in words:
            if word not in ("in", "out"):
                raise UsageError("%reset knows -f, -s, in and out here, not " + word + ".\n" + _HELP)
        if "out" in words:
            print("Flushing output cache (%d entries)" % len(self.shell.outputs))
            self.shell.outputs.clear()
        if "in" in words:
            print("Flushing input history")
            self.shell.inputs[:] = [""] * len(self.shell.inputs)
        if words:
            return
        for name in [name for name in self.shell.names if not name.startswith("_") and name not in _OURS]:
            del self.shell.names[name]

    def load_ext(self, argument):
        if argument != "autoreload":
            raise UsageError("The extension `%s` is one of IPython's.\n%s" % (argument, _HELP))

    def autoreload(self, argument):
        """`2` or `all`: modules whose files were changed are loaded again before each cell; nothing: now."""
        reloading = part("autoreload")  # noqa: F821
        if argument in ("0", "off", "1", "explicit"):   # `1`: those that %aimport names, which there is not
            self.shell.before_cell = self.shell.after_cell = None
        elif argument in ("2", "all", "3", "complete"):
            reloading.note()
            self.shell.before_cell, self.shell.after_cell = reloading.reload, reloading.note
        elif argument in ("", "now"):
            reloading.reload()
        else:
            raise UsageError("%autoreload knows 0 (off), 2 (all) and now.")

    # ---- cells

    def cell_shell(self, argument, body):
        self._interpreted(["bash" if os.path.exists("/bin/bash") else "sh"], argument, body)

    def script(self, argument, body):
        self._interpreted([], argument, body)

    def _interpreted(self, command, argument, body):
        """The cell as the input of a command. `--out NAME` and `--err NAME` keep what it prints."""
        words, kept, fails = shlex.split(argument), {}, True
        while words and words[0].startswith("--"):
            option = words.pop(0)
            if option in ("--out", "--err") and words:
                kept[option] = words.pop(0)
            fails = fails and option != "--no-raise-error"
        sys.stdout.flush()
        try:
            done = subprocess.run(command + words, input=body.encode(), stdout=subprocess.PIPE if "--out" in kept else None,
                                  stderr=subprocess.PIPE if "--err" in kept else None)
        except FileNotFoundError:
            print("Couldn't find program: %r" % (command + words)[0])
            return
        except IndexError:
            raise UsageError("%%script needs a program: %%script sh") from None
        for option, text in (("--out", done.stdout), ("--err", done.stderr)):
            if option in kept:
                self.shell.names[kept[option]] = text.decode("utf-8", "replace")
        if done.returncode and fails:
            raise subprocess.CalledProcessError(done.returncode, body.encode())

    @staticmethod
    def _shown(kind, _argument, body):
        display = part("display")  # noqa: F821
        display.display(getattr(display, kind)(body))

    def cell_time(self, argument, body):
        return self._timed((argument + "\n" if argument else "") + body)

    def _timed(self, code):
        import resource
        body, last = self._compiled(code)
        names, local = self.shell.names, self.local
        before, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        try:
            exec(body, names, local)
            return None if last is None else eval(last, names, local)
        finally:
            wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_SELF)
            user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
            print("CPU times: user %s, sys: %s, total: %s\nWall time: %s" % tuple(map(_duration, (user, system, user + system, wall))))

    def _compiled(self, code):
        """(statements, the last one where it is an expression, or None)"""
        tree, last = compile(self.transform(code), "Cell", "exec", ast.PyCF_ONLY_AST), None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = compile(ast.Expression(tree.body.pop().value), "Cell", "eval")
        return compile(tree, "Cell", "exec"), last

    def cell_timeit(self, argument, body):
        import timeit
        given = {"n": 0, "r": 7}
        options = re.match(r"(?:-[nrp]\s*\d+(?:\s+|$)|-[qcot]+(?:\s+|$))*", argument).group(0)
        flags = "".join(re.findall(r"-([qcot]+)", options))
        given.update((letter, int(value)) for letter, value in re.findall(r"-([nr])\s*(\d+)", options))
        argument = argument[len(options):]
        names = self.shell.names if self.local is self.shell.names else {**self.shell.names, **self.local}
        timer = timeit.Timer(body or argument, argument if body and argument else "pass", globals=names)
        number = given["n"] or _loops(timer)
        took = _Took(number, timer.repeat(given["r"], number))
        if "q" not in flags:
            print(took)
        return took if "o" in flags else None

    def writefile(self, argument, body):
        words = shlex.split(argument)
        append = "-a" in words
        name = next((word for word in words if word != "-a"), None)
        if name is None:
            raise UsageError("%%writefile needs the name of a file: %%writefile [-a] FILE")
        print(("Appending to " if append else "Overwriting " if os.path.exists(name) else "Writing ") + name)
        with open(name, "a" if append else "w", encoding="utf-8") as file:
            file.write(body)

    def capture(self, argument, body):
        """Captures what the cell prints and displays; `%%capture name` keeps it, as `name.stdout`, `.stderr` and `.outputs`."""
        import contextlib
        import io
        captured, words, shell = _Captured(), argument.split(), part("shell")  # noqa: F821
        let_go = {word for word in words if word.startswith("--")}
        if let_go - {"--no-stdout", "--no-stderr", "--no-display"}:
            raise UsageError("%%capture knows --no-stdout, --no-stderr and --no-display.")
        statements, last = self._compiled(body)
        publish = shell.publish
        with contextlib.ExitStack() as stack:
            out, err = io.StringIO(), io.StringIO()
            if "--no-stdout" not in let_go:
                stack.enter_context(contextlib.redirect_stdout(out))
            if "--no-stderr" not in let_go:
                stack.enter_context(contextlib.redirect_stderr(err))
            if "--no-display" not in let_go:
                shell.publish = captured.add
            try:
                exec(statements, self.shell.names)
                value = None if last is None else eval(last, self.shell.names)
                if value is not None:
                    part("display").display(value)  # noqa: F821
                self.shell.after()
            finally:
                shell.publish = publish
                captured.stdout, captured.stderr = out.getvalue(), err.getvalue()
                for name in words:
                    if name not in let_go:
                        self.shell.names[name] = captured


class Interactive:
    """What get_ipython() gives: that of IPython's shell which notebooks call once they were made scripts."""

    def __init__(self, magics):
        self._magics = magics
        self.user_ns = magics.shell.names
        self.config = {}

    @property
    def execution_count(self):
        return len(self._magics.shell.inputs) - 1

    def system(self, cmd):
        return self._magics.run(sys._getframe(1).f_locals, "shell", cmd)

    system_raw = system_piped = system

    def getoutput(self, cmd):
        return self._magics.run(sys._getframe(1).f_locals, "capture", cmd)

    def run_line_magic(self, magic_name, line="", _stack_depth=1):
        return self._magics.run(sys._getframe(1).f_locals, "line", magic_name, line.strip())

    def run_cell_magic(self, magic_name, line, cell):
        return self._magics.run(sys._getframe(1).f_locals, "cell", magic_name, line.strip(), cell)

    def magic(self, arg_s):
        name, _, line = arg_s.lstrip("%").partition(" ")
        return self._magics.run(sys._getframe(1).f_locals, "line", name, line.strip())

    def push(self, variables, interactive=True):
        self.user_ns.update(variables)

    def __getattr__(self, name):
        raise AttributeError("get_ipython() has no %s here.\n%s" % (name, _HELP))


class _Captured:
    """What a cell printed and displayed."""

    def __init__(self):
        self.stdout, self.stderr, self.outputs = "", "", []

    def __str__(self):
        return self.stdout

    def add(self, data, metadata, _display_id, _update):
        self.outputs.append(_Output(data, metadata))

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for output in self.outputs:
            output.display()

    __call__ = show


class _Output:
    """What a cell displayed once."""

    def __init__(self, data, metadata):
        self.data, self.metadata = data, metadata

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.data, self.metadata

    def display(self):
        part("shell").publish(self.data, self.metadata, None, False)  # noqa: F821


class _Took:
    """What %timeit measured: seconds of each loop, by run."""

    def __init__(self, loops, all_runs):
        import statistics
        self.loops, self.repeat, self.all_runs = loops, len(all_runs), all_runs
        self.timings = [took / loops for took in all_runs]
        self.best, self.worst = min(self.timings), max(self.timings)
        self.average, self.stdev = statistics.fmean(self.timings), statistics.pstdev(self.timings)

    def __str__(self):
        return "%s ± %s per loop (mean ± std. dev. of %d run%s, %s loop%s each)" % (
            _duration(self.average), _duration(self.stdev), self.repeat, "" if self.repeat == 1 else "s",
            format(self.loops, ","), "" if self.loops == 1 else "s")

    def __repr__(self):
        return "<TimeitResult : %s>" % self


class Lines(list):
    """Lines that a command printed, as `x = !command` gives them."""
    l = list = property(lambda self: list.__getitem__(self, slice(None)))
    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)

    def grep(self, pattern, prune=False):
        """The lines in which a pattern is found, or that a function is true of; with `prune` the others."""
        match = pattern if callable(pattern) else re.compile(pattern, re.IGNORECASE).search
        return Lines(line for line in self if bool(match(line)) != prune)

    def fields(self, *numbers):
        """Columns of the lines, by their numbers."""
        split = [line.split() for line in self]
        if not numbers:
            return split
        return Lines(" ".join(words[at] for at in numbers if -len(words) <= at < len(words)) for words in split)


def _formatted(field, names, local):
    """`{expression!conversion:format}` as text; as it is where it is none."""
    import string
    try:
        (_text, expression, form, conversion), = string.Formatter().parse(field)
        value = eval(expression, names, local)
        return format(string.Formatter().convert_field(value, conversion), form)
    except Exception:
        return field


def _duration(seconds):
    if seconds >= 60:
        minutes, rest = divmod(int(seconds), 60)
        return ("%dh " % (minutes // 60) if minutes >= 60 else "") + "%dmin %ds" % (minutes % 60, rest)
    for unit, scale in (("s", 1), ("ms", 1e3), ("μs", 1e6)):
        if seconds * scale >= 1:
            return "%.3g %s" % (seconds * scale, unit)
    return "%.3g ns" % (seconds * 1e9)


def _loops(timer):
    """The power of ten that takes at least 0.2 s."""
    number = 1
    while number < 10 ** 9 and timer.timeit(number) < 0.2:
        number *= 10
    return number


def _continued(code):
    """Numbers of the lines within multi-line strings, where no magic can begin."""
    inside, number, open_quote = set(), 0, None
    for number, line in enumerate(code.split("\n")):
        if open_quote:
            inside.add(number)
        at = 0
        while at < len(line):
            three = line[at:at + 3]
            if open_quote:
                if three == open_quote:
                    open_quote, at = None, at + 3
                    continue
            elif three in ("'''", '\"\"\"'):
                open_quote, at = three, at + 3
                continue
            elif line[at] == "#":
                break
            elif line[at] in "'\"":
                quote, at = line[at], at + 1
                while at < len(line) and line[at] != quote:
                    at += 2 if line[at] == "\\" else 1
            at += 1
    return inside
