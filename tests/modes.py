# SPDX-License-Identifier: MIT
"""The users that tests run as (root, a user, that user in `unshare -r`), and the checkout that each one can read."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from caches import Caches

TOP = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
MODES = ("root", "user", "userns")
# Not in /etc/passwd, as the next ones: users without cgroup, home or session. The kernel counts processes for each user, so
# that checkouts that are tested on one machine at the same time have to name different ones.
TEST_UID = int(os.environ.get("FUMEHOOD_TEST_UID", "61234"))


def last_words(text, n=40):
    return "\n".join(text.strip().splitlines()[-n:])


class Place:
    """The checkout for python tests: the real one, or a copy if the test user cannot read it (a home of mode 0700)."""

    def __init__(self):
        self.seen, self.folders, self.caches = {}, [], Caches()

    def tree_for(self, mode, build):
        """(checkout, build folder) for the mode's user."""
        if mode == "root" or os.getuid() != 0:
            return TOP, build
        if build not in self.seen:
            self.seen[build] = (TOP, build) if self.readable(build) else self.copy(build)
        return self.seen[build]

    def readable(self, build):
        script = 'for f; do test -r "$f" || exit 1; done'
        files = [TOP / "tests" / "run", build / "fumehood", *TOP.glob("languages/*.json"), *TOP.glob("guest/*")]
        return subprocess.run([*as_user(), "sh", "-c", script, "sh", *map(str, files)]).returncode == 0

    def copy(self, build):
        folder = tempfile.mkdtemp(prefix="fumehood-tests-", dir="/var/tmp")
        self.folders.append(folder)
        os.chmod(folder, 0o755)
        top = pathlib.Path(folder) / "checkout"

        def left_out(parent, names):
            return [n for n in names if parent == str(TOP) and (n == ".git" or n.startswith("build") and TOP / n != build)]

        shutil.copytree(TOP, top, symlinks=True, ignore=left_out)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        return top, top / build.relative_to(TOP)

    def clean(self):
        self.caches.clean()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def as_user(slot=0):
    """Command line that runs a command as a test user, when we are root. Concurrent files have different users, since
    the kernel counts processes for each user."""
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={TEST_UID + slot}", f"--regid={TEST_UID + slot}", "--clear-groups", "--"]


def wrapper(mode, slot=0):
    return {"root": [], "user": as_user(slot), "userns": [*as_user(slot), "unshare", "-r", "--"]}[mode]


def cannot(mode):
    """Why tests cannot run as such a user here; None when they can."""
    if mode == "root":
        return None if os.getuid() == 0 else "needs root: call ./dev test with sudo for the tests that run as root"
    restricted = pathlib.Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if restricted.exists() and restricted.read_text().strip() == "1":
        return f"needs the kernel to give plain users their user namespaces: {restricted} is 1"
    done = subprocess.run([*wrapper(mode), "true"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=20)
    return None if done.returncode == 0 else f"needs the kernel to let a plain user do this: {last_words(done.stdout, 1)}"


def environment(mode, build, home, sanitized=False, again=False):
    env = dict(os.environ)
    if mode != "root" and os.getuid() == 0:      # another user has no use for root's PATH and folders
        for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "SUDO_UID", "TMPDIR"):
            env.pop(name, None)
        env.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=home, USER="fumehood-test", LOGNAME="fumehood-test")
    elif os.getuid() == 0:                       # concurrent files share neither a service nor a cache
        for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            env[name] = os.path.join(home, name)
            os.mkdir(env[name], 0o700)
    env.update(FUMEHOOD_BUILD_DIR=str(build), FUMEHOOD_TEST_AS=mode, FUMEHOOD_TEST_SANITIZED="1" if sanitized else "0",
               FUMEHOOD_TEST_AGAIN="1" if again else "0",
               FUMEHOOD_COMPILE_CACHE="2G",     # for all files together: Go's programs take 2 MB each
               PYTHONDONTWRITEBYTECODE="1", ASAN_OPTIONS="detect_leaks=1", LC_ALL="C.UTF-8",
               UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
    return env


def give(folder, mode, slot=0):
    """Makes the test user the owner of a folder."""
    if os.getuid() == 0 and mode != "root":
        os.chown(folder, TEST_UID + slot, TEST_UID + slot)
