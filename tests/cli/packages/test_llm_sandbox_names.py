# SPDX-License-Identifier: MIT
"""What of llm_sandbox's and codegen_sandbox's API needs no sandbox: models, enumerations, handlers, backends of a program's own."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import support
from dropin_case import Case


@support.once
class Names(Case):
    PROLOGUE = """
    from llm_sandbox import *
    from llm_sandbox.exceptions import *
    def error(kind, call):
        try:
            return "nothing raised: %r" % (call(),)
        except kind as e:
            return str(e)
    """

    def test_models_go_to_dictionaries_and_json_and_come_back(self):
        values, same, again, copied, bad, parameters = self.python("""
            import inspect
            from llm_sandbox.pool import PoolConfig
            policy = SecurityPolicy(severity_threshold=2, patterns=[
                SecurityPattern(pattern="x", description="an x", severity=SecurityIssueSeverity.HIGH)])
            show(policy.model_dump()["patterns"])
            show(SecurityPolicy.model_validate(policy.model_dump()) == policy)
            show(SecurityPolicy.model_validate_json(policy.model_dump_json()) == policy)
            show(PoolConfig(min_pool_size=1).model_copy(update={"max_pool_size": "7"}).max_pool_size)
            show([error(ValueError, lambda: PoolConfig(**one)) for one in (
                {"idle_timeout": 0}, {"max_container_uses": 0}, {"health_check_interval": -1}, {"min_pool_size": 9, "max_pool_size": 2})])
            show(list(inspect.signature(SecurityPattern).parameters))
        """)
        self.assertEqual(values, [{"pattern": "x", "description": "an x", "severity": 3}])
        self.assertEqual((same, again, copied), (True, True, 7))
        for name, text in zip(("idle_timeout", "max_container_uses", "health_check_interval", "min_pool_size (9)"), bad):
            self.assertIn(name, text)
        self.assertEqual(parameters, ["pattern", "description", "severity"])

    def test_the_backend_bubblewrap_is_for_linux_and_in_strict_mode_wants_bwrap(self):
        code = """
            import shutil, sys
            from llm_sandbox.bubblewrap import BubblewrapSession
            show(error(MissingDependencyError, lambda: BubblewrapSession(bwrap_path="no-bwrap").bwrap_path))
            sys.platform = "darwin"
            show(error(ValidationError, BubblewrapSession))
        """
        here, elsewhere = self.python(code)
        self.assertIn("'no-bwrap'", here)
        self.assertIn("nothing raised", here)
        self.assertIn("requires Linux", elsewhere)
        self.assertIn("requires 'no-bwrap'", self.python(code, LLM_SANDBOX_STRICT="1")[0])

    def test_where_pydantic_is_loaded_its_error_is_raised(self):
        kind, plain = self.python("""
            import sys, types
            from llm_sandbox.pool import PoolConfig
            class Loaded(ValueError):
                @classmethod
                def from_exception_data(cls, title, lines):
                    return cls("%s.%s: %s" % (title, lines[0]["loc"][0], lines[0]["ctx"]["error"]))
            sys.modules["pydantic_core"] = types.SimpleNamespace(ValidationError=Loaded)
            show(error(Loaded, lambda: PoolConfig(max_pool_size=0)))
            del sys.modules["pydantic_core"]
            show(error(ValueError, lambda: PoolConfig(max_pool_size=0)))
        """)
        self.assertIn("PoolConfig.max_pool_size", kind)
        self.assertIn("PoolConfig.max_pool_size", plain)

    def test_models_can_be_fields_of_a_pydantic_model(self):
        dumped, refused = self.python("""
            try:
                import pydantic
            except ImportError:
                show(None); show(""); raise SystemExit
            from llm_sandbox.pool import PoolConfig
            class Settings(pydantic.BaseModel):
                policy: SecurityPolicy
                pool: PoolConfig = PoolConfig()
            made = Settings(policy={"severity_threshold": 3}, pool={"max_pool_size": 2})
            show([json.loads(made.model_dump_json())["pool"]["max_pool_size"], made.policy.severity_threshold])
            show(error(pydantic.ValidationError, lambda: Settings(policy={"severity_threshold": 9})))
        """)
        if dumped is None:
            self.skipTest("long: no pydantic here, which comes from PyPI")
        self.assertEqual(dumped, [2, 3])
        self.assertNotIn("nothing raised", refused)

    def test_enumerations_hold_texts_in_any_case(self):
        found, said, refused = self.python("""
            from llm_sandbox.const import StrEnum
            show(SandboxBackend("DOCKER"), SupportedLanguage("Python"))
            show(error(ValueError, lambda: SandboxBackend("teleport")))
            def numbers():
                class Numbers(StrEnum):
                    ONE = 1
            show(error(TypeError, numbers))
        """)
        self.assertEqual(found, ["docker", "python"])
        self.assertIn("'teleport' is not a valid SandboxBackend", said)
        self.assertIn("must be strings", refused)

    def test_names_of_packages_lose_the_blanks_around_them(self):
        good, bad = self.python("""
            from llm_sandbox.security import validate_package_name
            show([validate_package_name(" requests\\n", "python"), validate_package_name("a/b@1", "haskell")])
            show([error(ValidationError, lambda: validate_package_name(name, language)) for name, language in (
                ("a b", "python"), ("  ", "python"), ("--index-url=x", "python"), ("a;b", "haskell"), ("a\\n--pre", "python"))])
        """)
        self.assertEqual(good, ["requests", "a/b@1"])
        self.assertFalse([text for text in bad if text.startswith("nothing raised")], bad)

    def test_a_result_is_made_as_in_both_generations(self):
        shown = self.python("""
            for made in (ConsoleOutput(text="old"), ConsoleOutput("old"), ConsoleOutput(2, "err", "out"), ConsoleOutput(stdout="out")):
                show(made.exit_code, made.stderr, made.stdout, made.text)
        """)
        self.assertEqual(shown, [[0, "", "old", "old"], [0, "", "old", "old"], [2, "err", "out", "outerr"], [0, "", "out", "out"]])

    def test_text_says_that_it_is_old_when_it_is_called(self):
        shown, = self.python("""
            import warnings
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                result = ConsoleOutput(stdout="out")
                show(result.text, result.text(), [one.category.__name__ for one in said])
        """)
        self.assertEqual(shown, ["out", "out", ["DeprecationWarning"]])

    def test_text_has_errors_as_well_where_it_is_no_method(self):
        shown, = self.python("""
            with SandboxSession(lang="python") as session:
                result = session.run("print('out')\\n1 / 0")
                show(result.text.splitlines()[0], result.text.splitlines()[-1], result.text())
        """)
        self.assertEqual(shown, ["out", "ZeroDivisionError: division by zero", "out\n"])

    def test_programs_of_the_generation_before_catch_what_they_expect(self):
        shown, = self.python("""
            import pickle
            from llm_sandbox import DependencyError
            kept = pickle.loads(pickle.dumps(NotOpenSessionError()))
            with SandboxSession(lang="java") as session:
                show(error(RuntimeError, lambda: SandboxSession(lang="python").run("1")), error(ValueError, lambda: session.execute_command("")),
                     error(ValueError, lambda: session.run("1", libraries=["x"])), issubclass(MissingDependencyError, DependencyError),
                     isinstance(kept, RuntimeError) and isinstance(kept, SandboxError))
        """)
        self.assertIn("open()", shown[0])
        self.assertIn("empty", shown[1])
        self.assertIn("java", shown[2])
        self.assertEqual(shown[3:], [True, True])

    def test_a_policy_s_findings_end_with_what_forbids(self):
        shown = self.python("""
            high, low = SecurityIssueSeverity.HIGH, SecurityIssueSeverity.LOW
            policy = SecurityPolicy(severity_threshold=SecurityIssueSeverity.MEDIUM, patterns=[
                SecurityPattern(pattern=p, description=p, severity=s) for p, s in (("a", low), ("b", high), ("c", high))])
            session = SandboxSession(lang="python", security_policy=policy)
            for code in ("a", "a b c", "c"):
                safe, found = session.is_safe(code)
                show(safe, [one.pattern for one in found])
        """)
        self.assertEqual(shown, [[True, ["a"]], [False, ["a", "b"]], [False, ["c"]]])

    def test_a_backend_of_a_program_s_own_is_made_of_base_session_and_a_container_api(self):
        ran, files, policy, late, closed, early, (plots, refused) = self.python("""
            import base64, io, os, shutil, subprocess, sys, tarfile
            from llm_sandbox.core.config import SessionConfig
            from llm_sandbox.core.session_base import BaseSession
            class Folder:
                "A folder of this machine stands for the container."
                def create_container(self, config): os.makedirs(config, exist_ok=True); return config
                def start_container(self, container): pass
                def stop_container(self, container): shutil.rmtree(container)
                def execute_command(self, container, command, workdir=None, stream=False):
                    done = subprocess.run(command.replace("python ", sys.executable + " "), shell=True, cwd=workdir or container, capture_output=True)
                    return done.returncode, (done.stdout, done.stderr)
                def copy_to_container(self, container, src, dest): shutil.copy(src, dest)
                def copy_from_container(self, container, src):
                    data = io.BytesIO()
                    with tarfile.open(fileobj=data, mode="w") as tar: tar.add(src, os.path.basename(src))
                    return data.getvalue(), {"size": os.path.getsize(src)}
            class Mine(BaseSession):
                def __init__(self, lang="python", security_policy=None, **given):
                    super().__init__(SessionConfig(lang=lang, workdir=os.path.abspath("box"), skip_environment_setup=True, security_policy=security_policy))
                    self.container_api = Folder()
                def open(self): super().open(); self.container = self.container_api.create_container(self.config.workdir); self.environment_setup()
                def close(self): super().close(); self.container_api.stop_container(self.container); self.container = None
                def get_archive(self, path): return self.container_api.copy_from_container(self.container, path)
                def _ensure_directory_exists(self, path): os.makedirs(path, exist_ok=True)
                def _ensure_ownership(self, paths): pass
                def _handle_timeout(self): self.told = True
                def _connect_to_existing_container(self, container_id): self.container = container_id
                def _process_non_stream_output(self, output): return tuple(data.decode() for data in output)
                def _process_stream_output(self, output, on_stdout=None, on_stderr=None):
                    texts = self._process_non_stream_output(output)
                    on_stdout and on_stdout(texts[0])
                    return texts
            register_backend("mine", Mine)
            policy = SecurityPolicy(severity_threshold=2, patterns=[SecurityPattern(pattern="danger", description="it says danger", severity=3)])
            with SandboxSession(backend="mine", lang="python", security_policy=policy) as session:
                seen = []
                result = session.run("print(6 * 7); raise SystemExit(3)", on_stdout=seen.append)
                both = session.execute_commands([["pwd", "/"], ("echo there", None)])
                show(result.stdout, result.exit_code, seen, both.stdout)
                session.copy_to_runtime("program.py", session.config.workdir + "/to/p.py")
                session.copy_from_runtime(session.config.workdir + "/to/p.py", "back.py")
                session.copy_from_runtime(session.config.workdir + "/to", "folder")
                show(os.path.getsize("back.py") > 0, os.listdir("folder/to"), error(SecurityError, lambda: session.copy_to_runtime("back.py", "/box/../x")))
                show(error(SecurityViolationError, lambda: session.run("danger = 1")))
                show(error(SandboxTimeoutError, lambda: session.run("import time; time.sleep(2)", timeout=0.2)), session.told)
            show(error(NotOpenSessionError, lambda: session.run("1")) and not os.path.exists("box"))
            class Drawing(Mine):
                def execute_command(self, command, **given):
                    return ConsoleOutput(stdout="/plots/000001.png\\n" if command.startswith("find") else "")
                def get_archive(self, path):
                    data = io.BytesIO()
                    with tarfile.open(fileobj=data, mode="w") as tar:
                        entry = tarfile.TarInfo("000001.png"); entry.size = 3
                        tar.addfile(entry, io.BytesIO(b"png"))
                    return data.getvalue(), {"size": 3}
            class Early(BaseSession):
                "As one was derived before 0.3.11, without the two methods that came then."
                open = close = execute_command = _ensure_directory_exists = _ensure_ownership = get_archive = lambda self, *given, **named: None
                _process_non_stream_output = _process_stream_output = lambda self, output, **named: None
            early = Early(SessionConfig(lang="python"))
            early._handle_timeout()
            show(error(ContainerError, lambda: early._connect_to_existing_container("abc")))
            register_backend("drawing", Drawing)
            with ArtifactSandboxSession(backend="drawing", lang="python") as session:
                plots = session.run("code").plots
            show([(plot.format.value, base64.b64decode(plot.content_base64).decode()) for plot in plots],
                 [error((TypeError, ValueError), lambda: register_backend(*one)) for one in ((1, Mine), ("mine", Mine), ("9", Mine), ("other", None))])
        """)
        self.assertEqual(ran, ["42\n", 3, ["42\n"], "there\n"])
        self.assertEqual(files[:2], [True, ["p.py"]])
        self.assertIn("traversal", files[2])
        self.assertIn("it says danger", policy)
        self.assertEqual((late, closed), (["Operation timed out after 0.2 seconds", True], True))
        self.assertIn("abc", early)
        self.assertEqual(plots, [["png", "png"]])
        self.assertFalse([text for text in refused if text.startswith("nothing raised")], refused)

    def test_a_session_without_containers_shows_what_its_configuration_says_and_no_more(self):
        shown = self.python("""
            from llm_sandbox.local.launch import read_only_mounts
            show(read_only_mounts(LocalSandboxConfig(read_only_paths=("/usr",)), "/sandbox"))
            for path in ("/", "/proc/1/root", "//usr", "/usr/../home", "/tmp/x", "relative"):
                show(error(ValueError, lambda: LocalSandboxConfig(read_only_paths=(path,))))
            show(error(SandboxError, lambda: SandboxSession(backend="bubblewrap", sandbox_config=LocalSandboxConfig(
                seccomp=SeccompPolicy(blocked_syscalls=("getppid",))))))
            show(error(FileNotFoundError, lambda: SandboxSession(backend="nsjail", sandbox_config=LocalSandboxConfig(read_only_paths=("/not/there",))).open()))
            for options in ({"image": "x"}, {"workdir": "/"}, {"workdir": "/a b"}, {"execution_timeout": 0}, {"env_vars": {"a=": "x"}}):
                show(error(ValueError, lambda: SandboxSession(backend="bubblewrap", **options)))
            show(error(TypeError, lambda: SandboxSession(backend="bubblewrap", bogus=1)))
        """)
        self.assertEqual(shown[0], [["/usr", "/usr"]])
        self.assertFalse([text for text in shown[1:] if "nothing raised" in text], shown)
        self.assertIn("getppid", shown[7])

    def test_handlers_say_what_they_cannot_do(self):
        commands, errors = self.python("""
            from llm_sandbox.language_handlers.factory import LanguageHandlerFactory as factory
            handlers = {name: factory.create_handler(name) for name in factory.get_supported_languages()}
            show([handlers["go"].get_execution_commands("/a b.go"), handlers["r"].get_library_installation_command(" ggplot2 "),
                  handlers["cpp"].get_execution_commands("/a.cpp")])
            bare = factory.create_handler("python")
            bare.config.plot_detection = bare.config.package_manager = None
            bare.config.execution_commands = []
            factory.register_handler("wrong", int)
            show([error(LanguageNotSupportPlotError, lambda: bare.inject_plot_detection_code("x")),
                  error(PackageManagerError, lambda: bare.get_library_installation_command("x")),
                  error(CommandFailedError, lambda: bare.get_execution_commands("x")),
                  error(TypeError, lambda: factory.create_handler("wrong")),
                  error(ValidationError, lambda: handlers["r"].get_library_installation_command("x');system('id"))])
        """, R_REPO="https://cran.example/")
        self.assertEqual(commands, [["go run '/a b.go'"], "R -e \"install.packages('ggplot2', repos='https://cran.example/')\"",
                                    ["g++ -std=c++17 -o /tmp/a.out /a.cpp", "/tmp/a.out"]])
        self.assertFalse([text for text in errors if text.startswith("nothing raised")], errors)

    def test_a_handler_of_a_program_s_own_has_comments_of_its_own(self):
        left, command = self.python("""
            from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig
            class Pascal(AbstractLanguageHandler):
                config = LanguageConfig("pascal", "pas", ["instantfpc {file}"], None, False)
                def get_import_patterns(self, module):
                    return r"uses\\s+" + module
                @staticmethod
                def get_multiline_comment_patterns():
                    return r"\\(\\*[\\s\\S]*?\\*\\)"
                @staticmethod
                def get_inline_comment_patterns():
                    return r"--.*$"
            handler = Pascal()
            show(handler.filter_comments("a (* one\\n two *) b -- three\\nc // four\\n  -- five"))
            show(handler.get_execution_commands("/x/p.pas"))
        """)
        self.assertEqual(left, "a  b \nc // four\n")
        self.assertEqual(command, ["instantfpc /x/p.pas"])

    def test_a_policy_of_r_and_ruby_looks_at_more_than_the_original_s_patterns(self):
        codes, patterns, policies, blocks = self.python("""
            import re
            from llm_sandbox import RestrictedModule, SecurityPolicy, SecurityIssueSeverity
            from llm_sandbox.core.policy_check import violations
            from llm_sandbox.language_handlers import RHandler, RubyHandler
            codes = ["library(dplyr)", "x <- 1; require('dplyr')", "dplyr::filter(x)", "eval(parse(text = 'library(dplyr)'))", "library(dplyrx)", "library(dplyr.x)"]
            show(codes)
            pattern = RHandler().get_import_patterns("dplyr")
            show([bool(re.search(pattern, code)) for code in codes])
            def finds(handler, name, code):
                return bool(violations(code, SecurityPolicy(restricted_modules=[RestrictedModule(name, "no", SecurityIssueSeverity.HIGH)]), handler))
            show([finds(RHandler(), "dplyr", code) for code in codes])
            code = "x\\n  =begin\\n  require 'socket'\\n  1\\n end\\n=end\\n"
            show([RubyHandler().filter_comments(code), finds(RubyHandler(), "socket", code), finds(RubyHandler(), "socket", code.replace("  =", "="))])
        """)
        self.assertEqual(dict(zip(codes, patterns)), dict(zip(codes, [True, True, False, False, False, False])))
        self.assertEqual(dict(zip(codes, policies)), dict(zip(codes, [True, True, True, True, False, False])))
        self.assertEqual(blocks, ["x\n  \n", True, False])

    def test_plots_pass_the_limit_as_the_original_s_handlers_do(self):
        found, = self.python("""
            from llm_sandbox.language_handlers import JavaHandler, PythonHandler
            class Session:
                def run(self, *values, **named):
                    return [list(values), named]
            show([handler().run_with_artifacts(Session(), "code", enable_plotting=False, timeout=7, on_stdout=1)[0] for handler in (PythonHandler, JavaHandler)])
        """)
        self.assertEqual(found, [[["code", None, 7], {"on_stdout": 1}], [["code", None], {"timeout": 7, "on_stdout": 1}]])

    def test_what_models_refuse_in_the_original_they_refuse_here(self):
        times, calls, once, pools = self.python("""
            from llm_sandbox.pool import create_pool_manager
            show([error(ValueError, lambda: SessionConfig(**{name: "soon"})) for name in ("default_timeout", "execution_timeout", "session_timeout")])
            show(error(ValueError, lambda: SeccompPolicy(blocked_syscalls=())))
            show(SeccompPolicy(blocked_syscalls=("ptrace", "mount", "ptrace")).blocked_syscalls)
            show([error(kind, lambda: create_pool_manager(backend="micromamba")) for kind in (UnsupportedBackendError, ValidationError)])
        """)
        for name, text in zip(("default_timeout", "execution_timeout", "session_timeout"), times):
            self.assertIn(name, text)
        self.assertIn("at least one", calls)
        self.assertEqual(once, ["ptrace", "mount"])
        for text in pools:
            self.assertIn("micromamba", text)
            self.assertIn("does not support container pooling", text)

    def test_what_a_line_of_a_dockerfile_installs(self):
        found, = self.python("""
            from llm_sandbox import _installs
            listed = "numpy==1.26  # why\\n# all\\npandas >= 2 ; python_version > '3'\\n-i https://x\\n\\n"
            show([_installs.steps(line, lambda path: listed) for line in (
                "pip install --no-cache-dir -r requirements.txt",
                "python -m pip install -i https://x 'a>1' b && echo done",
                "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends curl git && rm -rf /var/lib/apt/lists/*",
                "npm install --save axios@1 ; npm cache clean --force",
                "pip install --upgrade pip",
                "cd /x && make && echo 'pip install not'",
                "echo a; pip install c; echo b")])
        """)
        self.assertEqual(found, [
            [["python", ["numpy==1.26", "pandas>=2"]]],
            [["python", ["a>1", "b"]], "echo done"],
            [["cpp", ["curl", "git"]]],
            [["javascript", ["axios@1"]]],
            [],
            ["cd /x && make && echo 'pip install not'"],
            ["echo a", ["python", ["c"]], "echo b"]])

    def test_modules_of_the_generation_before_are_there(self):
        commands, unknown, kinds, made = self.python("""
            from llm_sandbox import base, factory, utils
            from llm_sandbox.const import NotSupportedLibraryInstallation, SupportedLanguageValues
            show([utils.get_code_file_extension("javascript"), utils.get_code_execution_command("ruby", "/tmp/code.rb"),
                  utils.get_libraries_installation_command("python", "numpy"), "python" in SupportedLanguageValues, NotSupportedLibraryInstallation])
            show(error(ValueError, lambda: utils.get_code_file_extension("cobol")))
            show([base.ConsoleOutput is ConsoleOutput, issubclass(type(SandboxSession()), base.Session)])
            show(factory.UnifiedSessionFactory().create_session(backend=SandboxBackend.PODMAN, lang="python").backend)
        """)
        self.assertEqual(commands, ["js", ["ruby /tmp/code.rb"], "pip install numpy", True, ["JAVA"]])
        self.assertIn("cobol", unknown)
        self.assertEqual((kinds, made), ([True, True], "podman"))

    def test_to_the_letter_a_backend_needs_its_client_s_package(self):
        said, = self.python("""
            import llm_sandbox.session
            llm_sandbox.session.find_spec = lambda name: None
            show(error(MissingDependencyError, lambda: SandboxSession(backend="podman", lang="python")))
        """, LLM_SANDBOX_STRICT="1")
        self.assertIn("'podman' package", said)

    def test_sizes_of_codegen_sandbox(self):
        sizes, fits = self.python("""
            from codegen_sandbox.config import _max_cpu_quota, _max_mem_limit, _mem_limit_to_int, available, readymade
            show([_mem_limit_to_int(text) for text in ("1", "1k", "2m", "3g")])
            show(all(_mem_limit_to_int(readymade[name].mem_limit) < _max_mem_limit and readymade[name].cpu_quota < _max_cpu_quota
                     for name in available if name != "tiny"))
        """)
        self.assertEqual((sizes, fits), ([1, 1 << 10, 2 << 20, 3 << 30], True))


if __name__ == "__main__":
    unittest.main()
