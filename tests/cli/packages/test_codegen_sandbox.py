# SPDX-License-Identifier: MIT
"""The APIs of codegen_sandbox and ai_code_sandbox on fumehood."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import support
from dropin_case import Case, index


@support.root_and_user
class Codegen(Case):
    PROLOGUE = """
    from codegen_sandbox import *
    def error(call):
        try:
            return "nothing raised: %r" % (call(),)
        except Exception as e:
            return "%s: %s" % (type(e).__name__, e)
    """

    def test_python_code_runs(self):
        shown = self.python("""
            with init_codegen_sandbox("python") as s:
                r = s.run_code("\\n    print(\\"it's a sandbox\\")\\n    ")
                show(r.stdout, r.stderr)
                r = s.run_code("import sys, os; print(os.environ['A']); print('e', file=sys.stderr); sys.exit(3)", env_vars={"A": "$x 'y'"})
                show(r.stdout, r.stderr)
                r = s.run_code("import time; print('first', flush=True); time.sleep(60)", timeout=1)
                show(r.stdout, r.stderr)
                show(s.run_code("print('x' * 10 + '%s')" % ("y" * 200000)).stdout[:12])
        """)
        self.assertEqual(shown, [["it's a sandbox\n", ""], ["$x 'y'\n", "(exit code 3)e\n"], ["first\n", "(exit code 124)"], "x" * 10 + "yy"])

    @support.once
    def test_no_time_is_no_limit_and_the_readme_s_word_for_an_image_works(self):
        shown, = self.python("""
            with init_codegen_sandbox("python", custom_image="python:3.12-slim") as s:
                show([s.custom_image_name, s.run_code("print(1)", timeout=0).stdout])
        """)
        self.assertEqual(shown, ["python:3.12-slim", "1\n"])

    def test_node_code_runs(self):
        support.need_program("node", "nodejs")
        shown, = self.python("""
            with init_codegen_sandbox("node") as s:
                r = s.run_code("console.log(1); console.error('e'); process.exit(3)")
                show(r.stdout, r.stderr)
        """)
        self.assertEqual(shown, ["1\n", "(exit code 3)e\n"])

    def test_files(self):
        shown = self.python("""
            with init_codegen_sandbox("python") as s:
                name = "a b'c$(touch pwned);e/f.txt"
                s.write_file(name, "odd"); show(s.read_file(name))
                s.write_dir("d/e"); s.write_file(content="by keyword", filename="d/e/f"); s.delete_dir("d"); s.delete_dir("d")
                show(error(lambda: s.read_file("d/e/f")))
                show(s.container.exec_run(["sh", "-c", "echo out; ls; exit 3"]).exit_code)
                show(s.run_code("import os; print(os.path.exists('pwned'))").stdout)
        """)
        self.assertEqual((shown[0], shown[2], shown[3]), ("odd", 3, "False\n"))
        self.assertIn("SandboxError: Failed to read file", shown[1])

    def test_requirements(self):
        self.need_pip()
        with index() as (settings, _):
            shown = self.python("""
                with init_codegen_sandbox("python", requirements=["fhtest-shape", "fhtest-colour>1"]) as s:
                    show(s.run_code("import fhtest_shape, fhtest_colour; print(fhtest_colour.version)").stdout)
                    show(s.run_requirements_compliance(["fhtest-colour>=2", "fhtest-shape"]).stderr)
                    show(s.run_requirements_compliance(["fhtest-colour<2", "fhtest-none"]).stderr)
                    show(s.run_code("import socket; print([n for _, n in socket.if_nameindex()])").stdout)
                with init_codegen_sandbox("python") as s:
                    show(s.run_requirements_compliance(["fhtest-colour"]).stderr)
            """, **settings)
        self.assertEqual((shown[0], shown[1], shown[3]), ("2.1.0\n", "", "['lo']\n"))
        self.assertTrue(shown[2].startswith("(exit code 1)"), shown[2])
        self.assertIn("SandboxRequirementsError: The following packages are missing or have conflicts: "
                      "fhtest-colour<2 (version conflict: available 2.1.0), fhtest-none", shown[2])
        self.assertEqual(shown[4], "SandboxRequirementsError: requirements-free sandbox")

    @support.once
    def test_requirements_that_are_no_list_are_refused(self):
        """Letters are names of packages, too, which anybody can have published."""
        shown = self.python("for wrong in 'abc', 5: show(error(lambda: init_codegen_sandbox('python', requirements=wrong)))")
        self.assertEqual([text.count("is not a list of packages (give a list, such as ['numpy'])") for text in shown], [1, 1], shown)

    @support.once
    def test_strictly_a_bound_behind_a_redirection_is_lost(self):
        self.need_pip()
        with index() as (settings, _):
            program = """
                with init_codegen_sandbox("python", requirements=["fhtest-colour>99"]) as s:
                    show(s.run_code("import fhtest_colour; print(fhtest_colour.version)").stdout)
            """
            self.assertEqual(self.python(program, CODEGEN_SANDBOX_STRICT="1", **settings), ["2.1.0\n"])
            shown, = self.python("show(error(lambda: init_codegen_sandbox('python', requirements=['fhtest-colour>99'])))", **settings)
            self.assertIn("Failed to install the requirements", shown)

    @support.once
    def test_sizes_and_what_is_refused(self):
        shown = self.python("""
            from codegen_sandbox.config import readymade
            show({name: (size.mem_limit, size.cpu_quota) for name, size in readymade.items()}["xlarge"])
            with init_codegen_sandbox("python", config="tiny") as s:
                show(s.run_code("x = bytearray(300 << 20)\\nfor i in range(0, len(x), 4096): x[i] = 1\\nprint('fits')").stdout)
                show(s.run_code("print('alive')").stdout)
            show(error(lambda: init_codegen_sandbox("python", config="gigantic")))
            show(error(lambda: init_codegen_sandbox("cobol")))
            show(error(lambda: init_codegen_sandbox("python", network_mode="bridge")))
        """)
        self.assertEqual(shown[:3], [["4g", 150000], "", "alive\n"])
        for text, word in zip(shown[3:], ("specs configuration 'gigantic' not available", "unsupported coding language: cobol", "network_mode")):
            self.assertIn(word, text)


@support.once
class AiCode(Case):
    def test_strictly_an_exit_without_a_word_is_an_attribute_error(self):
        shown, = self.python("""
            from ai_code_sandbox import AICodeSandbox
            box = AICodeSandbox()
            try:
                box.run_code("import sys; sys.exit(2)")
            except AttributeError as e:
                show(str(e))
        """, AI_CODE_SANDBOX_STRICT="1")
        self.assertEqual(shown, "'NoneType' object has no attribute 'decode'")

    def test_memory_in_every_form_that_docker_takes(self):
        answers, refused = self.python("""
            from ai_code_sandbox import AICodeSandbox
            answers = []
            for limit in ("0.5g", "512MB", 256 << 20, None, -1):
                with AICodeSandbox(mem_limit=limit) as box:
                    answers.append(box.run_code("print(1)"))
            show(answers)
            with AICodeSandbox(mem_limit="0.06g") as box:
                answer = box.run_code("x = bytearray(300 << 20)\\nfor i in range(0, len(x), 4096): x[i] = 1\\nprint('fits')")
            show("fits" in answer)
        """)
        self.assertEqual((answers, refused), (["1\n"] * 5, False))

    def test_every_form_of_the_answer(self):
        shown, = self.python("""
            from ai_code_sandbox import AICodeSandbox
            box = AICodeSandbox(packages=[])
            answers = [box.run_code(code) for code in (
                "  print('hello')", "x = 1", "import sys; print('e', file=sys.stderr)", "import sys; sys.exit(2)",
                "import sys; sys.stderr.write('why'); sys.exit(4)")]
            box.write_file("a/b.txt", "written")
            answers += [box.run_code("import os; print(os.environ['A'])", env_vars={"A": "'$x'"}), box.read_file("a/b.txt")]
            try:
                box.read_file("none")
            except Exception as e:
                answers.append(str(e)[:19])
            box.close(); box.close()
            show(answers)
        """)
        self.assertEqual(shown, ["hello\n", "No output", "Error: e\n", "Error (exit code 2): ", "Error (exit code 4): why", "'$x'\n", "written",
                                 "Failed to read file"])


if __name__ == "__main__":
    unittest.main()
