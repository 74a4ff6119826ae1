# SPDX-License-Identifier: MIT
"""Code contexts in other languages than Python: state, results, streams, errors, interrupts, in the same forms."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case


class Language(Case):
    """A context in self.LANGUAGE, and what became of each cell."""
    RUN = """
with fumehood.Sandbox(memory='2G', processes=256) as s:
    c = s.context({language!r}, start_timeout=280, env={{'A': 'a "q" \\\\ \\n \u00e9'}})
    for code, more in {cells!r}:
        e = c.run(code, **more)
        print((e.status, e.text, e.stdout, e.stderr, e.error and (e.error.name, e.error.value),
               [(d.main, sorted(d.formats())) for d in e.results]))
    {then}
"""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.TOOL):
            self.skipTest(f"long: needs {self.TOOL} (package {self.PACKAGE_NAME}), which ./dev test --full installs")

    def cells(self, *codes, then="pass"):
        cells = [code if isinstance(code, tuple) else (code, {}) for code in codes]
        lines = self.python(self.RUN.format(language=self.LANGUAGE, cells=cells, then=then)).splitlines()
        return [eval(line) for line in lines[:len(cells)]] + lines[len(cells):]

    def assert_values(self, cells, expected):
        """The text, stdout and stderr of each cell that ends well."""
        self.assertEqual([cell[:4] for cell in cells], [("ok", *values) for values in expected])

    def stays_usable(self, endless, sleeps, kept, value):
        cells = self.cells(kept, (endless, {"timeout": 0.7, "grace": 60.0}), (sleeps, {"timeout": 0.7, "grace": 60.0}), self.LAST)
        interrupted = ("timeout", None, "", "", ("KeyboardInterrupt", ""), [])
        self.assertEqual(cells[1:3], [interrupted, interrupted])
        self.assertEqual(cells[3][:2], ("ok", value))


@support.once
class R(Language):
    LANGUAGE, TOOL, PACKAGE_NAME, LAST = "r", "R", "r-base-core", "x"

    def test_values_streams_and_variables_of_the_environment(self):
        self.assert_values(self.cells(
            "x <- 5", "x + 1", "invisible(7)", "NULL", 'f <- function(a) {\n  a * 2\n}\nf', "f(x)",
            'for (i in 1:2) { cat(i, "\\n"); message("m", i); system(paste("echo s", i)) }', 'cat(Sys.getenv("A"))',
            ('Sys.getenv("B")', {"env": {"B": "b"}}), 'Sys.getenv("B")', 'print("\U0001f600")', ("1", {"silent": True}), "1i"), [
            (None, "", ""), ("[1] 6", "", ""), (None, "", ""), ("NULL", "", ""), ("function(a) {\n  a * 2\n}", "", ""), ("[1] 10", "", ""),
            (None, "1 \ns 1\n2 \ns 2\n", "m1\nm2\n"), (None, 'a "q" \\ \n \u00e9', ""), ('[1] "b"', "", ""), ('[1] ""', "", ""),
            (None, '[1] "\U0001f600"\n', ""), (None, "", ""), ("[1] 0+1i", "", "")])

    def test_errors_and_warnings(self):
        cells = self.cells('f <- function(a) g(a); g <- function(a) stop("boom ", a)\nf(3)', "x +", "nothing",
                           'stop(structure(class = c("mine", "error", "condition"), list(message = "m", call = NULL)))',
                           'as.integer("a")', "h <- function() { warning('deep'); 1 }; h()", 'tryCatch(stop("x"), error = function(e) "caught")',
                           "print(1); stop('after')", then="print(repr(c.run('f(3)').error.traceback))")
        self.assertEqual([cell[4] for cell in cells[:4]], [("simpleError", "boom 3"), cells[1][4], ("simpleError", "object 'nothing' not found"),
                                                           ("mine", "m")])
        self.assertEqual((cells[1][0], cells[1][4][0]), ("failed", "parseError"))
        self.assertEqual(cells[4][:4], ("ok", "[1] NA", "", "Warning message:\nNAs introduced by coercion\n"))
        self.assertEqual(cells[5][:4], ("ok", "[1] 1", "", "Warning message:\nIn h() : deep\n"))
        self.assertEqual(cells[6][:2], ("ok", '[1] "caught"'))
        self.assertEqual(cells[7][2:5], ("[1] 1\n", "", ("simpleError", "after")))
        self.assertEqual(cells[8], repr('Error in g(a): boom 3\nTraceback:\n1. f(3)\n2. g(a)\n3. stop("boom ", a)'))

    def test_tables_lists_plots_and_displays(self):
        cells = self.cells("1; 2", "list(a = 1, b = list('t', TRUE, NULL))", "plot(1:10); hist(c(1, 2, 2)); 'done'",
                           "display_html('<b>x</b>'); display_json(list(k = 1:2)); display(3)", "matrix(1:4, 2)",
                           then="e = c.run('data.frame(n = c(1, NA, 0.1), t = as.Date(c(\"2024-01-01\", NA, NA)), s = c(\"<a>\", \"b\", NA))').result; "
                           "print(e.data); print('&lt;a&gt;' in e.html, c.run('plot(1)').results[0].image()[1:4])")
        self.assertEqual([cell[5] for cell in cells[:5]], [
            [(False, ["text"]), (True, ["text"])], [(True, ["json", "text"])], [(False, ["png", "text"])] * 2 + [(True, ["text"])],
            [(False, ["html"]), (False, ["json"]), (False, ["text"])], [(True, ["html", "text"])]])
        self.assertEqual(cells[5:], ["{'n': [1, None, 0.1], 't': ['2024-01-01', None, None], 's': ['<a>', 'b', None]}", "True b'PNG'"])

    def test_an_interrupt_leaves_the_variables(self):
        self.stays_usable("repeat {}", "Sys.sleep(60)", "x <- 8", "[1] 8")

    def test_floods_and_the_end_of_the_interpreter(self):
        cells = self.cells(('repeat cat(strrep("x", 1000))', {"max_bytes": 1 << 20, "timeout": 250}), 'nchar("' + "y" * 300000 + '")', 'q("no", 3)', "1")
        self.assertEqual([cell[0] for cell in cells], ["output_limit", "ok", "ended", "ok"])
        self.assertEqual(cells[1][1], "[1] 300000")


@support.once
class Java(Language):
    LANGUAGE, TOOL, PACKAGE_NAME, LAST = "java", "jshell", "default-jdk-headless", "x"

    def test_values_streams_and_variables_of_the_environment(self):
        self.assert_values(self.cells(
            "int x = 5", "x + 1", "int f(int a) { return g(a); }\nint g(int a) { return a * 2; }", "f(x)", "record P(int a) {}\nnew P(x)",
            'System.out.println("a"); System.err.println("e"); new ProcessBuilder("sh", "-c", "echo s; echo t >&2").inheritIO().start().waitFor(); '
            'System.out.println("c");', 'System.out.print(System.getenv("A"))', ('System.getenv("B")', {"env": {"B": "b"}}), 'System.getenv("B")',
            'System.getProperty("A").length()', ('System.getProperty("B")', {"env": {"B": "b"}}), 'System.getProperty("B")',
            '"\U0001f600".length()', "System.in.read()", ("1", {"silent": True}), "// nothing"), [
            (None, "", ""), ("6", "", ""), (None, "", ""), ("10", "", ""), ("P[a=5]", "", ""), (None, "a\ns\nc\n", "e\nt\n"),
            (None, 'a "q" \\ \n \u00e9', ""), ('"b"', "", ""), ("null", "", ""),
            ("11", "", ""), ('"b"', "", ""), ("null", "", ""), ("2", "", ""), ("-1", "", ""), (None, "", ""), (None, "", "")])

    def test_errors(self):
        cells = self.cells("int f(int a) { return 1 / a; }", "f(0)", "nothing + 1", "int q =", 'throw new IllegalStateException("bad")',
                           "void h() { undefined(); }", "h()", 'System.out.println("before"); f(0);', then="print(repr(c.run('f(0)').error.traceback))")
        self.assertEqual([cell[4] for cell in cells[1:5]], [
            ("java.lang.ArithmeticException", "/ by zero"), ("CompileError", "cannot find symbol"),
            ("CompileError", "reached end of file while parsing"), ("java.lang.IllegalStateException", "bad")])
        self.assertEqual(cells[6][4][0], "UnresolvedReferenceException")
        self.assertEqual(cells[7][2], "before\n")
        self.assertRegex(cells[8], r"^'java.lang.ArithmeticException: / by zero\\n\\tat f \(#\d+:1\)\\n\\tat  \(#\d+:1\)'$")

    def test_collections_pictures_and_displays(self):
        cells = self.cells('List.of(1, "a", List.of(true))', "new java.awt.image.BufferedImage(2, 2, 1)",
                           'display("<b>x</b>", "text/html"); display(Map.of("a", 1)); display(new byte[]{1}, "image/png");',
                           then="print(c.run('Map.of(\"k\", new int[]{1, 2})').result.json)")
        self.assertEqual([cell[5] for cell in cells[:3]], [
            [(True, ["json", "text"])], [(True, ["png", "text"])], [(False, ["html"]), (False, ["json", "text"]), (False, ["png"])]])
        self.assertEqual(cells[3], "{'k': [1, 2]}")

    def test_an_interrupt_leaves_the_variables(self):
        self.stays_usable("while (true) {}", "Thread.sleep(60000)", "int x = 8", "8")

    def test_an_interrupt_that_comes_while_code_is_compiled(self):
        loops = [("while (true) { int y%d = 1; }" % i, {"timeout": 0.05 + 0.03 * i, "grace": 60.0}) for i in range(8)]
        cells = self.cells("int x = 8", *loops, "x")
        self.assertEqual(cells[1:-1], [("timeout", None, "", "", ("KeyboardInterrupt", ""), [])] * len(loops))
        self.assertEqual(cells[-1][:2], ("ok", "8"))

    def test_the_end_of_the_virtual_machine_and_no_files_left(self):
        cells = self.cells(('while (true) System.out.println("x".repeat(1000));', {"max_bytes": 1 << 20, "timeout": 250}),
                           "System.exit(3)", "1", then="print(s.exec(['ls', '-A', '/tmp']).stdout)")
        self.assertEqual([cell[0] for cell in cells[:3]], ["output_limit", "ended", "ok"])
        self.assertEqual(cells[3], "b''")


@support.once
class Bash(Case):
    def test_state_streams_and_exit_codes(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox() as s:
                c = s.context('bash', env={'A': 'a "quoted" \\\\ \\n line'})
                def run(code, **more):
                    e = c.run(code, **more)
                    print(e.status, repr(e.stdout), repr(e.stderr), e.error and e.error.value)
                run('x=5; declare y=6; cd /tmp; f() { echo "f $1"; }; alias hi="echo hi"')
                run('echo $x $y; pwd; f 2; hi; echo err >&2')
                run('false')
                run('echo $?; printf %s "$A"')
                run('echo "é 😀"; printf "%s|" a\\\\\\\\b "c\\\\"d"; printf "\\\\377\\\\n"')
                run('break; echo after; read line; echo "read $?"')
                run('if; then')
                run('while :; do :; done', timeout=0.5)
                run('sleep 60', timeout=0.5)
                run('echo $x $B', env={'B': 'b', 'x': '7'})
                run('echo $x $B')
                e = c.run('exit 3'); print(e.status, e.state_lost, e.error.value)
                e = c.run('echo "[$x]"'); print(e.stdout, e.restarted)
        """).splitlines(), ["ok '' '' None", "ok '5 6\\n/tmp\\nf 2\\nhi\\n' 'err\\n' None", "failed '' '' 1",
                            "ok '1\\na \"quoted\" \\\\ \\n line' '' None", "ok 'é 😀\\na\\\\b|c\"d|\ufffd\\n' '' None",
                            "ok 'after\\nread 1\\n' \"bash: break: only meaningful in a `for', `while', or `until' loop\\n\" None",
                            "failed '' \"bash: syntax error near unexpected token `;'\\n\" 2", "timeout '' '\\n' ",
                            "timeout '' '\\n' ", "ok '7 b\\n' '' None", "ok '5\\n' '' None", "failed True 3", "[]", " True"])

    def test_what_a_script_sets_and_errors_that_end_what_a_shell_does(self):
        """`set -u` is the first line of many a script; the driver, a part of the same shell, goes on under it."""
        self.assertEqual(self.python("""
            with fumehood.Sandbox() as s:
                c = s.context('bash')
                for code in ('set -euo pipefail; x=1; echo $x', 'set +e; echo $x; A=$B; echo no', 'echo [$x]; unset x', 'readonly r=1', 'echo ${x:?none}',
                             'set +eu; r=2; echo no', 'echo ${a b}; echo no', 'echo $((1/0)); echo no', 'echo "[$x]"'):
                    e = c.run(code, env={'B': 'b'} if '[' in code else {}, timeout=20)
                    print(e.status, repr(e.stdout), e.error and e.error.value, e.stderr.count('\\n'), e.restarted)
                c.run('set -e'); e = c.run('false; echo no', timeout=20)
                print(e.status, repr(e.stdout + e.stderr), e.error.value, e.state_lost, '( set -e; … )' in e.message)
                c.run('set -eu'); e = c.run('echo $B; echo no', timeout=20)
                print(e.status, repr(e.stdout), e.stderr.count('\\n'), e.state_lost, 'set -u' in e.message)
                print('set -u' in c.run('kill -9 $$', timeout=20).message)
        """).splitlines(), ["ok '1\\n' None 0 False", "failed '1\\n' 1 1 False", "ok '[1]\\n' None 0 False", "ok '' None 0 False",
                            "failed '' 1 1 False", "failed '' 1 1 False", "failed '' 1 1 False", "failed '' 1 1 False", "ok '[]\\n' None 0 False",
                            "failed '' 1 True True", "ended '' 1 True True", "False"])

    def test_the_relay_leaves_no_file_and_floods_are_bounded(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox() as s:
                c = s.context('bash')
                print(repr(c.run('ls -A /tmp').stdout))
                e = c.run('yes', max_bytes=1 << 20, timeout=20); print(e.status, e.state_lost, len(e.stdout) > 500000)
                e = c.run('yes >&2 & echo x; kill %1; wait', timeout=20); print(e.status)
                e = c.run('for f in /proc/$$/fd/*; do echo garbage >$f; done 2>/dev/null', timeout=20); print(e.status, e.state_lost)
                e = c.run('kill -9 $$', timeout=20); print(e.status, 'signal 9' in e.message)
                print(c.run('echo ok').stdout)
        """).splitlines()[:5], ["''", "output_limit False True", "ok", "ended True", "ended True"])


@support.once
class JavaScript(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("node"):
            self.skipTest("needs the program node (package nodejs)")

    def cells(self, *codes, language="javascript"):
        return self.python("""
            with fumehood.Sandbox(memory='2G', processes=256) as s:
                c = s.context(%r)
                for code, more in %r:
                    e = c.run(code, **more)
                    print(e.status, repr(e.text), repr(e.stdout), repr(e.stderr), e.error and (e.error.name, e.error.value),
                          e.results and e.results[0].formats())
        """ % (language, [code if isinstance(code, tuple) else (code, {}) for code in codes])).splitlines()

    def test_declarations_again_await_values_and_imports(self):
        self.assertEqual(self.cells(
            "1 + 1", "const x = 5; let y = 6", "const x = 7; let y = 8; class A {}; function f() { return x + y }", "f()",
            "class A { constructor() { this.v = 1 } }; new A()", "await new Promise(r => setTimeout(() => r('late'), 10))",
            "({a: [1, {b: null}]})", "undefined", "import { join as j } from 'node:path'\nimport fs from 'fs'\nj('a', typeof fs.statSync)",
            "(await import('os')).platform()", "require('util').format('%d', 4)", "// import a from 'nothing'\n`import b from 'c'`",
            ("process.env.A", {"env": {"A": "1"}}), "process.env.A", "10n ** 20n", "NaN",
            "export const e = 1\n  export let n = 2\nexport function g() { return e }\nexport class K {}\nexport { g, K as L };\nexport default g() + n",
            "`\nexport const no = 1`"),
            ["ok '2' '' '' None ['text']", "ok None '' '' None []", "ok None '' '' None []", "ok '15' '' '' None ['text']",
             "ok 'A { v: 1 }' '' '' None ['text']", "ok \"'late'\" '' '' None ['text']",
             "ok '{ a: [ 1, { b: null } ] }' '' '' None ['text', 'json']", "ok None '' '' None []",
             "ok \"'a/function'\" '' '' None ['text']", "ok \"'linux'\" '' '' None ['text']", "ok \"'4'\" '' '' None ['text']",
             "ok '\"import b from \\'c\\'\"' '' '' None ['text']", "ok \"'1'\" '' '' None ['text']", "ok None '' '' None []",
             "ok '100000000000000000000n' '' '' None ['text']", "ok 'NaN' '' '' None ['text']",
             "ok '3' '' '' None ['text']", "ok \"'\\\\nexport const no = 1'\" '' '' None ['text']"])

    def test_streams_errors_displays_and_interrupts(self):
        lines = self.cells(
            "console.log('a'); require('child_process').execSync('echo b; echo e >&2', {stdio: 'inherit'}); console.log('c')",
            "throw new TypeError('t')", "x +", "nothing", "throw 5", "await Promise.reject(new Error('r'))",
            "display.html('<b>x</b>'); await display({[Symbol.for('Jupyter.display')]: () => ({'image/png': new Uint8Array([1])})})",
            "let kept = 3", ("for (;;) {}", {"timeout": 0.5}), ("await new Promise(() => {})", {"timeout": 0.5}), "kept",
            "setTimeout(() => { throw new Error('later') }, 1); await new Promise(r => setTimeout(r, 30)); 1", "process.exit(4)", "typeof kept")
        self.assertEqual([line.rsplit(" [", 1)[0] if i < 6 else line for i, line in enumerate(lines)][:11], [
            "ok None 'a\\nb\\nc\\n' 'e\\n' None", "failed None '' '' ('TypeError', 't')",
            "failed None '' '' ('SyntaxError', 'Unexpected end of input')",
            "failed None '' '' ('ReferenceError', 'nothing is not defined')", "failed None '' '' ('Error', '5')",
            "failed None '' '' ('Error', 'r')", "ok None '' '' None ['html']", "ok None '' '' None []",
            "timeout None '' '' ('KeyboardInterrupt', '') []", "timeout None '' '' ('KeyboardInterrupt', '') []",
            "ok '3' '' '' None ['text']"])
        self.assertRegex(lines[11], "^ok '1' '' 'Uncaught Error: later")
        self.assertEqual(lines[12:], ["ended None '' '' None []", "ok \"'undefined'\" '' '' None ['text']"])

    def test_an_error_that_is_printed_or_a_value_shows_the_frames_of_the_code_only(self):
        where = r"\\n    at f \(Cell\[1\]:1:\d+\)\\n    at Cell\[\d\]:1:\d+"
        lines = self.cells("function f() { return new RangeError('shown') }; f()", "console.log(f())", "f().stack",
                           "Promise.reject(f()); await new Promise(r => setTimeout(r, 20))")
        self.assertRegex(lines[0], "^ok 'RangeError: shown" + where + "' '' '' None")
        self.assertRegex(lines[1], "^ok None 'RangeError: shown" + where + r"\\n' '' None")
        self.assertNotIn("node:", lines[2] + lines[3])
        self.assertIn("Uncaught (in promise) RangeError: shown", lines[3])

    def test_an_error_shows_what_caused_it(self):
        self.assertEqual(self.python("""
            with fumehood.Sandbox(memory='2G', processes=256) as s:
                c = s.context('javascript')
                for code in ("throw new Error('outer', {cause: new TypeError('inner')})", "throw new AggregateError([new Error('a'), 5], 'all')",
                             "const e = new Error('own'); e.cause = e; throw e"):
                    trace = c.run(code).error.traceback
                    print([line.strip() for line in trace.splitlines() if 'at Cell' not in line][:3], 'node:' in trace)
        """).splitlines(), ["['Error: outer', '[cause]: TypeError: inner'] False", "['AggregateError: all', '[errors 0]: Error: a'] False",
                            "['Error: own', '[cause]: Error: own', '[cause]: Error: own'] False"])

    def test_typescript_is_stripped_or_refused_truthfully(self):
        said = self.python("""
            with fumehood.Sandbox(memory='2G', processes=256) as s:
                try: c = s.context('typescript')
                except fumehood.UnavailableError as e: print('refused', e.message)
                else:
                    print('made', c.run('interface P { v: number }\\nconst p: P = {v: 4}; p.v as number').text)
        """)
        self.assertRegex(said, r"^(made 4|refused no context in typescript: TypeScript needs Node 22\.13 or later \(this is v)")


@support.once
class NotInstalled(Case):
    def test_the_package_is_named(self):
        """In an image that has the interpreters of neither language."""
        image = self.dir / "image"
        busybox = shutil.which("busybox")
        if not busybox:
            self.skipTest("needs the program busybox (package busybox-static)")
        (image / "bin").mkdir(parents=True)
        shutil.copy(busybox, image / "bin" / "sh")
        self.assertEqual(self.python("""
            with fumehood.Sandbox(image=%r) as s:
                for language in ('r', 'java'):
                    try: s.context(language)
                    except fumehood.Error as e: print(type(e).__name__, '|', e.message, '|', e.hint)
        """ % str(image)).splitlines(), [
            "UnavailableError | a context in r cannot start: R: not found in the sandbox | it needs r-base-core in the sandbox",
            "UnavailableError | a context in java cannot start: java: not found in the sandbox | it needs default-jdk-headless in the sandbox"])


if __name__ == "__main__":
    unittest.main()
