# SPDX-License-Identifier: MIT
"""The JavaScript package: its own tests (js/test) against this build, and what `npm install` of its tarball gives."""
import json
import os
import re
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
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
        self.assertRegex(done.stdout, r"# pass 2[0-9]")

    def test_what_it_promises(self):
        self.run_tests()


@support.once
class Tarball(support.TempDir):
    def test_it_works_where_nothing_else_is_installed(self):
        missing = [name for name in ("fumehood-judge-static", "fumehood-eval-static") if not (support.BUILD / name).exists()]
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

    #: Names of the Python package that this one has not, and why. A name that is neither here nor in index.d.ts fails the test.
    LACKING = {
        "Context.run_until": "run with a signal", "Context.forget": "garbage collection", "Sandbox.prefork": "for the drop-in modules",
        "Sandbox.alive_here": "every call tells",
        "Sandbox.put_files": "put, for each", "File": "Files.stream and write, with an offset", "Files.open": "Files.stream and write, with an offset",
        "Watcher": "an AsyncGenerator", "Process.unread": "a promise that is not awaited", "Process.settle": "streams end in order", "Process.arrived": "no thread reads",
        "Process.forget": "garbage collection", "Sandbox.exec_until": "exec with a signal", "Process.read_until": "read, awaited beside others",
        "Process.wait_until": "wait with a signal", "Process.communicate_until": "communicate with a signal",
        "Result.from_json": "results come over the protocol", "Limit": "an object of Result.limits", "Error": "FumehoodError",
        "LibraryError": "there is no library", "errors": "exported beside the rest", "aio": "everything is asynchronous",
        "Client.handle": "the library's", "Client.lost": "not usable", "Client.using": "counted inside", "Client.keep": "counted inside",
        "Client.forked": "Node does not fork", "__version__": "package.json",
    }

    def test_every_module_that_can_be_imported_has_types_which_the_package_brings(self):
        package = json.loads((support.TOP / "js" / "package.json").read_text())
        for name, where in package["exports"].items():
            if name == "./package.json":
                continue
            self.assertLessEqual({where["types"].removeprefix("./"), where["default"].removeprefix("./")}, set(package["files"]), name)
            values = re.findall(r"^export default (?:async )?function (\w+)", (support.TOP / "js" / where["default"]).read_text(), re.M)
            types = (support.TOP / "js" / where["types"]).read_text()
            self.assertEqual(re.findall(r"^export default function (\w+)", types, re.M), values, name)

    def test_every_public_name_of_the_python_package_is_here_or_has_a_reason(self):
        sys.path.insert(0, str(support.TOP / "python"))
        import fumehood
        types = (support.TOP / "js" / "index.d.ts").read_text()
        here = {}
        for kind, name, body in re.findall(r"^export (class|interface) (\w+)[^{]*\{\n(.*?)^\}", types, re.M | re.S):
            here[name] = set(re.findall(r"^\t(?:static )?(?:readonly )?(\w+)\??[:(]", body, re.M))
        names = set(here) | set(re.findall(r"^export (?:function|class) (\w+)", types, re.M))
        exported = set(re.findall(r"\w+", " ".join(re.findall(r"^export \{(.*?)\}", (support.TOP / "js" / "index.js").read_text(), re.M))))
        self.assertLessEqual(exported, names, "index.d.ts lacks what index.js exports")
        wanted = set()
        for name in fumehood.__all__:
            wanted.add(name)
            value = getattr(fumehood, name)
            if isinstance(value, type) and name in here and not issubclass(value, Exception):
                members = [member for base in value.__mro__[:-1] if base.__module__.startswith("fumehood") for member in vars(base)]
                wanted.update("%s.%s" % (name, member) for member in members if not member.startswith("_"))
        there = names | {"%s.%s" % (name, member) for name, members in here.items() for member in members}
        self.assertEqual(sorted(wanted - there - set(self.LACKING)), [])
        self.assertEqual(sorted(set(self.LACKING) & there), [], "is here, and listed as lacking")
        self.assertEqual(sorted(name for name in self.LACKING if name not in wanted), [], "is no name of the Python package")

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
