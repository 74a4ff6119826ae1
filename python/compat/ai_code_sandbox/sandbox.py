# SPDX-License-Identifier: MIT
"""A sandbox for Python code."""
import os
import re
import textwrap

import fumehood
from fumehood.dropin import Dropin, ExecContainer

_SIZES = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
#: The memory of a sandbox for which the caller asks no limit.
_UNLIMITED = 4 << 30
#: One argument can hold 128 KiB; longer programs go by a file.
_ARGUMENT_MAX = 100000
_FROM_FILE = ("import os\np='/run/.program.py'\nt=open(p,encoding='utf-8').read()\nos.unlink(p)\n"
              "exec(compile(t,'<string>','exec'),{'__name__':'__main__','__builtins__':__builtins__})")
_SAID = {"install": "Failed to install packages", "create": "Failed to create the sandbox", "closed": "Sandbox is closed"}


def is_strict():
    return os.environ.get("AI_CODE_SANDBOX_STRICT", "") not in ("", "0")


def _size(text):
    """Bytes of a number or a text, as docker-py takes them; None, 0 and -1 mean no limit there."""
    if text in (None, 0, -1, "0", "-1"):
        return _UNLIMITED
    found = re.match(r"^\s*(\d+(?:\.\d+)?)\s*([bkmgt]?)b?\s*$", str(text), re.IGNORECASE)
    if not found:
        raise Exception("mem_limit={!r} is not a size: 100m, 1g".format(text))
    return int(float(found.group(1)) * (1 << _SIZES[found.group(2).lower()]))


class AICodeSandbox(Dropin):
    def __init__(self, custom_image=None, packages=None, network_mode="none", mem_limit="100m", cpu_period=100000, cpu_quota=50000):
        if network_mode not in ("none", None):
            raise Exception("network_mode={!r} is not supported: the sandboxes have no network (\"none\")".format(network_mode))
        rate = max(cpu_quota / cpu_period, 0.01) if cpu_quota and cpu_quota > 0 else None
        self.container = ExecContainer(self._make("python", "/", custom_image, _size(mem_limit), rate, packages))

    def _error(self, what, error):
        text = _SAID.get(what) or "Failed to " + re.sub(r"^(\w+ file) .*$", r"\1", what)
        if what == "closed":
            return Exception(text)
        return Exception("{}: {}{}".format(text, error, "\n" + error.output if what == "install" else ""))

    def run_code(self, code, env_vars=None):
        made = self._used()
        text = textwrap.dedent(code)
        argv = ["python", "-u", "-c", text]
        try:
            if len(text.encode("utf-8", "surrogateescape")) >= _ARGUMENT_MAX:
                made.put("/run/.program.py", text)
                argv[-1] = _FROM_FILE
            done = made.exec(argv, env=self._environment(env_vars))
        except fumehood.Error as error:
            raise self._error("run code", error) from error
        stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if done.exit_code:
            if is_strict() and not stderr:
                raise AttributeError("'NoneType' object has no attribute 'decode'")
            return "Error (exit code {}): {}".format(done.exit_code, stderr)
        return stdout or ("Error: {}".format(stderr) if stderr else "No output")

    def write_file(self, filename, content):
        self._put(filename, content)

    def read_file(self, filename):
        return self._get(filename)
