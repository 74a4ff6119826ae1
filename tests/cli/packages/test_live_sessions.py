# SPDX-License-Identifier: MIT
"""`fumehood session` as a user calls it, and the Python package with the same words."""
import asyncio
import contextlib
import fcntl
import inspect
import itertools
import json
import os
import pty
import select
import signal
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import termios
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support

NUMBERS = itertools.count()
FUMEHOOD = str(support.BUILD / "fumehood")
ENVIRONMENT = {**os.environ, "FUMEHOOD_ENGINE": str(support.BUILD / "fumehood-engine")}


def session(*arguments, stdin=b"", status=0):
    done = subprocess.run([FUMEHOOD, "session", *arguments], input=stdin, capture_output=True, env=ENVIRONMENT,
                          timeout=support.TIMEOUT)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done


class Session(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.name = "t%d-%d" % (os.getpid(), next(NUMBERS))
        session("new", "--name", self.name, "--lease", "300")
        self.addCleanup(session, "rm", self.name, status=None)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_it_lives_on_and_is_listed(self):
        listed = [s for s in json.loads(session("list", "--json").stdout) if s["name"] == self.name]
        self.assertEqual([s["state"] for s in listed], ["running"])
        self.assertGreater(listed[0]["lease_left_ms"], 0)
        self.assertEqual(session("exec", listed[0]["id"][:8], "--", "echo", "by id").stdout, b"by id\n")
        self.assertIn(self.name.encode(), session("list").stdout)
        session("rm", self.name)
        self.assertNotIn(self.name.encode(), session("list", "--json").stdout)
        gone = session("exec", self.name, "--", "true", status=1)
        self.assertIn(b"no session is named", gone.stderr)

    def test_commands_share_files_and_have_ends_of_their_own(self):
        session("exec", self.name, "--", "sh", "-c", "echo kept > note")
        done = session("exec", "-e", "WORD=said", "-w", "/tmp", self.name, "--", "sh", "-c",
                       "cat ~/note; pwd; echo $WORD; cat; echo wrong >&2; exit 7", stdin=b"given\n", status=7)
        self.assertEqual((done.stdout, done.stderr), (b"kept\n/tmp\nsaid\ngiven\n", b"wrong\n"))
        astray = session("exec", "-w", "/none/such", self.name, "--", "true", status=1)
        self.assertIn(b"cannot enter the working directory /none/such: No such file or directory", astray.stderr)
        late = session("exec", "--wall-time", "0.3", self.name, "--", "sleep", "60", status=137)
        self.assertIn(b"wall_time_limit", late.stderr)
        self.assertEqual(session("exec", self.name, "--", "sh", "-c", "kill -TERM $$", status=143).stdout, b"")

    def test_a_terminal_inside_is_of_the_kind_outside(self):
        for kind, given, told in (("vt100", (), b"vt100"), ("x\x1b[2J", (), b"xterm"), ("vt100", ("-e", "TERM=dumb"), b"dumb")):
            done = subprocess.run([FUMEHOOD, "session", "exec", "-t", *given, self.name, "--", "sh", "-c", "echo $TERM; tty"], input=b"",
                                  capture_output=True, env={**ENVIRONMENT, "TERM": kind}, timeout=support.TIMEOUT)
            self.assertRegex(done.stdout, rb"^%s\r?\n/dev/pts/\d+\r?\n$" % told, done.stderr)
        self.assertEqual(session("exec", self.name, "--", "sh", "-c", "echo ${TERM-none}").stdout, b"none\n")

    def test_a_terminal_that_is_resized_and_interrupted(self):
        """`attach` at a real terminal: the new size reaches the shell inside with its signal, and Ctrl-C what runs in it."""
        mine, theirs = pty.openpty()
        self.addCleanup(os.close, mine)
        size = lambda rows, columns: fcntl.ioctl(mine, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        seen = b""

        def until(word, again=b""):
            nonlocal seen
            end = time.monotonic() + support.TIMEOUT
            while word not in seen:
                self.assertLess(time.monotonic(), end, seen)
                if select.select([mine], [], [], 0.1)[0]:
                    seen += os.read(mine, 65536)
                else:
                    os.write(mine, again)
            seen = seen[seen.index(word) + len(word):]
        size(20, 90)
        child = subprocess.Popen([FUMEHOOD, "session", "attach", self.name], stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT,
                                 start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.addCleanup(child.wait, support.TIMEOUT)
        self.addCleanup(child.kill)
        os.write(mine, b"trap 'echo \"changed to $(stty size)\".' WINCH; PS1=rea''dy'> '; echo size: $(stty size).\n")
        until(b"size: 20 90.")
        size(31, 77)
        until(b"changed to 31 77.", again=b"\n")    # a shell that waits for a line runs its trap after it
        # the word comes from the job itself: by then it has the terminal, and with it the signal
        os.write(mine, b"sh -c 'echo st\"\"arts; exec sleep 1000'; echo not''reached\n")
        until(b"starts")
        os.write(mine, b"\x03")
        until(b"ready> ")                   # what is typed before is thrown away with the line
        os.write(mine, b"echo st''ill here $((6 * 7)).\n")
        until(b"still here 42.")
        os.write(mine, b"exit 5\n")
        with contextlib.suppress(OSError):  # the terminal's end
            while data := os.read(mine, 65536):
                seen += data
        self.assertEqual(child.wait(support.TIMEOUT), 5)
        self.assertNotIn(b"notreached", seen)

    def test_what_a_command_leaves_behind_is_not_waited_for(self):
        name = self.name
        # more than a pipe holds, written before the end, arrives whole
        script = "head -c 300000 /dev/zero; echo e >&2; sleep 1000 & exit 3"
        done = session("exec", name, "--", "sh", "-c", script, status=3)
        self.assertEqual((len(done.stdout), done.stderr), (300000, b"e\n"))
        # it writes on, and a second one reads nothing of it
        noisy = "(while :; do echo noise; sleep 0.01; done) & echo first; exit 4"
        self.assertIn(b"first\n", session("exec", name, "--", "sh", "-c", noisy, status=4).stdout)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(FUMEHOOD, [FUMEHOOD, "session", "attach", name], ENVIRONMENT)
        os.write(terminal, b"sleep 1000 & echo 4$((1+1)); exit 5\n")
        seen = b""
        with contextlib.suppress(OSError):      # the terminal's end
            while piece := os.read(terminal, 4096):
                seen += piece
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        self.assertIn(b"42", seen)

    def test_input_that_never_ends_holds_no_command(self):
        """The thread that feeds the program is somewhere in the middle of it when the program ends: often enough, each place once."""
        for script in ["sleep 0.0%d; exit 3" % n for n in range(1, 10)] * 3 + ["sleep 1000 <&0 & head -c 300000 >/dev/null; exit 3"] * 3:
            with open("/dev/zero", "rb") as zeros:
                done = subprocess.run([FUMEHOOD, "session", "exec", self.name, "--", "sh", "-c", script], stdin=zeros, capture_output=True,
                                      env=ENVIRONMENT, timeout=support.TIMEOUT)
            self.assertEqual((done.returncode, done.stderr), (3, b""), script)

    def test_a_name_and_options_that_cannot_hold_are_refused(self):
        name = self.name
        for arguments in (["new", "--name", name], ["branch", name, name]):
            self.assertIn(b"there is a session that is named " + name.encode(), session(*arguments, status=1).stderr)
        refused = session("new", "--from", __file__, status=1).stderr.decode()
        self.assertIn(f"{__file__}: this is not a snapshot of fumehood", refused)
        refused = session("exec", name, "--memory", "64M", "--", "true", status=2).stderr
        self.assertIn(b"option --memory means nothing to `fumehood session exec`\nhint: it is for: new", refused)
        many = ["--env", "A=1"] * 40
        refused = session("exec", name, *many, "--memory", "64M", "--", "true", status=2).stderr
        self.assertIn(b"option --memory means nothing", refused)
        for wrong in ("", "a:b", "a/b", "-x", "a\nb", "a\x1b[31m", "n" * 64):
            for arguments in (["new", "--name=" + wrong], ["branch", "--name=" + wrong, name]):
                told = session(*arguments, status=1).stderr
                self.assertIn(b"cannot be a session's name\nhint: a name has 1 to 63 bytes", told)
                self.assertNotIn(b"\x1b", told)
        for option in ("--lease", "--memory", "--disk", "--processes"):
            self.assertIn(f"option {option}: at least".encode(), session("new", option, "0", status=2).stderr)
        for option in ("--wall-time", "--cpu-time", "--output", "--command-memory"):
            self.assertIn(f"option {option}: at least".encode(), session("exec", option, "0", name, "--", "true", status=2).stderr)
        for wrong in ("FOO", "=x", ""):
            self.assertIn(b"is not NAME=VALUE", session("exec", "--env", wrong, name, "--", "true", status=2).stderr)
        self.assertIn(f"it is called as: {FUMEHOOD} session ls S[:DIR]", session("ls", name, "x", status=2).stderr.decode())
        between = session("cp", name + ":a", name + ":b", status=1).stderr.decode()
        self.assertIn(f"{FUMEHOOD} session cp {name}:a - | {FUMEHOOD} session cp - {name}:b", between)

    def test_of_sessions_of_one_name_that_are_made_at_once_one_is(self):
        name = self.name + "-once"
        makers = [subprocess.Popen([FUMEHOOD, "session", "new", "--name", name, "--lease", "60"], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(6)]
        self.addCleanup(session, "rm", name, status=None)
        told = [m.communicate(timeout=support.TIMEOUT)[1] for m in makers]
        self.assertEqual(sorted(m.returncode for m in makers), [0] + [1] * 5, told)
        self.assertEqual(sum(b"session that is named " + name.encode() in one for one in told), 5, told)
        self.assertEqual([s["name"] for s in json.loads(session("list", "--json").stdout)].count(name), 1)

    def test_a_shell_whose_input_is_over_ends(self):
        for given, told in ((b"", b""), (b"echo $((6 * 7)).\nexit 3\n", b"42."), (b"cat\nfor cat", b"for cat")):
            done = session("attach", self.name, stdin=given, status=3 if b"exit" in given else 0)
            self.assertIn(told, done.stdout)

    def test_a_shell_in_a_terminal_ends_when_its_command_is_asked_to_end(self):
        """Also at the moment at which it begins to wait for its next line, when bash does not see a signal: one of twenty."""
        for _ in range(20):
            with subprocess.Popen([FUMEHOOD, "session", "attach", self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT) as child:
                self.addCleanup(child.kill)
                child.stdin.write(b"echo re''ady\n")
                child.stdin.flush()
                seen = b""
                while b"ready" not in seen:
                    seen += os.read(child.stdout.fileno(), 65536)
                child.terminate()
                self.assertEqual(child.wait(support.TIMEOUT), 128 + signal.SIGHUP)

    def test_a_detached_command_is_attached_to(self):
        process = session("exec", "-d", "--tag", "worker", self.name, "--", "sh", "-c",
                          "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 4").stdout.decode().strip()
        self.assertEqual(len(process), 32)
        session("exec", self.name, "--", "touch", "go")
        done = session("attach", self.name, "worker", status=4)
        self.assertEqual(done.stdout, b"begun\nover\n")
        for option, heard in (("-d", b""), ("-di", b"given")):
            process = session("exec", option, self.name, "--", "cat").stdout.decode().strip()
            self.assertEqual(session("attach", self.name, process, stdin=b"given").stdout, heard)

    def test_a_program_in_a_terminal_is_left_by_keys_and_joined_again(self):
        def joined(*arguments):
            pid, terminal = pty.fork()
            if pid == 0:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 77, 0, 0))
                os.execve(FUMEHOOD, [FUMEHOOD, "session", *arguments], ENVIRONMENT)
            self.addCleanup(os.close, terminal)
            return pid, terminal

        def read(terminal, word):
            seen = b""
            with contextlib.suppress(OSError):      # the terminal's end
                while word not in seen and select.select([terminal], [], [], support.TIMEOUT)[0] and (piece := os.read(terminal, 4096)):
                    seen += piece
            self.assertIn(word, seen)
        pid, terminal = joined("exec", "-it", "--tag", "stays", self.name, "--", "sh", "-c",
                               "stty -echo raw rows 5; echo ready; dd bs=1 count=3 | od -c; stty cooked; while [ ! -e go ]; do sleep 0.05; done; "
                               "echo left; read line; stty size; exit 6")
        read(terminal, b"ready")
        os.write(terminal, b"a\x10")                # the first key alone is the program's, once another one follows
        os.write(terminal, b"b")
        read(terminal, b"a 020   b")
        os.write(terminal, b"\x10\x11")
        read(terminal, b"the program runs on; `")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        session("exec", self.name, "--", "touch", "go")
        pid, terminal = joined("attach", self.name, "stays")
        read(terminal, b"left")                     # what it wrote while it was alone
        os.write(terminal, b"go on\r")
        read(terminal, b"31 77")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 6)

    def test_words_of_other_tools_are_told_ours(self):
        for word, ours in (("create", "new"), ("stop", "rm"), ("shell", "attach"), ("fork", "branch"), ("upload", "cp")):
            self.assertIn(f"did you mean `{FUMEHOOD} session {ours}`", session(word, self.name, status=2).stderr.decode())

    def test_who_attaches_takes_the_output_over_and_the_other_is_told(self):
        def joined(*arguments):
            child = subprocess.Popen([FUMEHOOD, "session", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=ENVIRONMENT)
            self.addCleanup(child.communicate)
            self.addCleanup(child.kill)
            return child

        first = joined("exec", "--tag", "shared", self.name, "--", "sh", "-c",
                       "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 4")
        self.assertEqual(first.stdout.readline(), b"begun\n")
        second = joined("attach", self.name, "shared")
        self.assertIn(b"somebody else has attached", first.communicate(timeout=support.TIMEOUT)[1])
        self.assertEqual(first.returncode, 1)
        third = joined("attach", self.name, "shared")
        self.assertIn(b"somebody else has attached", second.communicate(timeout=support.TIMEOUT)[1])
        session("exec", self.name, "--", "touch", "go")
        self.assertEqual(third.communicate(timeout=support.TIMEOUT), (b"over\n", b""))
        self.assertEqual(third.returncode, 4)

    def test_a_program_that_ends_with_its_session_says_so(self):
        for ending in (["rm"], ["exec", "--", "sh", "-c", "kill -9 -1"]):
            name = self.name + "-" + ending[0]
            session("new", "--name", name)
            self.addCleanup(session, "rm", name, status=None)
            child = subprocess.Popen([FUMEHOOD, "session", "exec", name, "--", "sh", "-c", "echo begun; exec sleep 600"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
            self.addCleanup(child.communicate)
            self.addCleanup(child.kill)
            self.assertEqual(child.stdout.readline(), b"begun\n")
            session(ending[0], name, *ending[1:], status=None)
            said = child.communicate(timeout=support.TIMEOUT)[1].decode()
            self.assertEqual(child.returncode, 137)
            self.assertEqual("session %s ended while the program ran" % name in said, ending == ["rm"], said)

    def test_files_in_and_out(self):
        data = os.urandom(700000)
        with open(self.path("data"), "wb") as f:
            f.write(data)
        session("cp", self.path("data"), self.name + ":deep/folder/")
        session("cp", self.name + ":deep/folder/data", self.path("back"))
        with open(self.path("back"), "rb") as f:
            self.assertEqual(f.read(), data)
        session("cp", "-", self.name + ":note", stdin=b"from a pipe")
        self.assertEqual(session("cp", self.name + ":note", "-").stdout, b"from a pipe")
        names = {e["name"]: e for e in json.loads(session("ls", "-r", "--json", self.name).stdout)}
        self.assertEqual(names["deep/folder/data"]["size"], len(data))
        self.assertEqual(names["deep"]["type"], "folder")
        self.assertIn(b"note", session("ls", self.name).stdout)
        self.assertIn(b"is a device", session("cp", self.name + ":/dev/null", "-", status=1).stderr)
        with open(self.path("co:lon"), "wb"):
            here = subprocess.run([FUMEHOOD, "session", "cp", "co:lon", self.name + ":"], cwd=self.folder.name, capture_output=True, env=ENVIRONMENT)
        self.assertIn(b"hint: the file of that name here is ./co:lon", here.stderr)
        self.assertIn(b"is a folder", session("cp", self.folder.name, self.name + ":x", status=1).stderr)
        self.assertIn(b"cannot read missing", session("cp", self.name + ":missing", self.path("m"), status=1).stderr)
        self.assertFalse(os.path.exists(self.path("m")))

    def test_the_folder_of_a_new_session_is_empty_in_every_language(self):
        for language in ("python", "bash"):
            name = "%s-%s" % (self.name, language)
            session("new", "--name", name, "-l", language)
            self.addCleanup(session, "rm", name, status=None)
            self.assertEqual(session("ls", name).stdout, b"", language)
            self.assertEqual(session("run", name, "-l", language, "-c", "print(1)" if language == "python" else "echo 1").stdout, b"1\n")

    def test_a_program_is_run_in_its_language(self):
        with open(self.path("a.py"), "w") as f:
            f.write("import os, sys\nprint(sys.argv[1:], input(), sorted(os.listdir('.')))\nsys.exit(4)")
        session("exec", self.name, "--", "touch", "kept")
        done = session("run", self.name, self.path("a.py"), "--", "x", "-y", stdin=b"given", status=4)
        self.assertEqual(done.stdout, b"['x', '-y'] given ['a.py', 'kept']\n")
        again = session("run", "-w", "/tmp", "-e", "WORD=said", self.name, "-l", "bash", "-c", "pwd; echo $WORD $1; ls -A", "--", "arg")
        self.assertRegex(again.stdout.decode(), r"^/tmp\nsaid arg\n\.run-[0-9a-f]{8}\.sh\n$")
        self.assertEqual(session("run", self.name, "-l", "sh", "-", stdin=b"echo from stdin").stdout, b"from stdin\n")
        self.assertEqual(session("exec", self.name, "--", "ls", "-A").stdout, b"a.py\nkept\n")
        late = session("run", "--wall-time", "0.3", self.name, "-l", "bash", "-c", "sleep 60", status=137)
        self.assertIn(b"wall_time_limit", late.stderr)

    @unittest.skipUnless(shutil.which("cc"), "needs the program cc (package gcc)")
    def test_a_program_that_is_compiled_leaves_nothing(self):
        session("exec", self.name, "--", "sh", "-c", "echo mine > main")
        code = '#include <stdio.h>\nint main(int n, char **a) { printf("%d %s\\n", n, a[1]); return 9; }'
        self.assertEqual(session("run", self.name, "-l", "c", "-c", code, "--", "main", status=9).stdout, b"2 main\n")
        self.assertEqual(session("exec", self.name, "--", "sh", "-c", "ls -A; cat main").stdout, b"main\nmine\n")
        wrong = session("run", self.name, "-l", "c", "-c", "int main({", status=1)
        self.assertIn(b"error", wrong.stderr)
        told = json.loads(session("run", "--json", self.name, "-l", "c", "-c", "int main({", status=1).stdout)
        self.assertEqual((told["status"], told["exit_code"], told["fired"]), ("compile_error", None, []))

    def test_commands_and_programs_are_told_as_json(self):
        told = json.loads(session("exec", "--json", self.name, "--", "sh", "-c", "cat; printf '\\377' >&2; exit 3", stdin=b"in",
                                  status=3).stdout)
        self.assertEqual((told["status"], told["exit_code"], told["signal"], told["stdout"], told["stderr_base64"]),
                         ("runtime_error", 3, None, "in", "/w=="))
        told = json.loads(session("run", "--json", "--wall-time", "0.3", self.name, "-l", "bash", "-c", "echo first; sleep 60",
                                  status=137).stdout)
        self.assertEqual((told["status"], told["signal"], told["fired"], told["stdout"]),
                         ("wall_time_limit", "SIGKILL", ["wall_time"], "first\n"))
        self.assertGreater(told["usage"]["wall_ms"], 250)

    def test_programs_that_cannot_be_run_name_the_mend(self):
        for arguments, text in ((["-c", "x"], b"add -l LANG"), (["-l", "cobol", "-c", "x"], b"known: bash"), ([], b"-c CODE"),
                                ([self.path("none.py")], b"none.py"), (["-d", "-l", "bash", "-c", "x"], b"session exec -d"),
                                ([self.folder.name], b"a folder")):
            with self.subTest(arguments):
                self.assertIn(text, session("run", self.name, *arguments, status=1).stderr)

    def test_a_name_that_would_speak_to_the_terminal_is_shown_escaped(self):
        session("exec", self.name, "--", "sh", "-c", "touch \"$(printf 'a\\033[31mb')\"")
        self.assertNotIn(b"\x1b[31m", session("ls", self.name).stdout)

    def test_pause_branch_and_snapshot(self):
        session("exec", self.name, "--", "sh", "-c", "echo one > f")
        session("pause", self.name)
        self.assertIn(b"paused", session("exec", self.name, "--", "true", status=1).stderr)
        self.assertIn("paused", [s["state"] for s in json.loads(session("list", "--json").stdout) if s["name"] == self.name])
        session("resume", self.name)
        session("exec", "-d", "--tag", "stays", self.name, "--", "sleep", "100")
        made = session("branch", "--json", self.name, self.name + "-b")
        self.assertEqual([(p["tag"], p["command"]) for p in json.loads(made.stdout)["not_branched"]], [("stays", "sleep 100")])
        self.assertIn(b"not in the branch", made.stderr)
        self.addCleanup(session, "rm", self.name + "-b", status=None)
        session("exec", self.name + "-b", "--", "sh", "-c", "echo two > f")
        self.assertEqual(session("exec", self.name, "--", "cat", "f").stdout, b"one\n")
        session("snapshot", self.name, self.path("kept"))
        session("new", "--name", self.name + "-c", "--from", self.path("kept"))
        self.addCleanup(session, "rm", self.name + "-c", status=None)
        self.assertEqual(session("exec", self.name + "-c", "--", "cat", "f").stdout, b"one\n")
        with open(self.path("kept"), "r+b") as f:
            f.truncate(os.path.getsize(self.path("kept")) - 20)
        torn = session("new", "--name", self.name + "-d", "--from", self.path("kept"), status=1)
        self.assertIn(b"cannot import", torn.stderr)
        self.assertNotIn((self.name + "-d").encode(), session("list", "--json").stdout)

    def test_wrong_calls_say_what_is_right(self):
        for arguments, text in ((["frob"], b"session cannot frob: it needs one of"), (["exec", "x"], b"too few"), (["new", "extra"], b"too many"),
                                (["cp", "a", "b"], None)):
            done = session(*arguments, status=None)
            self.assertIn(done.returncode, (1, 2))
            if text:
                self.assertIn(text, done.stderr)


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(support.TOP / "python"))
        import fumehood
        cls.fumehood = fumehood

    def test_the_folder_of_a_new_sandbox_is_empty(self):
        for language in (None, "python", "bash"):
            with self.fumehood.Sandbox(language) as box:
                self.assertEqual([i.name for i in box.files.list()], [], language)
        with self.fumehood.Sandbox(plan=self.fumehood.plan(language="python", no_program=True, files={"mine": b"1"})) as box:
            self.assertEqual([i.name for i in box.files.list()], ["mine"])
            self.assertEqual(box.exec(["python3", "-c", "print(open('mine').read())"]).stdout, b"1\n")

    def test_files_processes_and_branches(self):
        with self.fumehood.Client() as client, self.fumehood.Sandbox(client=client) as box:
            box.files.write("d/f", b"hello")
            self.assertEqual(box.files.read("d/f"), b"hello")
            with box.files.open("d/f", "r", offset=1, length=3) as f:
                self.assertEqual(f.read(), b"ell")
            with box.files.open("d/f", "r+", offset=1) as f:
                f.write(b"E")
            self.assertEqual(box.exec(["cat", "d/f"]).stdout, b"hEllo")
            box.files.link("f", "d/l")
            self.assertEqual([(i.name, i.type) for i in box.files.list("d")], [("f", "regular"), ("l", "link")])
            self.assertEqual(box.files.stat("d/l", follow=False).target, "f")
            box.files.change("d/f", mode=0o600, mtime=1000)
            self.assertEqual((box.files.stat("d/f").mode, box.files.stat("d/f").mtime), (0o600, 1000))
            box.exec(["python3", "-c", "import os; os.makedirs('long/x'); os.chdir('long'); up = 'x/../' * 800; os.symlink(up + 'x', '0')\n"
                      "for i in range(38): os.symlink(up + str(i), str(i + 1))\nfor i in range(60): os.symlink('38', 'to%d' % i)"])
            self.assertEqual(len(box.files.list("long")), 100)     # that takes no more time than a helper has
            for when in (1500000000.25, -5.75, 1764264000.1234567):
                box.files.change("d/f", mtime=when)
                self.assertEqual(box.files.stat("d/f").mtime, when)
            box.files.rename("d", "e")
            self.assertFalse(box.files.exists("d"))
            process = box.spawn(["sh", "-c", "read x; exit 5"], tag="waits", more_env={"A": "b"})
            self.assertEqual([(p.tag, p.pid, p.exit) for p in box.processes() if p.exit is None],
                             [("waits", process.pid, None)])
            box.files.link("e/l", "e/same link", symbolic=False)
            branch = box.branch(name="second")
            self.addCleanup(branch.destroy)
            self.assertEqual([(p.tag, p.pid) for p in branch.not_branched], [("waits", process.pid)])
            self.assertEqual(branch.files.stat("e/same link", follow=False).links, 2)
            branch.files.remove("e", recursive=True)
            self.assertTrue(box.files.exists("e/f"))
            self.assertIn(box.pause(), ("freezer", "signals"))
            self.assertTrue(box.usage().paused)
            box.resume()
            process.kill_tree()
            self.assertEqual(process.wait().signal, 9)
            with tempfile.TemporaryFile() as file:
                self.assertEqual(box.snapshot(file), 0)
                file.seek(0)
                with self.fumehood.Sandbox.restore(file, client=client) as again:
                    self.assertEqual(again.files.read("e/f"), b"hEllo")
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "kept")
                self.assertEqual(box.snapshot(path), 0)
                with self.fumehood.Sandbox.restore(path, client=client) as again:
                    self.assertEqual(again.files.read("e/f"), b"hEllo")
                with self.assertRaises(FileNotFoundError):
                    self.fumehood.Sandbox.restore(path + "-none", client=client)
            with self.assertRaisesRegex(self.fumehood.Error, "No space left"):
                box.snapshot("/dev/full")
            with self.assertRaises(self.fumehood.NotFoundError):
                box.connect(9)

    def test_a_branch_and_a_snapshot_have_the_same_tree(self):
        make = """
            mkdir -p a/same a/other b/same; echo 1 > a/same/f; echo 2 > b/same/f; echo 3 > a/other/f; echo 4 > a/f
            printf '#!/bin/sh' > b/tool; chmod 755 b/tool; echo secret > b/closed; chmod 600 b/closed
            truncate -s 5M a/empty; printf x > a/ends-empty; truncate -s 3M a/ends-empty
            dd if=/dev/urandom of=b/large bs=100001 count=7 conv=notrunc seek=3 2>/dev/null
            ln a/f b/same/again; ln -s ../a/f b/link; ln -s /nowhere a/dangling; mkfifo -m 640 a/pipe
            python3 -c 'import os; os.setxattr("a/other/f", "user.what", b"kept")' 2>/dev/null
            chmod 444 a/other/f; touch -d @1000.123456789 a/f b/large b/same; chmod 500 a/same
        """
        look = """
import hashlib, os
for at, folders, files in sorted(os.walk(".")):
    for name in sorted(folders + files) + ["."]:
        path = os.path.join(at, name)
        st = os.lstat(path)
        print(path, oct(st.st_mode), st.st_nlink, st.st_uid, st.st_gid, st.st_mtime_ns, st.st_size if name in files else "",
              os.readlink(path) if os.path.islink(path) else "", st.st_blocks <= 256 if name.endswith("empty") else "",
              [(x, os.getxattr(path, x)) for x in os.listxattr(path, follow_symlinks=False)] if name == "f" else "",
              hashlib.sha256(open(path, "rb").read()).hexdigest() if os.path.isfile(path) else "")
"""
        with self.fumehood.Client() as client, self.fumehood.Sandbox("python", client=client) as box:
            self.assertEqual(box.exec(["sh", "-ec", make]).exit_code, 0)
            there = box.exec(["python3", "-c", look]).text
            self.assertEqual(len(there.splitlines()), 24, there)
            with box.branch() as branch:
                self.assertEqual(branch.exec(["python3", "-c", look]).text, there)
                with branch.branch() as again:
                    self.assertEqual(again.exec(["python3", "-c", look]).text, there)
            with tempfile.TemporaryFile() as file:
                self.assertEqual(box.snapshot(file), 0)
                file.seek(0)
                with self.fumehood.Sandbox.restore(file, client=client) as again:
                    self.assertEqual(again.exec(["python3", "-c", look]).text, there)

    def test_a_program_that_ends_with_its_sandbox_is_an_error_of_its_own(self):
        with self.fumehood.Client() as client:
            with self.fumehood.Sandbox(client=client) as box:
                self.assertEqual(box.exec(["sh", "-c", "kill -9 $$"]).signal, 9, "the control")
                process = box.spawn(["sh", "-c", "echo begun; exec sleep 600"], wall_time=None)
                self.assertEqual(process.read(), b"begun\n")
                threading.Timer(0.1, box.destroy).start()
                with self.assertRaisesRegex(self.fumehood.NotFoundError, "sandbox ended while the program ran"):
                    process.wait()
            box = self.fumehood.Sandbox(client=client, lease=1)
            with self.assertRaisesRegex(self.fumehood.NotFoundError, "sandbox ended while the program ran|no such sandbox"):
                box.exec(["sleep", "600"])

    def test_a_watch(self):
        with self.fumehood.Client() as client, self.fumehood.Sandbox(client=client) as box:
            with box.files.watch(recursive=True) as watch:
                box.files.write("a/b", b"x")
                names = set()
                while not {"a", "a/b"} <= names:
                    names.add(watch.read(20).name)

    def test_asyncio(self):
        from fumehood import aio

        async def main():
            async with aio.Sandbox(client=client) as box:
                await box.files.write("f", b"x")
                self.assertEqual([i.name for i in await box.files.list()], ["f"])
                async with await box.files.watch() as watch:
                    await box.exec(["touch", "g"])
                    self.assertEqual((await watch.read(20)).name, "g")
                branch = await box.branch()
                self.assertEqual(await branch.files.read("f"), b"x")
                self.assertEqual((branch.not_branched, branch.left_out), ([], []))
                await branch.destroy()
                self.assertGreater((await box.usage()).age, 0)
                await box.put_files({"h": b"h"})
                running = await box.spawn(["cat"])
                self.assertGreater(running.pid, 1)
                again = await (await aio.Sandbox.attach(box.id, client)).attach_process(running.id)
                self.assertEqual(again.pid, running.pid)
                await running.kill()
                self.assertEqual((await running.wait(20)).signal, 9)
                context = await box.context()
                self.assertEqual([c.id for c in box.contexts()], [context.id])
                await context.remove()
                self.assertTrue(context.removed)
                self.assertEqual(box.contexts(), [])
            with self.assertRaisesRegex(self.fumehood.ArgumentError, "does not exist yet"):
                aio.Sandbox(client=client).id
            self.assertEqual(aio.Sandbox(client=client).contexts(), [])

        with self.fumehood.Client() as client:
            asyncio.run(main())

    def test_the_awaitable_classes_have_every_word(self):
        """But those of our own code, which no text describes, and those that the awaitable one has another way for."""
        from fumehood import aio, context, files, prefork, process, sandbox
        ours = {"forget", "settle", "arrived", "unread", "alive_here"}

        def words(kind):
            return {name for name in dir(kind) if not name.startswith("_") and not name.endswith("_until")} - ours

        for name, of in {"Sandbox": sandbox, "Process": process, "Context": context, "File": files, "Files": files, "Watcher": files,
                         "Prefork": prefork}.items():
            twin = getattr(aio, name)
            reached = words(twin)
            if "__getattr__" in vars(twin):     # it names what it hands on
                reached |= {word for word in words(getattr(of, name)) if word in inspect.getsource(twin.__getattr__)}
            if name == "Files":                 # it hands on every method
                reached |= {word for word in words(files.Files) if callable(getattr(twin(None), word))}
            if name in ("Process", "Prefork"):  # what it takes over as it is made
                reached |= {word for word in words(getattr(of, name)) if "self.%s" % word in inspect.getsource(twin.__init__)}
            self.assertEqual(words(getattr(of, name)) - reached, set(), name)


if __name__ == "__main__":
    unittest.main()
