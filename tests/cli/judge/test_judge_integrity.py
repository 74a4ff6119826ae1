# SPDX-License-Identifier: MIT
"""That a Python verdict cannot be forged, tried from outside: what each process of a judgement holds in memory, tests whose
comparisons are altered, bytes that no driver writes, and faults at every step."""
import ast
import contextlib
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import proc
import support

FINAL = "a verdict that is forged once is forged"

QUIET = ["--no-progress-bar", "--no-self-check", "--json"]
GUEST = support.TOP / "guest" / "python"


def lines(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as f:
        return [json.loads(line) for line in f]


class Judging(support.TempDir):
    def start(self, problems, samples, *args):
        self.write("problems.jsonl", "".join(json.dumps(p) + "\n" for p in problems))
        self.write("samples.jsonl", "".join(json.dumps({"task_id": t, "completion": c}) + "\n" for t, c in samples))
        (self.dir / "results.jsonl").unlink(missing_ok=True)
        command = [support.PROGRAM, "judge", "--problems", self.dir / "problems.jsonl", self.dir / "samples.jsonl", "-o",
                   self.dir / "results.jsonl", *QUIET, *args]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (child.poll() is None and child.kill(), child.communicate()))
        return child

    def rows(self):
        return [json.loads(line) for line in (self.dir / "results.jsonl").read_text().splitlines()]

    def judge(self, problems, samples, *args):
        child = self.start(problems, samples, *args)
        out, err = child.communicate(timeout=1800)
        self.status = child.returncode
        self.assertIn(child.returncode, (0, 3), out + err)
        self.summary = json.loads(out)
        rows = self.rows()
        self.assertEqual([r["index"] for r in rows], list(range(len(samples))))
        return rows


# ------------------------------------------------------------------------------------------------------------- canary
def holds(pid, words):
    """Which of the words a process has: in memory, arguments, environment, or files that it could open."""
    found = set()

    def look(data):
        found.update(w for w in words if w in data)
    with proc.memory(pid) as memory:
        for line in proc.read(pid, "maps").decode().splitlines():
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line)
            begin, end, mode = int(m[1], 16), int(m[2], 16), m[3]
            if "r" not in mode or "vvar" in line or "vsyscall" in line or begin >= 1 << 63:
                continue
            while begin < end:
                n = min(end - begin, 16 << 20)
                try:
                    memory.seek(begin)
                    look(memory.read(n))
                except OSError:
                    pass
                begin += n
    for name in "cmdline", "environ":
        look(proc.read(pid, name))
    for top in "home/user", "tmp", "dev/shm":
        for folder, _, files in os.walk(f"/proc/{pid}/root/{top}"):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    look(f.read(16 << 20))
    return found


def in_sandboxes(of):
    """Descendants in another pid namespace than ours."""
    mine = proc.link("self", "ns/pid")
    found = []
    for pid in proc.descendants(of):
        with contextlib.suppress(PermissionError):
            if proc.link(pid, "ns/pid") not in (mine, None):
                found.append(pid)
    return found


@unittest.skipIf(support.SANITIZED, "not in this build: its engine takes the processes down before they can be looked at often enough")
class Canary(Judging):
    def test_no_process_holds_both_the_program_and_what_is_expected(self):
        words = {name: f"{name}-{os.urandom(8).hex()}".encode() for name in ("PROGRAM", "ARGUMENT")}
        expected = [f"EXPECTED-{os.urandom(8).hex()}" for _ in range(3)]
        # the program answers correctly, by means from which the test cannot be read, after a pause in which it is
        # inspected
        argument = words["ARGUMENT"].decode()
        test = "def check(candidate):\n" + "".join(
            f"    assert candidate('{argument}-{word[::-1]}') == '{word}'\n" for word in expected)
        completion = f"""
    mark = '{words['PROGRAM'].decode()}'
    import time
    time.sleep(1.2)
    return x.split('-', 2)[2][::-1]

import atexit, time
atexit.register(time.sleep, 1)
"""
        problem = {"task_id": "T/0", "prompt": "def f(x):\n", "entry_point": "f", "test": test}
        child = self.start([problem], [("T/0", completion)], "--cpu-time", "20", "--wall-time", "60")
        seen = {"program": 0, "expected": 0}
        secrets = [w.encode() for w in expected]
        while child.poll() is None:
            for pid in in_sandboxes(child.pid):
                try:
                    found = holds(pid, [*words.values(), *secrets, *(s[::-1] for s in secrets)])
                except OSError:
                    continue  # it ended, or is init, which cannot be inspected
                program = words["PROGRAM"] in found
                # an argument contains its answer reversed: the program must not know answers to arguments that it did
                # not get yet
                asked = sum(s[::-1] in found for s in secrets)
                if program and found & set(secrets[asked:]):    # it may have got an argument while we read
                    try:
                        asked = len(holds(pid, [s[::-1] for s in secrets]))
                    except OSError:
                        continue
                if program:
                    self.assertEqual(found & set(secrets[asked:]), set())
                if program:
                    seen["program"] += words["ARGUMENT"] in found
                elif secrets[0] in found:
                    seen["expected"] += words["ARGUMENT"] in found
            time.sleep(0.05)
        self.assertEqual(self.rows()[0]["verdict"], "passed", self.rows()[0]["reason"])
        # the controls: the candidate was inspected and has its argument; the judge was inspected and has the expected
        # values
        self.assertGreater(seen["program"], 0)
        self.assertGreater(seen["expected"], 0)


