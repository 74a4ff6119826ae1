# SPDX-License-Identifier: MIT
"""Which control group the engine of a plain user takes for its own on cgroup v2, and whose processes it moves there: only
those of a group that was handed to it. The groups are named and owned as systemd has them; src/engine/host/cgroup_rights.h has
the rules, tests/unit/engine/test_cgroup_rights.c more of the ways that lead to a group."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import modes
import proc
import support

TOP = pathlib.Path("/sys/fs/cgroup")
WANTED = ("memory", "pids", "cpu")
UID = modes.TEST_UID


def controllers(folder):
    path = folder / "cgroup.controllers"
    return path.read_text().split() if path.exists() else []


@unittest.skipUnless(support.whoami() == "root", "only as root: makes control groups for a user")
class Delegation(support.TempDir):
    @classmethod
    def setUpClass(cls):
        if not set(WANTED) <= set(controllers(TOP)) or not os.access(TOP / "cgroup.subtree_control", os.W_OK):
            raise unittest.SkipTest("needs a cgroup v2 hierarchy with its controllers, as root")
        cls.place = modes.Place()
        cls.addClassCleanup(cls.place.clean)
        cls.top, cls.build = cls.place.tree_for("user", support.BUILD)

    def setUp(self):
        super().setUp()
        modes.give(self.dir, "user")
        self.hand_down(TOP)
        self.base = self.group(TOP, f"delegation-test-{os.getpid()}", owner=0)

    # ---- control groups
    @staticmethod
    def hand_down(folder):
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{c}" for c in WANTED))

    def group(self, above, name, owner=UID, marked=False):
        """A group that hands controllers down to those in it, unless processes get in its way."""
        folder = above / name
        folder.mkdir()
        self.addCleanup(lambda: support.wait_for(lambda: self.is_removed(folder), 10))
        for path in (folder, folder / "cgroup.procs", folder / "cgroup.threads", folder / "cgroup.subtree_control"):
            os.chown(path, owner, owner)
        if marked:
            os.setxattr(folder, "user.delegate", b"1")
        return folder

    @staticmethod
    def is_removed(folder):
        for path in sorted(folder.rglob("*/"), reverse=True) if folder.exists() else ():
            try:
                path.rmdir()
            except OSError:
                pass
        try:
            folder.rmdir()
        except OSError:
            pass
        return not folder.exists()

    def terminal(self, folder):
        """Somebody's process that is in the group already."""
        p = subprocess.Popen(["sleep", "600"], preexec_fn=lambda: self.enter(folder))
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p.pid

    @staticmethod
    def enter(folder):
        (folder / "cgroup.procs").write_text(str(os.getpid()))

    def in_group(self, folder, *args, seconds=support.TIMEOUT):
        """What the user's fumehood says that was started in the group, and the folders that it left beside its own."""
        done = subprocess.run([*modes.as_user(), str(self.build / "fumehood"), *args], preexec_fn=lambda: self.enter(folder),
                              env=modes.environment("user", self.build, str(self.dir)), cwd=self.dir, capture_output=True,
                              text=True, timeout=seconds, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout)

    def memory_in(self, folder):
        return self.in_group(folder, "run", "--json", "-l", "bash", "-c", "true")["limits"]["memory"]["enforced"]

    def own_group(self, pid):
        return proc.read(pid, "cgroup").decode().splitlines()[-1].split("::")[1]

    def check(self, folder, memory, moved):
        terminal = self.terminal(folder)
        before = self.own_group(terminal)
        self.assertEqual(self.memory_in(folder), memory)
        self.assertEqual(self.own_group(terminal), before + ("/fumehood-host" if moved else ""))

    # ---- what is handed over
    def test_a_folder_that_was_given_to_the_user_by_hand(self):
        self.hand_down(self.base)
        self.check(self.group(self.base, "given"), "exact", moved=True)

    def manager(self, marked_scope):
        """user@UID.service/app.slice/x.scope, as systemd makes them for a user."""
        self.hand_down(self.base)
        service = self.group(self.base, f"user@{UID}.service", marked=True)
        self.hand_down(service)
        slice_ = self.group(service, "app.slice")
        self.hand_down(slice_)
        return service, self.group(slice_, "x.scope", marked=marked_scope)

    def test_a_scope_that_is_delegated(self):
        self.check(self.manager(True)[1], "exact", moved=True)

    def test_a_folder_in_a_scope_that_is_delegated(self):
        """Its scope has no process of its own, and nobody is moved."""
        scope = self.manager(True)[1]
        self.hand_down(scope)
        self.check(self.group(scope, "payload"), "exact", moved=False)

    # ---- what belongs to the service manager
    def test_a_scope_that_is_not_delegated(self):
        service, scope = self.manager(False)
        before = sorted(map(str, service.rglob("*/")))
        self.check(scope, "bounded", moved=False)
        self.assertEqual(sorted(map(str, service.rglob("*/"))), before, "nothing was made in the service manager's groups")

    def test_doctor_names_what_mends_it(self):
        scope = self.manager(False)[1]
        seen = self.in_group(scope, "doctor", "--json", seconds=support.TIMEOUT / 10 * support.SLACK)
        text = json.dumps(seen)
        self.assertIn("systemd-run --user --scope -p Delegate=yes", text)


if __name__ == "__main__":
    unittest.main()
