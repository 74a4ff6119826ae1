# SPDX-License-Identifier: MIT
"""The adapters (fumehood.integrations) and `fumehood mcp` with the real frameworks and a scripted model: tests/frameworks, each in a
virtual environment of its own. With --full only, since the packages come from PyPI and npm; they are kept in
FUMEHOOD_TEST_FRAMEWORKS, a folder below the temporary one unless it is set."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.dirname(__file__))
import python_case
import support

PLACE = pathlib.Path(os.environ.get("FUMEHOOD_TEST_FRAMEWORKS") or os.path.join(tempfile.gettempdir(), "fumehood-frameworks-%d" % os.getuid()))
PROGRAMS = support.TOP / "tests" / "frameworks"
#: A virtual environment: its packages, and the programs that run in it.
PYTHON = {
    "langchain": (["langchain", "langchain-classic", "langgraph"], ["langchain_agents"]),
    "llama_index": (["llama-index-core"], ["llama_index_agents"]),
    "smolagents": (["smolagents"], ["smolagents_agent"]),
    "openai_agents": (["openai-agents"], ["openai_agents_sdk", "openai_agents_sandbox"]),
    "crewai": (["crewai"], ["crewai_crew"]),
    "pydantic_ai": (["pydantic-ai-slim"], ["pydantic_ai_agent"]),
    "autogen": (["autogen-core", "autogen-agentchat"], ["autogen_executor"]),
    "haystack": (["haystack-ai"], ["haystack_pipeline"]),
    "inspect_ai": (["inspect_ai"], ["inspect_ai_eval"]),
    "verifiers": (["verifiers<0.1.9"], ["verifiers_rubric"]),
}
#: Frameworks' own clients of E2B, unmodified, with `fumehood serve` behind them.
E2B = {
    "e2b_smolagents": ["smolagents", "e2b-code-interpreter>=2.11"],
    "e2b_openai_agents": ["openai-agents", "e2b"],
    "e2b_langchain": ["deepagents", "langchain-e2b"],
}
#: Modules that a program imports inside, where E2B's image has them, and their Debian packages.
INSIDE = {"e2b_smolagents": {"PIL": "python3-pil", "numpy": "python3-numpy"}}
SECONDS = 600


def skip(name, done):
    raise unittest.SkipTest("needs the package registry: %s cannot be installed: %s" % (name, (done.stderr or done.stdout).strip()[-200:]))


def environment(name, packages):
    """The Python of a virtual environment that has the packages."""
    folder = PLACE / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        done = subprocess.run([support.PYTHON, "-m", "venv", str(folder)], capture_output=True, text=True, timeout=SECONDS)
        if done.returncode == 0:
            done = subprocess.run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], capture_output=True, text=True,
                                  timeout=SECONDS)
        if done.returncode:
            skip(name, done)
        (folder / "ready").touch()
    return str(python)


@support.once
class Frameworks(unittest.TestCase):
    def setUp(self):
        if not support.FULL:
            self.skipTest("long: installs agent frameworks from PyPI and npm")
        self.library = python_case.Case.library()

    def run_program(self, command, **kw):
        variables = {**os.environ, "PYTHONPATH": str(python_case.PACKAGE), "FUMEHOOD_PROGRAM": support.PROGRAM, "FUMEHOOD_LIBRARY": self.library}
        done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=SECONDS, **kw)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["ok"]), done.stdout[-1500:] + done.stderr[-3000:])

    def test_frameworks(self):
        for name, (packages, programs) in PYTHON.items():
            for program in programs:
                with self.subTest(program):
                    self.run_program([environment(name, packages), str(PROGRAMS / (program + ".py"))])

    def test_their_own_clients_of_e2b(self):
        for name, packages in E2B.items():
            with self.subTest(name):
                missing = [package for module, package in INSIDE.get(name, {}).items()
                           if subprocess.run(["/usr/bin/python3", "-c", "import " + module], capture_output=True).returncode]
                if missing:
                    self.skipTest("long: needs %s for the contexts' interpreter, which ./dev test --full installs" % " and ".join(missing))
                self.run_program([support.PROGRAM, "with", "--", environment(name, packages), str(PROGRAMS / (name + ".py"))])

    #: What of llm_sandbox's public names is not as in the genuine package, and why.
    DIFFERENT = {
        "DockerContainerAPI": "no client of a daemon", "KubernetesContainerAPI": "no client of a daemon", "PodmanContainerAPI": "no client of a daemon",
        "MicromambaContainerAPI": "no client of a daemon", "compile_seccomp": "the filter is the engine's",
        "ContainerPoolManager": "its arguments have defaults", "PooledSandboxSession": "execute_command has callbacks, too",
        "ConsoleOutput": "text is a str that can be called", "ExecutionResult": "text is a str that can be called",
    }

    def test_llm_sandbox_shows_what_the_genuine_package_shows(self):
        python = environment("llm_sandbox", ["llm-sandbox[docker,k8s,podman]==0.3.46"])
        program = str(PROGRAMS / "llm_sandbox_surface.py")
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        genuine = json.loads(subprocess.run([python, program], capture_output=True, check=True, env=plain, timeout=SECONDS).stdout)
        ours = json.loads(support.command("with", "--", python, program).stdout)
        self.assertEqual(genuine["all"], ours["all"])
        self.assertGreater(sum(map(len, genuine["modules"].values())), 100)
        for module, names in genuine["modules"].items():
            for name in set(names) - set(self.DIFFERENT):
                with self.subTest(module + "." + name):
                    there, here = names[name], ours["modules"][module].get(name)
                    self.assertIsNotNone(here)
                    for part in ("call", "members", "methods", "exception"):
                        wanted, found = there.get(part), here.get(part)
                        if part == "methods" and wanted is not None:
                            found = {word: found.get(word) for word in wanted}
                        self.assertEqual(found, wanted, part)
                    for part in ("bases", "properties"):
                        self.assertLessEqual(set(there.get(part) or ()), set(here.get(part) or ()), part)

    def test_mcp_with_the_python_sdk(self):
        python = environment("mcp", ["mcp>=2"])
        for mode in ("auto", "legacy"):
            self.run_program([python, str(PROGRAMS / "mcp_python.py"), support.PROGRAM, mode])

    def test_mcp_with_the_python_sdk_before_2(self):
        # 1.9.4 speaks no version after 2025-03-26, and its models are those of an older pydantic
        for name, packages in (("mcp_1", ["mcp<2"]), ("mcp_1_9", ["mcp==1.9.4", "pydantic<2.11"])):
            with self.subTest(name):
                self.run_program([environment(name, packages), str(PROGRAMS / "mcp_python_1.py"), support.PROGRAM])
                with self.serving() as address:
                    self.run_program([environment(name, packages), str(PROGRAMS / "mcp_python_1.py"), address])

    @contextlib.contextmanager
    def serving(self):
        """The address of a server over HTTP."""
        child = subprocess.Popen([support.PROGRAM, "mcp", "--http", "--port", "0"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "FUMEHOOD_LIBRARY": self.library})
        try:
            yield child.stderr.readline().split()[-1]
        finally:
            child.terminate()
            child.wait(SECONDS)
            child.stderr.close()

    def test_mcp_with_the_typescript_sdk(self):
        folder = PLACE / "npm"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "ready").exists():
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "@modelcontextprotocol/sdk"], cwd=folder, capture_output=True, text=True,
                                  timeout=SECONDS)
            if done.returncode:
                skip("npm", done)
            (folder / "ready").touch()
        self.run_program(["node", str(PROGRAMS / "mcp_typescript.mjs"), support.PROGRAM], cwd=folder)
        with self.serving() as address:
            self.run_program(["node", str(PROGRAMS / "mcp_typescript.mjs"), address], cwd=folder)


if __name__ == "__main__":
    unittest.main()