# ----------------------------------------------------------------------------------------------------- judge mutation
class Alter(ast.NodeTransformer):
    """Negates the n-th comparison of an assert."""
    other = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
             ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}

    def __init__(self, n):
        self.n, self.count = n, 0

    def visit_Assert(self, node):
        if isinstance(node.test, ast.Constant):
            return node
        mine = self.count == self.n
        self.count += 1
        if mine:
            test = node.test
            if isinstance(test, ast.Compare) and len(test.ops) == 1:
                test.ops = [self.other[type(test.ops[0])]()]
            else:
                node.test = ast.UnaryOp(ast.Not(), test)
        return node


class AlterValue(Alter):
    """Changes what the n-th comparison expects: another value, or a tolerance that no value meets."""

    def visit_Assert(self, node):
        test = node.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.Lt, ast.LtE)):
            return node
        mine = self.count == self.n
        self.count += 1
        if mine:
            test.comparators[0] = (another if isinstance(test.ops[0], ast.Eq) else impossible)(test.comparators[0])
        return node


def another(expected):
    """An expression similar to the given one, with another value."""
    value = expected.value if isinstance(expected, ast.Constant) else None
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, (int, float)):
        return ast.BinOp(expected, ast.Add(), ast.Constant(1))
    if isinstance(value, str):
        return ast.BinOp(expected, ast.Add(), ast.Constant(" "))
    if isinstance(expected, (ast.List, ast.Tuple)):
        return type(expected)([*expected.elts, ast.Constant(0)], ast.Load())
    return ast.List([expected], ast.Load())


def impossible(tolerance):
    return ast.UnaryOp(ast.USub(), ast.Call(ast.Name("abs", ast.Load()), [tolerance], []))


def altered(problem):
    """The problem once for each comparison of its test, with that comparison negated or its expected value changed."""
    for how in Alter, AlterValue:
        n = 0
        while True:
            tree = ast.parse(problem["test"])
            alter = how(n)
            tree = ast.fix_missing_locations(alter.visit(tree))
            if n >= alter.count:
                break
            yield {**problem, "task_id": f"{problem['task_id']}#{how.__name__}{n}", "test": ast.unparse(tree)}
            n += 1


@support.once
class Mutation(Judging):
    def check(self, problems, allowed=()):
        """With any comparison changed the reference fails; unchanged, it passes (the control)."""
        samples = [(p["task_id"], p["canonical_solution"]) for p in problems]
        self.assertEqual({r["verdict"] for r in self.judge(problems, samples)}, {"passed"})
        changed = [a for p in problems for a in altered(p)]
        self.assertGreater(len(changed), len(problems))
        rows = self.judge(changed, [(p["task_id"], p["canonical_solution"]) for p in changed])
        self.assertEqual([r["task_id"] for r in rows if r["passed"] and r["task_id"] not in allowed], [])

    @support.release_only
    def test_altered_comparisons_fail_the_reference(self):
        self.check([{"task_id": "T/0", "prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return x + 0.5\n",
                     "test": "def check(f):\n    assert f(1) == 1.5\n    assert abs(f(2) - 2.5) < 1e-6\n    assert f(3)\n"
                             "    for i in range(3):\n        assert f(i) != i\n"}])

    @support.release_only
    def test_altered_comparisons_of_human_eval(self):
        problems = lines(support.shared("data", "humaneval", "HumanEval.jsonl.gz"))
        if not support.FULL:
            problems = problems[::40]
        self.check(problems)


