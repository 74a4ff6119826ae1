# SPDX-License-Identifier: MIT
"""Runs inside the sandbox: an interpreter that keeps its state. Cells come on stdin, one JSON object a line; what they print goes to
stdout and stderr as it is, and a mark with the caller's token ends each cell on both.

IPython where it is there; else a plain interpreter with the last expression shown, `!command`, %pwd, %cd, %who, %time, %%time, %%bash, and await.
"""
import ast
import importlib
import inspect
import json
import os
import re
import signal
import site
import subprocess
import sys
import traceback


class Plain(object):
    def __init__(self):
        self.names = {"__name__": "__main__", "__builtins__": __builtins__}

    def _magic(self, line):
        word, _, rest = line[1:].strip().partition(" ")
        if word == "pwd":
            print(repr(os.getcwd()))
        elif word == "cd":
            os.chdir(os.path.expanduser(rest.strip() or "~"))
            print(os.getcwd())
        elif word in ("who", "whos"):
            print(" ".join(sorted(name for name in self.names if not name.startswith("_"))) or "Interactive namespace is empty.")
        elif word == "time":
            self._timed(rest)
        elif word in ("matplotlib", "config"):
            pass
        else:
            raise NameError("the magic %%%s is not there without IPython" % word)

    def _timed(self, text):
        import time
        began = time.perf_counter()
        self._statements(text)
        print("Wall time: %.3g s" % (time.perf_counter() - began))

    def _done(self, tree, mode):
        """The value of a piece of code, which may await."""
        code = compile(tree, "<cell>", mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, self.names)
        if code.co_flags & inspect.CO_COROUTINE:
            import asyncio
            value = asyncio.run(value)
        return value

    def _statements(self, text):
        tree = ast.parse(text, "<cell>", "exec")
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        self._done(tree, "exec")
        if last is not None:
            value = self._done(last, "eval")
            if value is not None:
                self.names["_"] = value
                print(repr(value))

    def run(self, text):
        try:
            if text.startswith("%%bash") or text.startswith("%%sh"):
                subprocess.call(["sh", "-c", text.partition("\n")[2]])
                return True
            if text.startswith("%%time"):
                self._timed(text.partition("\n")[2])
                return True
            pending = []
            for line in text.split("\n"):
                if not pending or not "".join(pending).strip() or not line.startswith((" ", "\t")):
                    caught = re.match(r"(\w+)\s*=\s*!(.*)$", line)
                    if caught:
                        self._statements("\n".join(pending))
                        pending = []
                        self.names[caught.group(1)] = subprocess.run(["sh", "-c", caught.group(2)], stdout=subprocess.PIPE, text=True).stdout.splitlines()
                        continue
                    if line.startswith("!") or (line.startswith("%") and not line.startswith("%%")):
                        self._statements("\n".join(pending))
                        pending = []
                        sys.stdout.flush()
                        if line.startswith("!"):
                            subprocess.call(["sh", "-c", line[1:]])
                        else:
                            self._magic(line)
                        continue
                pending.append(line)
            self._statements("\n".join(pending))
            return True
        except SystemExit as error:
            return error.code in (None, 0)
        except BaseException:
            kind, value, at = sys.exc_info()
            while at is not None and at.tb_frame.f_code.co_filename in (__file__, ast.__file__):
                at = at.tb_next
            traceback.print_exception(kind, value, at)
            return False


class Full(object):
    def __init__(self, history):
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config
        settings = Config()
        settings.HistoryManager.enabled = False
        settings.InteractiveShell.colors = "NoColor"
        settings.InteractiveShell.history_length = history
        settings.InteractiveShell.xmode = "Plain"
        self.shell = InteractiveShell.instance(config=settings)

    def run(self, text):
        result = self.shell.run_cell(text, store_history=True)
        failed = result.error_before_exec or result.error_in_exec
        return result.success or (isinstance(failed, SystemExit) and failed.code in (None, 0))


def find_new_packages():
    """Makes packages importable that were installed after the interpreter's start: then their folder did not exist."""
    folder = site.getusersitepackages()
    if folder not in sys.path and os.path.isdir(folder):
        sys.path.append(folder)
    importlib.invalidate_caches()


def main():
    orders = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    settings = json.loads(orders.readline())
    try:
        shell = Full(settings["history"])
    except ImportError:
        shell = Plain()

    def interrupted(number, frame):
        raise KeyboardInterrupt()

    for line in orders:
        order = json.loads(line)
        find_new_packages()
        signal.signal(signal.SIGINT, interrupted)
        try:
            good = shell.run(order["code"])
        except KeyboardInterrupt:
            good = False
        except SystemExit:
            good = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
            os.write(descriptor, ("\0%s:%d\0" % (order["token"], 0 if good else 1)).encode())


main()
