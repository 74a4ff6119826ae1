# SPDX-License-Identifier: MIT
"""Every language, every limit, every output of evals and every tool of agents is in each list of them that another language than C holds, or a
text."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

LANGUAGES = {path.stem: json.loads(path.read_text()) for path in (support.TOP / "languages").glob("*.json")}


def text(*parts):
    return support.TOP.joinpath(*parts).read_text()


@support.once
class Languages(unittest.TestCase):
    def assert_all(self, words, less=()):
        self.assertEqual(sorted(set(LANGUAGES) - set(less)), sorted(set(LANGUAGES) & set(words)))

    def test_the_help_of_run(self):
        options = json.loads(support.command("run", "--help=json").stdout)["options"]
        told = next(o["help"] for o in options if o["name"] == "language")
        self.assert_all(re.findall(r"\w+", told))

    def test_the_tool_of_agents(self):
        self.assert_all(re.findall(r'"(\w+)"', re.search(r"_ALL_LANGUAGES = \[(.*?)\]", text("python", "fumehood", "mcp", "tools.py"),
                                                         re.S)[1]))

    def test_the_readme(self):
        self.assert_all(re.findall(r"\w+", re.search(r"^Languages: (.*?), each", text("README.md"), re.S | re.M)[1]))

    def test_the_viewer_shows_them_in_colour(self):
        self.assert_all(re.findall(r'"(\w+)"', re.search(r"LANGUAGES = new Set\(\[(.*?)\]", text("web", "text.js"), re.S)[1]))
        for language in LANGUAGES:
            self.assertTrue((support.TOP / "web" / "vendor" / f"highlight-{language}.js").exists(), language)

    def test_one_that_is_kept_warm_has_an_interpreter_in_the_warm_library(self):
        warm = {language for language, data in LANGUAGES.items() if "zygote" in data}
        sources = "".join(path.read_text() for path in (support.TOP / "guest" / "warm").glob("*.c"))
        self.assertEqual(warm, set(re.findall(r'^\t\.name = "(\w+)",', sources, re.M)))

    def test_the_texts_that_tell_which_are_judged(self):
        judged = set(re.findall(r"FH_JUDGE_LANGUAGE\(\w+, (\w+)\)", text("src", "judge", "problems", "language_list.h")))
        told = re.search(r"^\| `language` \|(.*?)\|$", text("docs", "data-sets.md"), re.M)
        self.assertTrue(told, "docs/data-sets.md names the languages in the row `language`")
        self.assertEqual(judged, judged & set(re.findall(r"\w+", told[1])))


@support.once
class Limits(unittest.TestCase):
    LIMITS = re.findall(r'\[FH_LIMIT_\w+\] = \{ "(\w+)"', text("src", "proto", "tables.c"))

    def words_between(self, begin, end, *path):
        return re.findall(r"\w+", text(*path).partition(begin)[2].partition(end)[0])

    def test_the_python_package(self):
        self.assertEqual(self.LIMITS, self.words_between("LIMITS = (", ")", "python", "fumehood", "_library.py"))
        for place, words in {
            "the readers": self.words_between("LIMIT_READERS:", "\n}", "python", "fumehood", "_request.py"),
            "run()": self.words_between("def run(", ") ->", "python", "fumehood", "_run.py"),
            "the tools of agents": ["cpu_rate",    # which slows a program down, and ends none
                                    *self.words_between("_LIMITS = {", "}", "python", "fumehood", "mcp", "tools.py")],
        }.items():
            with self.subTest(place):
                self.assertEqual([], sorted(set(self.LIMITS) - set(words)))

    def test_the_package_for_javascript(self):
        self.assertEqual(self.LIMITS, self.words_between("LIMITS = [", "]", "js", "lib", "wire.js"))
        self.assertEqual(self.LIMITS, self.words_between("type LimitName =", ";", "js", "index.d.ts"))
        for place in ("js/lib/plan.js", "js/index.d.ts"):
            with self.subTest(place):
                self.assertEqual([], [name for name in self.LIMITS if not re.search(rf"\b{name}\??: ", text(place))])

    def test_the_pages(self):
        rows = re.findall(r"^\| `(\w+)`", text("docs", "limits.md"), re.M)
        self.assertEqual([], sorted(set(self.LIMITS) - set(rows)))


@support.once
class Outputs(unittest.TestCase):
    def test_the_help(self):
        kinds = {kind for path in (support.TOP / "src" / "eval" / "outputs").glob("*.c")
                 for kind in re.findall(r'\.extension = "\.([\w.]+)"', path.read_text())}
        kinds -= {"yml", "txt"}    # other names of yaml
        for command, option in (("eval", "output"), ("export", "format")):
            with self.subTest(command):
                options = json.loads(support.command(command, "--help=json").stdout)["options"]
                told = next(o["help"] for o in options if o["name"] == option)
                self.assertEqual([], sorted(kind for kind in kinds if not re.search(rf"(?<!\w){re.escape(kind)}\b", told)))


@support.once
class Tools(unittest.TestCase):
    def test_the_page(self):
        """Those of `fumehood mcp`, in the table of their page."""
        tools = set(re.findall(r'^    Tool\("(\w+)"', text("python", "fumehood", "mcp", "tools.py"), re.M))
        told = text("docs", "mcp.md").partition("## Tools")[2].partition("\n\n##")[0].partition("\n\nWithout")[0]
        self.assertGreater(len(tools), 10)
        self.assertEqual(tools, set(re.findall(r"`((?:run|session)_\w+)`", told)))


if __name__ == "__main__":
    unittest.main()
