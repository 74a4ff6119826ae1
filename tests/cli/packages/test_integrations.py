# SPDX-License-Identifier: MIT
"""What the adapters for agent frameworks share: the session that they run code in, and rewards. The frameworks themselves:
test_frameworks.py."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import python_case
import support


class Session(python_case.Case):
    def test_code_runs_with_the_variables_of_the_runs_before(self):
        out = self.python("""
            from fumehood.integrations import CodeSession
            with CodeSession(memory="256M") as session:
                session.text("x = 20; open('kept', 'w').write('file')")
                print(session.text("print(open('kept').read()); x * 2 + 2"))
                print(session.text("1 / 0").splitlines()[-1])
                print(session.text("while True: pass", timeout=0.5).splitlines()[-1], session.text("x"))
                print(session.text("pass"))
                session.reset()
                print(session.run("x").error.name)
            """)
        self.assertEqual(out.splitlines(), ["file", "42", "ZeroDivisionError: division by zero", "[timeout] 20", "[no output]", "NameError"])

    def test_other_languages(self):
        out = self.python("""
            from fumehood.integrations import CodeSession
            for language, code in (("javascript", "const x = 6; x * 7"), ("bash", "x=42; echo $x")):
                with CodeSession(language) as session:
                    print(session.text(code))
            """)
        self.assertEqual(out, "42\n42\n")

    def test_a_model_gets_the_beginning_and_the_end_of_what_is_long(self):
        out = self.python("""
            from fumehood.integrations import CodeSession
            with CodeSession(output=100) as session:
                print(session.text("print('a' * 500 + 'z' * 500)"))
            """)
        self.assertEqual(out, "a" * 50 + "\n[… 900 characters left out …]\n" + "z" * 50 + "\n")

    def test_parallel_calls_from_threads_and_tasks(self):
        out = self.python("""
            import asyncio, threading
            from fumehood.integrations import CodeSession
            with CodeSession() as session:
                found = []
                threads = [threading.Thread(target=lambda i=i: found.append(session.text("print(%d)" % i))) for i in range(20)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                print(sorted(map(int, found)) == list(range(20)))
            with CodeSession(fresh=True) as session:
                async def many():
                    return await asyncio.gather(*[session.atext("import time; time.sleep(0.1); print(%d)" % i) for i in range(4)])
                print(asyncio.run(many()))
            """)
        self.assertEqual(out, "True\n['0', '1', '2', '3']\n")

    def test_a_task_that_is_cancelled_interrupts_its_code_and_keeps_the_variables(self):
        out = self.python("""
            import asyncio
            from fumehood.integrations import CodeSession
            async def main(session):
                await session.arun("x = 42")
                begun = asyncio.Event()
                loop = asyncio.get_running_loop()
                work = asyncio.ensure_future(session.arun("print('begun', flush=True); import time; time.sleep(60)",
                                                          on_event=lambda event: loop.call_soon_threadsafe(begun.set)))
                await begun.wait()
                work.cancel()
                try:
                    await work
                except asyncio.CancelledError:
                    print("cancelled", await session.atext("x"))
            with CodeSession(grace=60) as session:
                asyncio.run(main(session))
            """)
        self.assertEqual(out, "cancelled 42\n")

    def test_inside_a_running_loop_a_blocking_call_works_as_in_a_notebook(self):
        out = self.python("""
            import asyncio
            from fumehood.integrations import CodeSession
            async def main():
                with CodeSession() as session:
                    print(session.text("6 * 7"))
            asyncio.run(main())
            """)
        self.assertEqual(out, "42\n")

    def test_a_port_of_a_program_inside_is_reached_on_the_loopback(self):
        out = self.python("""
            import socket
            from fumehood.integrations._ports import Relay
            server = "import socket\\ns = socket.create_server(('127.0.0.1', 8123))\\nprint('listens', flush=True)\\n" \
                     "while True:\\n    c, _ = s.accept()\\n    c.sendall(b'got ' + c.makefile('rb').read())\\n    c.close()\\n"
            with fumehood.Sandbox("python") as sandbox:
                relay = Relay(sandbox, 8123)
                def ask():
                    try:
                        with socket.create_connection(("127.0.0.1", relay.port), timeout=60) as connection:
                            connection.sendall(b"x" * 100000)
                            connection.shutdown(socket.SHUT_WR)
                            return len(connection.makefile("rb").read())
                    except ConnectionError:  # no program listens
                        return 0
                print(ask())
                process = sandbox.spawn(["python3", "-c", server], wall_time=None)
                process.read()
                print(ask(), ask())
                relay.close()
                try:
                    socket.create_connection(("127.0.0.1", relay.port), timeout=60).close()
                except ConnectionRefusedError:
                    print("refused")
            """)
        self.assertEqual(out.splitlines(), ["0", "100004 100004", "refused"])

    def test_a_session_and_options_exclude_each_other(self):
        out = self.python("""
            from fumehood.integrations import CodeSession
            from fumehood.integrations._session import session_of
            try:
                session_of(CodeSession(), {"memory": "1G"})
            except fumehood.ArgumentError as error:
                print(error.message)
            """)
        self.assertEqual(out, "a session excludes other options\n")


@support.once
class Rewards(python_case.Case):
    def test_answers_are_judged_whatever_their_form(self):
        out = self.python("""
            from fumehood.integrations.rewards import Rewards, completion_of
            problem = {"task_id": "T/0", "prompt": "from typing import List\\n\\n\\ndef double(x: List[int]):\\n", "entry_point": "double",
                       "test": "def check(candidate):\\n    assert candidate([2]) == [4]\\n"}
            reward = Rewards([problem], passed=1.0, failed=-1.0)
            function = "def double(x: List[int]):\\n    return [2 * i for i in x]\\n"
            answers = ["    return [2 * i for i in x]\\n", function, "Sure:\\n```python\\n" + function + "```\\nDone.",
                       [{"role": "user", "content": "?"}, {"role": "assistant", "content": "```\\n" + function}],
                       {"content": [{"type": "text", "text": "```py\\n" + function + "```"}]},
                       "```python\\n" + function + "```\\nIt prints:\\n```\\n[4]\\n```\\n", "<think>\\n```python\\nx = 1\\n```\\n</think>\\n" + function,
                       "1. So:\\n\\n   ```python\\n   def double(x):\\n       return [2 * i for i in x]\\n   ```\\n", "```python\\n    return [2 * i for i in x]\\n```",
                       "def double(x):\\n    \'\'\'\\n    ```\\n    double([1])\\n    ```\\n    \'\'\'\\n    return [2 * i for i in x]\\n",
                       "    return x\\n", "", "no code at all", "import os; os._exit(0)", "def check(c): pass\\n" ]
            print(reward(prompts=None, completions=answers, task_id=["T/0"] * len(answers)))
            for columns in ({}, {"task_id": ["T/1"] * 1}, {"task_id": []}):
                try:
                    reward(completions=["x"], **columns)
                except fumehood.ArgumentError as error:
                    print(error.message)
            import asyncio
            print(asyncio.run(reward.verifiers(completion=answers[3], info={"task_id": "T/0"})), reward(completions=[], task_id=[]))
            """)
        lines = out.splitlines()
        self.assertEqual(lines[0], str([1.0] * 10 + [-1.0] * 5))
        self.assertEqual(lines[1:4], ["the data set has no column task_id", "there is no problem 'T/1'", "1 completions for 0 tasks"])
        self.assertEqual(lines[4], "1.0 []")

    def test_a_pass_in_the_program_s_own_process_is_no_reward_unless_one_wants_it(self):
        out = self.python("""
            import warnings
            from fumehood.integrations.rewards import Rewards
            problem = {"task_id": "T/0", "language": "python", "function": "Box", "tests": "assert Box().size() == 2"}
            answer = "class Box:\\n    def size(self):\\n        return 2\\n"
            for words in ({}, {"allow_in_process": True}):
                with warnings.catch_warnings(record=True) as told:
                    print(Rewards([problem], **words)(completions=[answer], task_id=["T/0"]), [str(one.message)[:11] for one in told])
            """)
        self.assertEqual(out.splitlines(), ["[0.0] ['the test of']", "[1.0] []"])


@support.once
class Agent(python_case.Case):
    """examples/agent, with its recording."""

    def solve(self, *arguments):
        return subprocess.run([support.PYTHON, str(support.TOP / "examples" / "agent" / "solve.py"), *arguments], capture_output=True, text=True,
                              timeout=support.TIMEOUT, env={**os.environ, "PYTHONPATH": str(python_case.PACKAGE), "FUMEHOOD_PROGRAM": support.PROGRAM,
                                                            "FUMEHOOD_LIBRARY": self.library()})

    def test_it_repairs_what_its_model_wrote(self):
        done = self.solve()
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["4 of 4 solved, 3 of them after a repair"]), done.stderr)

    def test_one_answer_alone_is_not_enough(self):
        done = self.solve("--turns", "1")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (3, ["1 of 4 solved, 0 of them after a repair"]), done.stderr)

    def test_what_it_lacks_is_told(self):
        self.assertEqual(self.solve("--problems", "/no/such").returncode, 1)
        self.assertIn("did not answer", self.solve("--url", "http://127.0.0.1:1/v1", "--model", "m").stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
