# SPDX-License-Identifier: MIT
"""A sandbox for Python code."""
import contextlib
import os
import re
import textwrap

import fumehood
from fumehood.container import Container

_SIZES = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30}


def _size(text):
    found = re.match(r"^\s*(\d+)\s*([bkmg]?)b?\s*$", str(text), re.IGNORECASE)
    if not found:
        raise Exception("mem_limit={!r} is no size: 100m, 1g".format(text))
    return int(found.group(1)) << _SIZES[found.group(2).lower()]


class AICodeSandbox(object):
    """``client`` and ``temp_image`` are None: there is no daemon, and no image is built."""

    def __init__(self, custom_image=None, packages=None, network_mode="none", mem_limit="100m", cpu_period=100000, cpu_quota=50000):
        self._made = None
        self.client = self.container = self.temp_image = None
        if network_mode not in ("none", None):
            raise Exception("network_mode={!r} cannot be had: the sandboxes have no network (\"none\")".format(network_mode))
        image = custom_image if custom_image and os.path.isdir(custom_image) else None
        made = Container(["python"], cwd="/sandbox", image=image, user="root", memory=_size(mem_limit), processes=1024, disk="1G",
                         cpu_rate=max(cpu_quota / cpu_period, 0.01) if cpu_quota and cpu_quota > 0 else None, cpu_time=None, wall_time=None)
        try:
            if packages:
                made.install("python", packages)
            _ = made.sandbox
        except fumehood.packages.PackageError as error:
            raise Exception("Failed to install packages: {}\n{}".format(error, error.output)) from error
        except fumehood.Error as error:
            raise Exception("Failed to create the sandbox: {}".format(error)) from error
        self._made = self.container = made

    def _used(self):
        if self._made is None:
            raise Exception("Sandbox is closed")
        return self._made

    def run_code(self, code, env_vars=None):
        made = self._used()
        env = {str(name): str(value) for name, value in (env_vars or {}).items()}
        text = textwrap.dedent(code)
        argv = ["python", "-u", "-c", text]
        try:
            if len(text.encode("utf-8", "surrogateescape")) >= 100000:  # one argument can hold 128 KiB
                made.put("/run/.program.py", text)
                argv = ["python", "-u", "-c", "import os\np='/run/.program.py'\nt=open(p,encoding='utf-8').read()\nos.unlink(p)\n"
                        "exec(compile(t,'<string>','exec'),{'__name__':'__main__','__builtins__':__builtins__})"]
            done = made.exec(argv, env=env)
        except fumehood.Error as error:
            raise Exception("Failed to run code: {}".format(error)) from error
        stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if done.exit_code:
            return "Error (exit code {}): {}".format(done.exit_code, stderr)
        return stdout or ("Error: {}".format(stderr) if stderr else "No output")

    def write_file(self, filename, content):
        try:
            self._used().put(filename, content)
        except fumehood.Error as error:
            raise Exception("Failed to write file: {}".format(error)) from error

    def read_file(self, filename):
        try:
            data = self._used().get(filename)
        except fumehood.Error as error:
            raise Exception("Failed to read file: {}".format(error)) from error
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def close(self):
        made, self._made, self.container = self._made, None, None
        if made is not None:
            with contextlib.suppress(fumehood.Error):
                made.remove()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __del__(self):
        try:
            if getattr(self, "_made", None) is not None:
                self.close()
        except Exception:  # noqa: B902  the interpreter may be ending
            pass
