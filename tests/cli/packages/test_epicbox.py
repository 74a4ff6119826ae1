# SPDX-License-Identifier: MIT
"""epicbox's API on fumehood: what its users' programs see, and promptfoo's tutorial with it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.dirname(__file__))
import support
from model_server import ModelServer

PROFILES = """
import epicbox
epicbox.configure(profiles=[
    epicbox.Profile('python', 'python:3.9-alpine'),
    epicbox.Profile('gcc', 'stepik/epicbox-gcc:12'),
    epicbox.Profile('sandbox', 'stepik/epicbox-gcc:12', user='sandbox', read_only=True),
    epicbox.Profile('echo', 'any', command='echo of the profile'),
])
def main(text, **limits):
    return epicbox.run('python', 'python main.py', files=[{'name': 'main.py', 'content': text}],
                       limits=dict({'cputime': 1, 'memory': 64}, **limits))
"""


class Case(support.TempDir):
    def python(self, program, **env):
        """What a program prints as JSON when it runs with our modules first, as under `fumehood with`."""
        text = PROFILES + "import json\ndef show(x): print(json.dumps(x, default=repr))\n" + textwrap.dedent(program)
        self.write("program.py", text)
        done = support.command("with", "--", support.PYTHON, str(self.dir / "program.py"), cwd=self.dir,
                               env={**os.environ, **env})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


@support.root_and_user
@support.release_only
class Results(Case):
    def test_a_program_that_works(self):
        result, = self.python("r = main(b'print(42)'); r['stdout'] = r['stdout'].decode(); r['stderr'] = r['stderr'].decode()"
                              "\nshow(r)")
        self.assertEqual((result["exit_code"], result["stdout"], result["stderr"], result["timeout"], result["oom_killed"]),
                         (0, "42\n", "", False, False))
        self.assertGreater(result["duration"], 0)
        self.assertEqual((result["status"], result["limit"]), ("ok", None))
        self.assertEqual(result["image"], {"asked": "python:3.9-alpine", "used": "host"})

    @support.once
    def test_stdout_and_stderr_are_bytes(self):
        self.assertEqual(self.python("r = main(b'import os; os.write(1, bytes([255, 0]))'); show(repr(r['stdout']))"
                                     "; show(type(r['stderr']).__name__)"), [repr(b"\xff\0"), "bytes"])

    def test_an_endless_loop_is_a_timeout_and_keeps_its_output(self):
        r, = self.python("r = main(b'print(1, flush=True)\\nwhile 1: pass', realtime=100)\n"
                         "show([r['exit_code'], r['stdout'].decode(), r['timeout'], r['oom_killed'], r['stderr'].decode()])")
        self.assertEqual(r[:4], [137, "1\n", True, False])
        self.assertIn("cputime of 1 s", r[4])

    def test_cpu_time_counts_the_children_too(self):
        r, = self.python("r = main(b'import os\\nos.fork(); os.fork()\\nwhile 1: pass', realtime=100)\n"
                         "show([r['timeout'], r['limit'], r['usage']['cpu_ms']])")
        self.assertEqual(r[:2], [True, "cpu_time"])
        self.assertLess(r[2], 1000 + support.bound(100))

    def test_sleeping_too_long_is_a_timeout_without_exit_code(self):
        r, = self.python("r = epicbox.run('python', 'echo partial; sleep 30', limits={'realtime': 1})\n"
                         "show([r['exit_code'], r['duration'], r['timeout'], r['stdout'].decode()])")
        self.assertEqual(r, [None, None, True, "partial\n"])

    def test_too_much_memory_is_oom_killed(self):
        r, = self.python("r = main(b'x = [bytearray(1 << 20) for i in range(500)]')\n"
                         "show([r['exit_code'], r['oom_killed'], r['timeout'], r['stderr'].decode()])")
        self.assertEqual(r[:3], [137, True, False])
        self.assertIn("memory of 64 MB", r[3])

    def test_a_flood_of_output_is_bounded(self):
        r, = self.python("r = epicbox.run('python', 'yes', limits={'realtime': 60, 'cputime': 30})\n"
                         "show([len(r['stdout']), r['limit'], r['stdout_truncated']])")
        self.assertEqual(r, [8 << 20, "output", True])

    @support.once
    def test_a_program_that_exits_with_137_by_itself_is_no_timeout(self):
        self.assertEqual(self.python("r = epicbox.run('python', 'exit 137'); show([r['exit_code'], r['timeout']])"),
                         [[137, False]])

    @support.once
    def test_a_signal_is_an_exit_code_as_a_shell_says_it(self):
        self.assertEqual(self.python("show(main(b'import os; os.kill(os.getpid(), 11)')['exit_code'])"), [139])

    def test_a_file_that_grows_too_large(self):
        self.assertNotEqual(self.python("show(epicbox.run('python', 'head -c 9000 /dev/zero > f',"
                                        "limits={'file_size': 4096})['exit_code'])"), [0])

    @support.once
    def test_none_means_no_limit(self):
        self.assertEqual(self.python("show(main(b'print(1)', cputime=None, memory=None, processes=None)['exit_code'])\n"
                                     "show(epicbox.run('python', 'true', limits={'cputime': None})['exit_code'])"), [0, 0])

    @support.once
    def test_a_result_equals_one_with_the_six_keys_of_the_original(self):
        self.assertEqual(self.python("""
            from unittest.mock import ANY
            six = {'exit_code': 0, 'stdout': b'a', 'stderr': b'', 'duration': ANY, 'timeout': False, 'oom_killed': False}
            r = epicbox.run('python', 'printf a')
            show([r == six, six == r, r != six, r == dict(six, stdout=b'b'), r == dict(six, status='ok'), 'status' in r, r == r])
        """), [[True, True, False, False, False, True, True]])

    def test_the_shell_is_as_rich_as_that_of_most_images(self):
        support.need_program("bash")
        self.assertEqual(self.python("""
            r = epicbox.run('python', 'echo -n 01234567890 > file', limits={'file_size': 10})
            show([r['exit_code'], b'write error: File too large' in r['stderr']])
            r = epicbox.run('python', 'for x in {0..20}; do sleep 0.2 & done; wait', limits={'processes': 10})
            show([r['exit_code'] in (0, 254), b'Resource temporarily unavailable' in r['stderr']])   # 254: bash gave up
            show(b'Killed' in epicbox.run('python', 'cat /dev/urandom > /dev/null')['stderr'])
        """), [[1, True], [True, True], True])

    def test_one_large_allocation_is_oom_killed_where_control_groups_count(self):
        """Without control groups the allocation itself fails, as docs/limits.md says, and the program sees a
        MemoryError."""
        r, = self.python("r = epicbox.run('python', 'python3 -c \"[1] * 10 ** 8\"', limits={'cputime': 10, 'memory': 8})\n"
                         "show([r['oom_killed'] or b'MemoryError' in r['stderr'], r['timeout'], r['exit_code'] in (None, 0)])")
        self.assertEqual(r, [True, False, False])

    @support.once
    def test_a_result_that_lost_a_key_still_compares(self):
        self.assertEqual(self.python("""
            r = epicbox.run('python', 'true'); r.pop('duration')
            show([r == {'exit_code': 0}, r == {k: r[k] for k in r.ORIGINAL if k in r}, r != r])
        """), [[False, True, False]])

    def limits(self, **env):
        return self.python("""
            from decimal import Decimal
            def outcome(**limits):
                try: r = epicbox.run('python', 'echo x | cat; echo y > f; wc -c < f', limits=limits)
                except Exception as e: return type(e).__name__
                return [r['exit_code'], r['stdout'].decode(), r['timeout']]
            for limits in ({'memory': '64'}, {'memory': 0}, {'memory': 'x'}, {'cputime': 0, 'realtime': 2}, {'processes': 0},
                           {'realtime': Decimal('2')}, {'cputime': Decimal('1')}, {'realtime': 0}, {'file_size': 0}):
                show(outcome(**limits))
        """, **env)

    @support.once
    def test_limits_of_other_types_and_of_0(self):
        works = [0, "x\n2\n", False]
        want = [works, works, "DockerError"] + [works] * 4 + [[None, "", True], [0, "x\n0\n", False]]
        self.assertEqual(self.limits(), want)
        self.assertEqual(self.limits(EPICBOX_STRICT="1"), want)

    @support.once
    def test_missing_limits_are_filled_into_the_callers_dict(self):
        self.assertEqual(self.python("l = {'cputime': 2}; epicbox.run('python', limits=l); show(l)"),
                         [{"cputime": 2, "realtime": 10, "memory": 64, "processes": -1}])


@support.root_and_user
@support.release_only
class Sandboxes(Case):
    @support.once
    def test_stdin_is_bytes_or_text(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'cat', stdin='\\u00e9')['stdout'].decode())\n"
                                     "show(epicbox.run('python', 'cat', stdin=b'b')['stdout'].decode())\n"
                                     "show(epicbox.run('python', 'cat')['stdout'].decode())\n"
                                     "try: epicbox.run('python', 'cat', stdin=5)\nexcept TypeError as e: show(str(e))"),
                         ["é", "b", "", "'stdin' must be bytes or str"])

    def test_a_sandbox_starts_several_times_and_its_files_stay(self):
        self.assertEqual(self.python("with epicbox.create('python', 'echo x >> log; cat log') as s:\n"
                                     "    show([epicbox.start(s)['stdout'].decode() for i in range(3)])"),
                         [["x\n", "x\nx\n", "x\nx\nx\n"]])

    def test_nothing_but_files_lives_on_from_start_to_start(self):
        self.assertEqual(self.python("""
            with epicbox.create('python', 'cp log seen 2>/dev/null; sleep 0.1; cmp -s log seen || [ ! -e log ] || exit 9;'
                                '(while sleep 0.02; do echo bg >> log; done) >/dev/null 2>&1 & sleep 0.1') as s:
                show([epicbox.start(s)['exit_code'] for i in range(3)])
            with epicbox.create('python', 'cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep; setsid sleep 50 &'
                                          'setsid sleep 50 >/dev/null 2>&1 & sleep 30', limits={'realtime': 1}) as s:
                show([[r['timeout'], r['stdout'].decode()] for r in (epicbox.start(s), epicbox.start(s))])
        """), [[0, 0, 0], [[True, "0\n"], [True, "0\n"]]])

    def test_what_keeps_itself_from_being_ended_takes_its_sandbox_along(self):
        """A program that kills and stops everything again and again, even the sandbox's init: there is a result, and
        the next start has the given files, and those that were written, or a line that says that they are lost."""
        lines = ["import os, sys", "for i in range(3):", "  if os.fork() == 0:", "    os.setsid()", "    while 1:",
                 "      try: os.kill(-1, int(sys.argv[1]))", "      except OSError: pass"]
        self.assertEqual(self.python("""
            for number in ('9', '19'):
                with epicbox.create('python', 'ls; touch more; python main.py %s & sleep 0.3' % number,
                                    files=[{'name': 'main.py', 'content': CODE}], limits={'cputime': 20, 'realtime': 1}) as s:
                    first, second = epicbox.start(s), epicbox.start(s)
                    show(['main.py' in second['stdout'].decode().split(),
                          ('more' in second['stdout'].decode().split()) != (b'is lost' in first['stderr'])])
        """.replace("CODE", repr("\n".join(lines)))), [[True, True]] * 2)

    @support.once
    def test_a_name_begins_in_the_working_directory(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'cat abs/main.py', files=[{'name': '/abs/main.py', 'content':"
                                     "b'x'}])['stdout'].decode())"), ["x"])

    @support.once
    def test_content_is_bytes_or_text(self):
        self.assertEqual(self.python("for c in (5, None, [1]):\n"
                                     "    try: epicbox.run('python', files=[{'name': 'a', 'content': c}])\n"
                                     "    except TypeError: show('TypeError')"), ["TypeError"] * 3)

    @support.once
    def test_more_files_than_a_plan_carries(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'ls | wc -l; cat f4999', files=[{'name': 'f%d' % i,"
                                     "'content': b'z'} for i in range(5000)])['stdout'].decode())"), ["5000\nz"])

    @support.once
    def test_only_a_shells_blanks_part_words(self):
        self.assertEqual(self.python("r = epicbox.run('python', 'python main.py a\\u00a0b \\x0c', files=[{'name': 'main.py',"
                                     "'content': b'import sys; print(ascii(sys.argv[1:]))'}]); show(r['stdout'].decode())"),
                         ["['a\\xa0b', '\\x0c']\n"])

    @support.once
    def test_the_command_of_the_profile_and_no_command_at_all(self):
        self.assertEqual(self.python("show(epicbox.run('echo')['stdout'].decode())\n"
                                     "show(epicbox.run('python')['exit_code'])"), ["of the profile\n", 0])

    @support.once
    def test_a_destroyed_sandbox_does_not_start(self):
        self.assertEqual(self.python("s = epicbox.create('python', 'true'); epicbox.destroy(s); epicbox.destroy(s)\n"
                                     "from epicbox.exceptions import DockerError, EpicBoxError\n"
                                     "try: epicbox.start(s)\nexcept DockerError as e: show(isinstance(e, EpicBoxError))"),
                         [True])

    @support.once
    def test_unknown_profiles_and_workdirs(self):
        self.assertEqual(self.python("try: epicbox.run('nope')\nexcept ValueError as e: show(str(e))\n"
                                     "try: epicbox.run('python', workdir='/tmp')\nexcept ValueError as e: show(str(e))"),
                         ["Profile not found: nope",
                          "Invalid 'workdir', it should be created using 'working_directory' context manager"])

    def test_files_lie_in_slash_sandbox_in_folders_of_their_own(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'pwd; cat a/b/c; ls a', files=[{'name': 'a/b/c', 'content':"
                                     "b'x\\n'}, {'content': b'no name'}, {'name': None}])['stdout'].decode())"),
                         ["/sandbox\nx\nb\n"])

    def test_a_read_only_sandbox_reads_its_files_and_writes_nothing(self):
        r, = self.python("r = epicbox.run('sandbox', 'id -u; cat a; echo y > a; echo z > b; cat a', files=[{'name': 'a',"
                         "'content': b'x\\n'}]); show([r['stdout'].decode(), r['stderr'].decode()])")
        self.assertEqual(r[0], "1000\nx\nx\n")
        self.assertEqual(r[1].count("Read-only"), 2, r[1])
        self.assertEqual(self.python("r = epicbox.run('sandbox', 'touch /tmp/file')\n"
                                     "show(b'Read-only file system' in r['stderr'])"), [True])

    @support.once
    def test_names_that_images_have(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'for c in python python3 sh; do command -v $c >/dev/null || "
                                     "echo no $c; done')['stdout'].decode())"), [""])

    @support.once
    def test_the_name_with_the_version_that_the_image_says(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'python3.9 -c \"print(1)\"')['stdout'].decode())\n"
                                     "show(epicbox.run('gcc', 'python3.9 -c \"print(1)\"')['exit_code'] in (0, 127))\n"
                                     "show(repr(epicbox.create('python'))[:18])"),
                         ["1\n", True, "<Sandbox: epicbox-"])


@support.root_and_user
class WorkingDirectories(Case):
    def test_what_one_sandbox_leaves_the_next_one_finds(self):
        support.need_program("gcc")
        self.assertEqual(self.python("""
            with epicbox.working_directory() as w:
                c = epicbox.run('gcc', 'gcc -pipe -O2 -static -o main main.c', limits={'cputime': 10, 'memory': 256},
                                files=[{'name': 'main.c', 'content': b'#include <stdio.h>\\nint main(){puts("up");}'}],
                                workdir=w)
                show(c['exit_code'])
                show(epicbox.run('sandbox', './main', workdir=w)['stdout'].decode())
        """), [0, "up\n"])

    def test_a_link_out_of_it_is_not_followed(self):
        self.assertEqual(self.python("""
            with epicbox.working_directory() as w:
                epicbox.run('python', 'ln -s /etc/passwd p; mkfifo f; mkdir -p d; echo x > d/e', workdir=w)
                show(sorted(w.files))
        """), [["d/e"]])


    def test_who_holds_a_stream_does_not_hold_the_result(self):
        r, = self.python("""
            import time
            with epicbox.working_directory() as w:
                began = time.monotonic()
                r = epicbox.run('python', 'setsid sleep 60 & echo x; exit 0', limits={'realtime': 50}, workdir=w)
                show([r['status'], r['stdout'].decode(), time.monotonic() - began < 20])
        """)
        self.assertEqual(r, ["ok", "x\n", True])

    @support.once
    def test_large_files_are_put_in_beside_the_plan(self):
        """A plan that is changed goes through JSON, which for 30 MB takes longer than many runs."""
        self.assertEqual(self.python("""
            import fumehood
            texts, from_json = [], fumehood.Plan.from_json
            fumehood.Plan.from_json = lambda text: texts.append(len(text)) or from_json(text)
            with epicbox.working_directory() as w:
                epicbox.run('gcc', 'head -c 3000000 /dev/zero > big; chmod +x big', workdir=w)
                r = epicbox.run('gcc', 'test -x big && wc -c < big', workdir=w)
                show([r['stdout'].decode().strip(), len(texts), max(texts) < 1000000])
        """), [["3000000", 2, True]])

    @support.release_only
    def test_a_full_sandbox_leaves_the_directory_as_it_was(self):
        """Its disk is full before its memory. It may or may not have had room for a look at its files."""
        self.assertEqual(self.python("""
            with epicbox.working_directory() as w:
                epicbox.run('gcc', 'echo x > prog; head -c 30000000 /dev/zero > big', workdir=w)
                for profile in ('gcc', 'sandbox'):
                    r = epicbox.run(profile, 'cat big big big > b2', workdir=w, limits={'memory': 64, 'cputime': 10})
                    show([r['oom_killed'], {'prog', 'big'} <= set(w.files),
                          'b2' in w.files or b'stays as it was' in r['stderr']])
        """), [[False, True, True]] * 2)

    def test_a_fork_bomb_leaves_nothing(self):
        self.assertEqual(self.python("""
            with epicbox.working_directory() as w:
                r = epicbox.run('python', 'echo 1 > kept; f() { f | f & }; f 2>/dev/null; sleep 1', workdir=w,
                                files=[{'name': 'given', 'content': b''}],
                                limits={'cputime': 2, 'realtime': 3, 'processes': 50})
                show('given' in w.files and ('kept' in w.files or b'stays as it was' in r['stderr']))
        """), [True])

    def test_too_many_files_and_who_stays(self):
        r, = self.python("""
            with epicbox.working_directory() as w:
                r = epicbox.run('python', 'i=0; while [ $i -lt 4200 ]; do : > f$i; i=$((i+1)); done', workdir=w,
                                files=[{'name': 'z', 'content': b'1'}], limits={'cputime': 10})
                show([len(w.files), 'z' in w.files, r['stderr'].decode()])
        """)
        self.assertEqual(r[:2], [4096, True])
        self.assertIn("the last 105 do not live on", r[2])

    @support.once
    def test_output_that_was_cut_says_so(self):
        r, = self.python("with epicbox.working_directory() as w:\n"
                         "    r = epicbox.run('python', 'yes', workdir=w, limits={'realtime': 60, 'cputime': 30})\n"
                         "    show([len(r['stdout']), r['stdout_truncated'], r['stderr_truncated']])")
        self.assertEqual(r, [8 << 20, True, False])


@support.once
class Strict(Case):
    def test_the_original_loses_output_at_a_timeout(self):
        r, = self.python("r = epicbox.run('python', 'echo lost; sleep 30', limits={'realtime': 1})\n"
                         "show([sorted(r), r['stdout'].decode(), r['timeout']])", EPICBOX_STRICT="1")
        self.assertEqual(r, [["duration", "exit_code", "oom_killed", "stderr", "stdout", "timeout"], "", True])

    def test_the_original_takes_137_for_a_timeout(self):
        self.assertEqual(self.python("show(epicbox.run('python', 'exit 137')['timeout'])", EPICBOX_STRICT="1"), [True])

    def test_the_original_fails_for_none(self):
        self.assertEqual(self.python("try: epicbox.run('python', limits={'cputime': None})\nexcept TypeError: show('TypeError')",
                                     EPICBOX_STRICT="1"), ["TypeError"])


@support.once
class Helpers(Case):
    def test_names_that_users_and_tests_touch(self):
        self.assertEqual(self.python("""
            from epicbox import config, utils
            show([config.DOCKER_WORKDIR, config.CPU_TO_REAL_TIME_FACTOR, config.IS_CONFIGURED, sorted(config.PROFILES)])
            show(utils.demultiplex_docker_stream(b'\\1\\0\\0\\0\\0\\0\\0\\2ab\\2\\0\\0\\0\\0\\0\\0\\1c')[0].decode())
            show(utils.is_killed_by_sigkill_or_sigxcpu(152))
            show([utils.filter_filenames([{'name': 'a'}, {'content': b''}]), len(utils.ERRNO_RECOVERABLE)])
            show(len(utils.truncate_result({'stdout': b'x' * 500})['stdout']) < 200)
            show(utils.get_docker_client().containers.list(all=True))
            try: utils.get_docker_client().volumes.get('x')
            except epicbox.exceptions.DockerError as e: show('no Docker' in str(e))
            from epicbox.sandboxes import Sandbox
            show(sorted(n for n in dir(epicbox) if n in ('Profile', 'configure', 'create', 'start', 'destroy', 'run',
                                                          'working_directory', 'Sandbox')))
        """), [["/sandbox", 5, True, ["echo", "gcc", "python", "sandbox"]], "ab", True, [["a"], 3], True, [], True,
               ["Profile", "configure", "create", "destroy", "run", "start", "working_directory"]])


GOOD = {
    "factorial": "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)",
    "is_palindrome": "def is_palindrome(s):\n    return s == s[::-1]",
    "find_largest": "def find_largest(l):\n    return max(l)",
}
BAD = {
    "factorial": "def factorial(n):\n    while True:\n        pass",
    "is_palindrome": "def is_palindrome(s):\n    return 'no'",
    "find_largest": "def find_largest(l):\n    return [bytearray(1 << 20) for i in range(1000)]",
}
WORSE = {
    "factorial": "def factorial(n):\n    import os\n    while True:\n        os.fork()",
    "is_palindrome": None,
    "find_largest": "def find_largest(l):\n    raise KeyError('nothing')",
}


def scripted(model, prompt, of):
    name = next(name for name in GOOD if "function name: " + name in prompt)
    program = of[model][name]
    return f"```python\n{program}\n```" if program else "I would rather not."


@support.once
class Tutorial(support.TempDir):
    """promptfoo's guide, with its three files unchanged, against servers that answer well, badly and worse."""

    def setUp(self):
        super().setUp()
        folder = support.shared("conformance", "tutorial-epicbox")
        for name in ("promptfooconfig.yaml", "code_generation_prompt.txt", "validate_and_run_code.py"):
            shutil.copy(folder / name, self.dir)

    def environment(self, server):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OLLAMA_", "PROMPTFOO_", "PYTHONPATH"))}
        return {**env, "OPENAI_BASE_URL": server.url + "/v1", "OPENAI_API_KEY": "sk-test", "no_proxy": "127.0.0.1",
                "OLLAMA_BASE_URL": server.url, "PROMPTFOO_PYTHON": support.PYTHON}

    def rows(self, llama, gpt):
        with ModelServer(lambda model, prompt: scripted(model, prompt, {"llama3:70b": llama, "gpt-4o": gpt})) as server:
            done = support.command("eval", "--no-table", "--no-progress-bar", "-o", "out.json", cwd=self.dir,
                                   env=self.environment(server))
        self.assertIn(done.returncode, (0, 100), done.stderr)
        self.stderr = done.stderr
        return {(row["provider"]["id"], row["vars"]["function_name"]): (row["success"], row["gradingResult"]["reason"])
                for row in json.loads((self.dir / "out.json").read_text())["results"]["results"]}

    def test_good_answers_pass_and_bad_ones_say_why(self):
        rows = self.rows(GOOD, BAD)
        for name in GOOD:
            self.assertTrue(rows["ollama:chat:llama3:70b", name][0], rows)
        of_bad = {name: rows["openai:gpt-4o", name] for name in BAD}
        self.assertEqual([passed for passed, _ in of_bad.values()], [False] * 3)
        # Either limit in the guide's file: an endless loop that gets less than a fifth of a processor reaches the other
        # one first.
        self.assertRegex(of_bad["factorial"][1], "cputime of 1 s|realtime of 5 s")
        self.assertEqual(of_bad["is_palindrome"][1], "Incorrect output. Expected: True, Got: no")
        self.assertIn("memory of 64 MB", of_bad["find_largest"][1])
        self.assertEqual(self.stderr.count("our own serves it"), 1, self.stderr)

    def test_worse_answers_do_no_harm(self):
        rows = self.rows(WORSE, GOOD)
        of_worse = {name: rows["ollama:chat:llama3:70b", name] for name in WORSE}
        self.assertEqual([passed for passed, _ in of_worse.values()], [False] * 3)
        self.assertIn("Execution error: ", of_worse["factorial"][1])
        self.assertEqual(of_worse["is_palindrome"][1], "No function definition found")
        self.assertIn("KeyError: 'nothing'", of_worse["find_largest"][1])
        self.assertTrue(all(rows["openai:gpt-4o", name][0] for name in GOOD), rows)

    @unittest.skipUnless(support.FULL, "long: promptfoo itself, from npm")
    def test_promptfoo_itself(self):
        place = tempfile.mkdtemp(prefix="fumehood-promptfoo-")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        npm = support.need_program("npm")
        got = subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent", "node@22", "promptfoo@0.123.1"], cwd=place,
                             capture_output=True, text=True, timeout=900)
        if got.returncode:
            self.skipTest("needs the npm registry: " + got.stderr[-200:])
        with ModelServer(lambda model, prompt: scripted(model, prompt, {"llama3:70b": GOOD, "gpt-4o": BAD})) as server:
            env = {**self.environment(server), "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                   "PROMPTFOO_CONFIG_DIR": place + "/home", "PATH": f"{place}/node_modules/.bin:{os.environ['PATH']}"}
            done = support.command("with", "--", f"{place}/node_modules/.bin/promptfoo", "eval", "--no-cache", "-o", "theirs.json",
                                   cwd=self.dir, env=env, timeout=600)
        self.assertIn(done.returncode, (0, 100), done.stderr + done.stdout)
        theirs = {(row["provider"]["id"], row["vars"]["function_name"]): (row["success"], row["gradingResult"]["reason"])
                  for row in json.loads((self.dir / "theirs.json").read_text())["results"]["results"]}
        self.assertEqual(theirs, self.rows(GOOD, BAD))


if __name__ == "__main__":
    unittest.main()
