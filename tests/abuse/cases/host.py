# SPDX-License-Identifier: MIT
"""What can be seen, read and written of the host (programs/host.c)."""
import os
import shutil
import subprocess

from case import Case, OnlyAs, Outside, Without
from context import BUILT


def host(name, attack, **kw):
    return Case(name, "host", attack, **kw)


def show_canary(context):
    """The canary's folder is shown read-only inside, for attacks on what is read-only."""
    return ("--mount", f"{context.host.flag}:/shown/flag")


def set_uid_program(context):
    path = context.dir / "set-uid"
    if not path.exists():
        shutil.copy(BUILT / "abuse-host", path)
        path.chmod(0o6755)
    return ("--mount", f"{path}:/set-uid")


def leaks_descriptor(context, folder, out):
    """The control for descriptors: one of the host's is left open for the program."""
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    done = subprocess.run([str(BUILT / "abuse-host"), "through_descriptors", str(context.host.canary)],
                          capture_output=True, text=True, pass_fds=[fd], check=False)
    os.close(fd)
    return [line for line in done.stdout.splitlines() if line.startswith("ESCAPED descriptor")]


def core_in(context, folder, out):
    """What the kernel reports about the core dump, or the file that core_pattern names."""
    return [line for line in out.splitlines() if line.startswith("ESCAPED")] or [n for n in os.listdir(folder)
                                                                               if n.startswith("core")]


def writes_its_own(context, folder, out):
    path = os.path.join(folder, "own")
    with open(path, "w") as f:
        f.write("own file\n")
    done = subprocess.run([str(BUILT / "abuse-host"), "read_only_file", path], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if line.startswith("ESCAPED")]



CASES = [
    host("supervisors through /proc", "supervisors", args=("{secret}",), numbers="18, SEB shared pid namespace",
         control=Outside(among_the_host=True)),
    host("init through /proc", "init_files", numbers="17", user="root", control=Without(("capabilities",))),
    host("programs through /proc", "overwrite_programs", numbers="20, SEB runc CVE-2019-5736",
         control=OnlyAs(Outside(), ("root",), "programs belong to root")),
    host("folders through descriptors", "through_descriptors", args=("{canary}",),
         numbers="19, 20, SEB runc CVE-2024-21626", control=Outside(check=leaks_descriptor)),
    host("secrets and sockets of the host", "secrets", args=("{canary}",),
         numbers="33, SEB docker.sock, SEB host mounts, SEB k8s RBAC", control=Outside()),
    host("settings of the kernel", "settings", numbers="43, SEB CRI-O CVE-2022-0811", user="root", control={
        "root": Outside(("net",), args=("/proc/sys/net",)), "user": Without(("proc", "capabilities"))}),
    host("control groups", "control_groups", numbers="40, SEB release_agent", user="root", control=Outside()),
    host("services of the host", "connections", args=("{port}", "{abstract}", "{socket}"),
         numbers="33, SEB route_localnet", check=lambda c, a: "slow to refuse" if "slow:" in a["result"]["stdout"] else None,
         control=Without(("network",))),
    host("the engine's own socket", "connections", args=("1", "none", "{service}"), paths=("service",),
         control=Outside(("net",), check=lambda c, folder, out: f"ESCAPED {c.words['service']}" in out)),
    host("the engine's own socket, in a folder that is shown", "ask_engine", args=("/runtime/fumehood/engine.sock",), paths=("service",),
         options=lambda c: ("--mount", f"{c.dir}/runtime:/runtime"),
         control=Outside(args=("{service}",), among_the_host=True)),
    host("core dumps", "core_dump", numbers="37", control=Outside(before="ulimit -c 100000", check=core_in)),
    host("set-uid programs", "set_uid", args=("/set-uid",), numbers="27", options=set_uid_program,
         control=OnlyAs(Outside(check=lambda c, folder, out: subprocess.run(
             ["setpriv", "--reuid=61235", "--regid=61235", "--clear-groups", str(c.dir / "set-uid"), "who"],
             capture_output=True, text=True, check=False).stdout.startswith("ESCAPED")), ("root",),
             "a program with another's set-uid bit is root's to make")),
    host("a file that is shown read-only", "read_only_file", args=("/shown/flag",), options=show_canary,
         numbers="SEB Dirty COW, SEB Dirty Pipe", control=Outside(args=("/nothing",), check=writes_its_own)),
]

