# SPDX-License-Identifier: MIT
"""A context's shell that is IPython's own, in this process: magics, `!cmd`, `await`, rich display, tracebacks.

`part` is defined by the driver (python.py)."""
import builtins
import os
import sys

import IPython
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.formatters import BaseFormatter
from IPython.core.interactiveshell import InteractiveShell
from traitlets import ObjectName, Type, Unicode
from traitlets.config import Config

rich = part("rich")  # noqa: F821
_driver = None


class _Hook(DisplayHook):
    """Sends the value of a cell as an event."""

    def quiet(self):
        return False if self.shell.silent_cell else super().quiet()

    def start_displayhook(self):
        self._bundle = ({}, {})

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self._bundle = (format_dict, md_dict or {})

    def finish_displayhook(self):
        data, metadata = self._bundle
        if data:
            _driver.wire.later("result", count=self.prompt_count, data=rich.portable(data),
                               metadata=rich.portable_metadata(metadata))


class _Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, *_, transient=None, update=False, **_more):
        transient = transient or {}
        event = {"data": rich.portable(data), "metadata": rich.portable_metadata(metadata or {})}
        if transient.get("display_id") is not None:
            event["display_id"] = str(transient["display_id"])
        if update:
            event["update"] = True
        _driver.wire.emit("display", **event)

    def clear_output(self, wait=False):
        _driver.wire.emit("clear", wait=bool(wait))


class _Compiler(CachingCompiler):
    """Names cells by a hash of their text, as Jupyter does: "Cell In[3]" in tracebacks, this name in warnings."""

    def get_code_name(self, raw_code, code, number):
        import zlib
        return "/tmp/ipykernel_%d/%d.py" % (os.getpid(), zlib.crc32(raw_code.encode("utf-8", "replace")))


class _Kernel:
    """What libraries look for to know that there is no terminal: pandas asks for it before it lays out a wide table."""


class _Shell(InteractiveShell):
    kernel = _Kernel()
    compiler_class = Type(_Compiler)
    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    silent_cell = False
    failed = None

    def _showtraceback(self, etype, evalue, stb):
        # Sent at once, as Jupyter does; `failed` is for the result of the cell.
        value = _driver.text_of(evalue)
        _driver.wire.emit("error", name=str(getattr(etype, "__name__", etype)), value=value,
                          traceback="\n".join(str(line) for line in stb))
        self.failed = True

    def _get_exc_info(self, exc_tuple=None):
        kind, value, trace = super()._get_exc_info(exc_tuple)
        return kind, value, _driver.wire.lock.without_handler(trace)

    def init_readline(self):
        pass

    def init_sys_modules(self):
        sys.modules["__main__"] = self.user_module

    def ask_exit(self):
        _driver.exiting = True

    def init_virtualenv(self):
        pass

    def system(self, command):
        return self.system_piped(command) if not sys.platform.startswith("win") else self.system_raw(command)

    def enable_gui(self, gui=None):
        pass

    def set_next_input(self, text, replace=False):
        pass


class _Exit:
    """`exit` and `quit`, as names and as calls. Shown, they end the context and leave no result."""

    def _ipython_display_(self):
        _driver.exiting = True

    def __call__(self, *_):
        _driver.exiting = True


class _JsonOf(BaseFormatter):
    """A formatter for one of our own result types."""
    print_method = ObjectName("_repr_fumehood_")
    _return_type = dict


def _formatter(shell, mime, function):
    class Formatter(_JsonOf):
        format_type = Unicode(mime)

        def __call__(self, value):
            try:
                return function(value)
            except Exception:
                return None

    shell.display_formatter.formatters[mime] = Formatter(parent=shell.display_formatter)
    if shell.display_formatter.active_types and mime not in shell.display_formatter.active_types:
        shell.display_formatter.active_types = list(shell.display_formatter.active_types) + [mime]


class Shell:
    name = "ipython"
    version = IPython.__version__

    def __init__(self, driver):
        global _driver
        _driver = self.driver = driver
        config = Config()
        config.InteractiveShell.colors = "nocolor" if IPython.version_info >= (9,) else "NoColor"
        config.InteractiveShell.autoindent = False
        config.InteractiveShell.banner1 = ""
        config.HistoryManager.enabled = False  # no thread, no file
        config.Completer.use_jedi = False
        import types
        module = types.ModuleType("__main__", "Automatically created module for IPython interactive environment")
        self.names = module.__dict__
        self.shell = _Shell.instance(config=config, user_module=module, user_ns=self.names)
        self.shell.display_formatter.active_types = list(self.shell.display_formatter.formatters)
        for mime in (rich.DATA, rich.CHART):
            _formatter(self.shell, mime, rich.EXTRA[mime])
        for kind in (list, dict):
            self.shell.display_formatter.formatters[rich.JSON].for_type(kind, rich.json_of)
        self.shell.user_ns["exit"] = self.shell.user_ns["quit"] = _Exit()
        self.shell.user_ns_hidden.update(exit=self.shell.user_ns["exit"], quit=self.shell.user_ns["quit"])
        builtins.input = self._input
        import getpass
        getpass.getpass = self._getpass
        self._figures()
        part("pictures").install(display)  # noqa: F821

    @staticmethod
    def _input(prompt="", *_):
        raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")

    @staticmethod
    def _getpass(prompt="", *_, **_more):
        raise StdinNotImplementedError("getpass was called, but this frontend does not support input requests.")

    @staticmethod
    def _figures():
        """Uses matplotlib's inline back end if it is installed; ours otherwise."""
        import importlib.util
        if os.environ.get("MPLBACKEND") == "module://fumehood_context_figures":
            if importlib.util.find_spec("matplotlib_inline"):
                os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
            else:
                part("inline").install(display)  # noqa: F821

    def run(self, code, silent):
        shell, driver = self.shell, self.driver
        shell.failed, shell.silent_cell = False, silent
        shell.execution_count = driver.count if not silent else shell.execution_count
        store = not silent
        if driver.needs_loop(code):
            result = driver.run_async(self._cell(code, store))
        else:
            result = shell.run_cell(code, store_history=store)
        error = result.error_before_exec or result.error_in_exec
        if error is not None and not shell.failed and type(error).__name__ != "UsageError":  # a UsageError was printed to stderr
            driver.wire.emit("error", name=type(error).__name__, value=_driver.text_of(error), traceback=_driver.text_of(error))
        return "ok" if error is None else "error"

    async def _cell(self, code, store):
        shell = self.shell
        try:
            transformed = shell.transform_cell(code)
            wait = shell.should_run_async(code, transformed_cell=transformed)
        except Exception:
            wait = False
        if wait:
            return await shell.run_cell_async(code, store_history=store, transformed_cell=transformed)
        return shell.run_cell(code, store_history=store)

    def after(self):
        """Called after each cell."""
        inline = sys.modules.get("fumehood_context_figures")
        if inline is not None and inline.display is not None:
            inline.flush()

    def complete(self, code):
        from IPython.core.completer import provisionalcompleter
        with provisionalcompleter():
            _text, matches = self.shell.complete(code)
        return {"matches": [str(match) for match in matches[:500]]}


def display(value):
    from IPython.display import display as show
    show(value)