# ------------------------------------------------------------------------------------------------- protocol adversary
def local_pair(reply, test, program_reads=True):
    """Runs the judge's driver alone, without a sandbox; the candidate is the bytes `reply`. Returns its message and
    exit status."""
    def part(*texts, flag=None):
        sizes = [len(t) for t in texts] + ([flag] if flag is not None else [])
        return b"".join(b"%015d\n" % s for s in sizes) + b"".join(texts)
    source = f"import sys\nsys.path.insert(0, {str(GUEST)!r})\nsys.dont_write_bytecode = True\nfrom split_judge import main\nmain()\n"
    place = ("import os, sys\nfds = [os.dup(int(a)) for a in sys.argv[1:4]]\n"
             "import fcntl\nfds = [fcntl.fcntl(f, fcntl.F_DUPFD, 60) for f in fds]\n"
             "for i, f in enumerate(fds): os.dup2(f, 3 + i, True)\n"
             "os.closerange(6, 200)\nos.execv(sys.executable, [sys.executable, '-I', '-S', '-c', sys.argv[4]])\n")
    from_read, from_write = os.pipe()
    to_read, to_write = os.pipe()
    driver_read, driver_write = os.pipe()
    child = subprocess.Popen([support.PYTHON, "-c", place, str(from_read), str(to_write), str(driver_write), source],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             pass_fds=(from_read, to_write, driver_write))
    for fd in from_read, to_write, driver_write:
        os.close(fd)
    child.stdin.write(b"0" * 16 + part(b"f", b"", test.encode(), flag=0))
    child.stdin.close()
    try:
        asked = os.read(to_read, 1 << 16)
        data = reply(asked[4:]) if callable(reply) else reply
        try:
            os.write(from_write, data)
        except BrokenPipeError:
            pass
    finally:
        os.close(from_write)
    message = b""
    while piece := os.read(driver_read, 1 << 16):
        message += piece
    os.close(driver_read)
    os.close(to_read)
    child.stderr.close()
    return message, child.wait(30)


def frame(data):
    return len(data).to_bytes(4, "little") + data


@support.once
class Adversary(unittest.TestCase):
    TEST = "assert f(1) == 'expected'"

    def passes(self, reply):
        message, status = local_pair(reply, self.TEST)
        self.assertEqual(message.startswith(b"passed "), status == 0)
        return status == 0

    def test_a_right_answer_passes(self):
        self.assertTrue(self.passes(lambda asked: frame(asked[1:9] + b"vs\x08\0\0\0expected")))

    def test_a_cut_answer_never_passes(self):
        for cut in (0, 1, 3, 4, 5, 11, 12, 13, 14, 17, 18, 25):
            self.assertFalse(self.passes(lambda asked: frame(asked[1:9] + b"vs\x08\0\0\0expected")[:cut]), cut)

    def test_random_bytes_never_pass(self):
        rng = random.Random(6)
        for i in range(200 if support.FULL else 12):
            n = rng.choice((1, 4, 12, 100, 5000))
            self.assertFalse(self.passes(rng.randbytes(n)))
            self.assertFalse(self.passes(lambda asked: frame(asked[1:9] + b"v" + rng.randbytes(n))))

    def test_the_decoder_reads_or_refuses_whatever_comes_in_bounded_time_and_memory(self):
        import resource
        space = {}
        exec(compile((GUEST / "split_codec.py").read_text(), "split_codec.py", "exec"), space)
        rng = random.Random(7)
        tags = [bytes([t]) for t in b"NTFiIfcsbylAGtSZdrRkvmqDQOJ"]
        values = [None, True, 1, -2 ** 70, 1.5, 1j, "ä" * 100, b"x", bytearray(b"y"), [1, 2, 3, 4], [1.5] * 5, (1, [2]), {1, 2},
                  frozenset([3]), {"a": [1], (1, 2): {}}, range(3), {1: 2}.keys(), {1: 2}.values(), {1: 2}.items()]
        seeds = [space["encode"](v, lambda value, depth: self.assertTrue(space["put_known"](value, depth))) for v in values]

        def grammar(depth):
            tag = rng.choice(tags)
            n = rng.choice((0, 1, 2, 3, 7, 2 ** 31, 2 ** 32 - 1))
            count = n.to_bytes(4, "little")
            inner = b"".join(grammar(depth + 1) for _ in range(min(n, 3))) if depth < 6 else b"N"
            return tag + rng.choice((b"", count, count + inner, inner, rng.randbytes(8)))
        refused = read = 0
        began = time.process_time()
        for i in range(100000 if support.FULL else 6000):
            if i % 2:
                data = bytearray(rng.choice(seeds))
                for _ in range(rng.randrange(1, 4)):
                    at = rng.randrange(len(data))
                    data[at:at + rng.randrange(2)] = rng.choice((rng.randbytes(1), rng.choice(tags), b""))
                    data = data or bytearray(b"N")
            else:
                data = grammar(0)
            try:
                space["decode"](bytes(data), 0, {})
                read += 1
            except space["Malformed"]:
                refused += 1
        self.assertGreater(refused, 0)
        self.assertGreater(read, 0)
        self.assertLess(time.process_time() - began, 600)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 1 << 21)  # KiB


