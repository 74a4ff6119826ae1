# SPDX-License-Identifier: MIT
"""The adapters (fumehood.integrations) and `fumehood mcp` with the real frameworks and a scripted model: tests/frameworks, each in a
virtual environment of its own. With --full only, since the packages come from PyPI and npm; they are kept in
FUMEHOOD_TEST_FRAMEWORKS, a folder below the temporary one unless it is set."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(__file__))
import python_case
import support

PLACE = pathlib.Path(os.environ.get("FUMEHOOD_TEST_FRAMEWORKS") or os.path.join(tempfile.gettempdir(), "fumehood-frameworks-%d" % os.getuid()))
PROGRAMS = support.TOP / "tests" / "frameworks"
#: The program, and the packages that it needs.
PYTHON = {
    "langchain_agents": ["langchain", "langchain-classic", "langgraph"],
    "llama_index_agents": ["llama-index-core"],
    "smolagents_agent": ["smolagents"],
    "openai_agents_sdk": ["openai-agents"],
    "crewai_crew": ["crewai"],
    "pydantic_ai_agent": ["pydantic-ai-slim"],
    "autogen_executor": ["autogen-core", "autogen-agentchat"],
    "haystack_pipeline": ["haystack-ai"],
    "inspect_ai_eval": ["inspect_ai"],
    "verifiers_rubric": ["verifiers<0.1.9"],
}
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
        for name, packages in PYTHON.items():
            with self.subTest(name):
                self.run_program([environment(name, packages), str(PROGRAMS / (name + ".py"))])

    def test_mcp_with_the_python_sdk(self):
        python = environment("mcp", ["mcp>=2"])
        for mode in ("auto", "legacy"):
            self.run_program([python, str(PROGRAMS / "mcp_python.py"), support.PROGRAM, mode])

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


if __name__ == "__main__":
    unittest.main()
