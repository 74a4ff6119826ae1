# SPDX-License-Identifier: MIT
"""The JavaScript package: its own tests (js/test) against this build, and what `npm install` of its tarball gives."""
import json
import os
import re
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support


def node():
    path = support.need_program("node", "nodejs")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip("v\n").split(".")[0]) < 18:
        raise unittest.SkipTest("needs Node 18")
    return path


class Package(support.TempDir):
    def run_tests(self, **env):
        variables = {**os.environ, "FUMEHOOD_PROGRAM": support.PROGRAM, **env}
        done = subprocess.run([node(), "--test", "--test-reporter=tap", str(support.TOP / "js" / "test" / "fumehood.test.js")], capture_output=True, text=True,
                              env=variables, timeout=5 * support.TIMEOUT)
        self.assertEqual(done.returncode, 0, "\n".join(re.findall(r"^ *not ok [\s\S]*?^ *\.\.\.", done.stdout, re.M))[:4000] or done.stderr[-2000:])
        self.assertRegex(done.stdout, r"# pass 1[0-9]")

    def test_what_it_promises(self):
        self.run_tests()


@support.once
class Tarball(support.TempDir):
    def test_it_works_where_nothing_else_is_installed(self):
        missing = [name for name in ("fumehood-portable", "fumehood-judge-portable", "fumehood-eval-static") if not (support.BUILD / name).exists()]
        if missing or support.SANITIZED:
            self.skipTest("not in this build: the programs that need no library")
        made = subprocess.run([str(support.TOP / "tools" / "make-npm"), str(support.BUILD), str(self.dir)], capture_output=True, text=True, check=True).stdout.strip()
        with tarfile.open(made) as tar:
            tar.extractall(self.dir / "node_modules", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        (self.dir / "node_modules" / "package").rename(self.dir / "node_modules" / "fumehood")
        self.write("package.json", '{"type": "module"}')
        self.write("use.js", "import { run, judge } from 'fumehood';\nconst r = await run('print(6 * 7)');\n"
                             "console.log(JSON.stringify([r.text, r.isolation.pid]));\n")
        environment = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
        done = subprocess.run([node(), "use.js"], capture_output=True, text=True, cwd=self.dir, env=environment, timeout=support.TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), ["42\n", True])

    def test_names_are_those_of_the_python_package(self):
        """Options of a run, and statuses, limits and layers on the wire."""
        sys.path.insert(0, str(support.TOP / "python"))
        import inspect

        import fumehood
        from fumehood import _library
        types = (support.TOP / "js" / "index.d.ts").read_text()
        wire = (support.TOP / "js" / "lib" / "wire.js").read_text()
        for name in inspect.signature(fumehood.run).parameters:
            if name not in ("code", "language", "code_name"):
                self.assertRegex(types, r"\b%s\??:" % name)
        for constant, names in (("STATUSES", _library.STATUSES), ("LIMITS", _library.LIMITS), ("LAYERS", _library.LAYERS)):
            listed = re.search(r"export const %s = \[(.*?)\]" % constant, wire, re.S)[1]
            self.assertEqual(tuple(re.findall(r'"(\w+)"', listed)), tuple(names))


if __name__ == "__main__":
    unittest.main()