# -------------------------------------------------------------------------------------------------- fault conservation
@support.root_and_user
class Faults(Judging):
    PROBLEM = {"task_id": "T/0", "prompt": "def f(x):\n", "entry_point": "f",
               "test": "def check(f):\n    for i in range(20):\n        assert f(i) == i + 1\n"}
    WRONG = ["    return x\n", "    return 'x'\n", "    import time; time.sleep(0.02)\n    return x\n", "    raise ValueError\n",
             "    return x + 1 if x < 19 else 0\n"]

    def test_processes_killed_at_any_moment_make_no_pass_and_lose_no_sample(self):
        samples = [("T/0", c) for c in self.WRONG * (20 if support.FULL else 5)]
        rng = random.Random(8)
        child = self.start([self.PROBLEM], samples, "-j", "2")
        killed = 0
        while child.poll() is None:
            # if the judge is killed before there is a session, the command ends with a message and without results
            victims = in_sandboxes(child.pid) if (self.dir / "results.jsonl").exists() else []
            killed += bool(victims) and proc.kill(rng.choice(victims), signal.SIGKILL)
            time.sleep(rng.uniform(0.005, 0.05))
        out = child.communicate()[0]
        self.assertGreater(killed, 3)
        rows = self.rows()
        self.assertEqual([r["index"] for r in rows], list(range(len(samples))))
        self.assertEqual([r for r in rows if r["passed"]], [])
        self.assertEqual(json.loads(out)["samples"], len(samples))

    def test_an_engine_killed_at_any_moment_makes_no_pass_and_loses_no_sample(self):
        samples = [("T/0", c) for c in self.WRONG * 2]
        child = self.start([self.PROBLEM], samples, "-j", "2")
        for delay in (0.05, 0.3, 0.3):
            time.sleep(delay)
            for pid, name in proc.descendants(child.pid).items():
                if name.startswith("fumehood-engine"[:15]):
                    proc.kill(pid, signal.SIGKILL)
                    break
        out = child.communicate()[0]
        if child.returncode not in (0, 3):  # it ended before there was a session, so there is no result to check
            return
        rows = self.rows()
        self.assertEqual([r["index"] for r in rows], list(range(len(samples))))
        self.assertEqual([r for r in rows if r["passed"]], [])
        self.assertEqual(json.loads(out)["samples"], len(samples))


# ------------------------------------------------------------------------------------------------------------ invariance
@support.once
class Invariance(Judging):
    PROBLEMS = [{"task_id": f"T/{i}", "prompt": "def f(x):\n", "entry_point": "f",
                 "test": f"def check(f):\n    assert f({i}) == {i + 1}\n    assert f('a') == 'ab'\n"} for i in range(4)]
    CASES = ["    return x + (1 if isinstance(x, int) else 'b')\n", "    return x + 1\n", "    import os; os._exit(0)\n", "    raise SystemExit\n",
             "    return [x]\n", "    import os; os.abort()\n", "    return (\n", "    x = []\n    x.append(x)\n    return x\n"]

    def verdicts(self, samples, *args):
        rows = self.judge(self.PROBLEMS, samples, "--cpu-time", "10", "--wall-time", "60", *args)
        return {samples[r["index"]]: (r["verdict"], r["reason"], r["integrity"]) for r in rows}

    @support.release_only
    def test_order_jobs_and_load_change_no_verdict(self):
        samples = [(p["task_id"], c) for p in self.PROBLEMS for c in self.CASES]
        first = self.verdicts(samples, "-j", "1")
        self.assertEqual(len({v for v, _, _ in first.values()}), 4)
        shuffled = random.Random(9).sample(samples, len(samples))
        self.assertEqual(self.verdicts(shuffled, "-j", "8"), first)
        load = [subprocess.Popen([support.PYTHON, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
        try:
            for _ in range(20 if support.FULL else 1):
                self.assertEqual(self.verdicts(samples), first)
        finally:
            for p in load:
                p.kill()
                p.wait()


if __name__ == "__main__":
    unittest.main()
