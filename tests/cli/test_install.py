# SPDX-License-Identifier: MIT
"""An installation works from where it was put, builds a C program against libfumehood, and is removed without a trace."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import support

MESON = "/usr/bin/meson"


def setUpModule():
    if support.SANITIZED:
        raise unittest.SkipTest("not in this build: an installation is of a release build")
    if not (support.BUILD / "build.ninja").exists() or not os.access(support.BUILD / "meson-private", os.W_OK):
        raise unittest.SkipTest("only as whom the build belongs to: the build folder is not writable")
    support.need_program("pkg-config")


@support.once
class Install(support.TempDir):
    def setUp(self):
        super().setUp()
        # `./dev uninstall` reads the install log in the build folder, so it is restored.
        log = support.BUILD / "meson-logs" / "install-log.txt"
        kept = log.read_bytes() if log.exists() else None

        def put_back():
            if kept is None:
                log.unlink(missing_ok=True)
            else:
                log.write_bytes(kept)

        self.addCleanup(put_back)
        self.installed = self.dir / "root"
        self.build("install", "--no-rebuild", "--destdir", str(self.installed))
        self.prefix = next(p.parent.parent for p in self.installed.rglob("bin/fumehood"))

    def build(self, command, *options):
        done = subprocess.run([MESON, command, "-C", str(support.BUILD), *options], capture_output=True, text=True,
                              timeout=support.TIMEOUT)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_it_runs_from_where_it_was_put(self):
        done = subprocess.run([str(self.prefix / "bin" / "fumehood"), "run", "-l", "python", "-c", "print(6*7)"],
                              capture_output=True, text=True, timeout=support.TIMEOUT, stdin=subprocess.DEVNULL)
        self.assertEqual((0, "42\n"), (done.returncode, done.stdout), done.stderr)

    def test_the_host_s_files_name_the_engine_where_it_was_put(self):
        engine = next(self.installed.rglob("libexec/fumehood/fumehood-engine"))
        engine = "/" + str(engine.relative_to(self.installed))
        share = self.prefix / "share" / "fumehood"
        self.assertIn(f"profile fumehood-engine {engine} ", (share / "apparmor" / "fumehood-engine").read_text())
        unit = (self.prefix / "lib/systemd/user/fumehood-engine.service").read_text()
        self.assertIn(f"ExecStart={engine} --service --idle-ms=600000\n", unit)
        self.assertIn("Delegate=memory pids cpu", unit)
        self.assertTrue((self.prefix / "lib/systemd/user/fumehood-engine.socket").exists())
        serve = (self.prefix / "lib/systemd/system/fumehood-serve.service").read_text()
        self.assertRegex(serve, r"ExecStart=/\S+/bin/fumehood serve --quiet --api-key-file ")
        self.assertIn("Delegate=", (share / "systemd" / "50-fumehood-delegate.conf").read_text())

    def test_the_heavy_commands_are_found(self):
        for command in "eval", "judge":
            with self.subTest(command):
                done = subprocess.run([str(self.prefix / "bin" / "fumehood"), command, "--help"], capture_output=True,
                                      text=True, timeout=support.TIMEOUT)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertIn(f"fumehood {command}", done.stdout)

    def test_man_pages_and_completions_are_there(self):
        for path in ("man/man1/fumehood.1", "man/man1/fumehood-run.1", "bash-completion/completions/fumehood.bash",
                     "zsh/site-functions/_fumehood", "fish/vendor_completions.d/fumehood.fish"):
            self.assertTrue((self.prefix / "share" / path).exists(), path)

    def test_a_c_program_is_built_with_pkg_config_and_runs_code(self):
        source = support.TOP / "examples" / "c" / "run.c"
        config = next(self.installed.rglob("libfumehood.pc"))
        env = {**os.environ, "PKG_CONFIG_PATH": str(config.parent), "PKG_CONFIG_SYSROOT_DIR": str(self.installed)}
        for how in ([], ["--static"]):
            with self.subTest(how):
                flags = subprocess.run(["pkg-config", *how, "--cflags", "--libs", "libfumehood"], env=env, check=True,
                                       capture_output=True, text=True).stdout.split()
                program = self.dir / "program"
                subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, source, *flags], check=True)
                library = next(self.installed.rglob("libfumehood.so")).parent
                done = subprocess.run([program], capture_output=True, text=True, timeout=support.TIMEOUT,
                                      env={**os.environ, "LD_LIBRARY_PATH": str(library),
                                           "FUMEHOOD_DATA_DIR": str(self.prefix / "share" / "fumehood"),
                                           "FUMEHOOD_ENGINE": str(next(self.installed.rglob("libexec/fumehood/fumehood-engine")))})
                self.assertEqual(0, done.returncode, done.stderr)

    def test_the_library_shows_nothing_but_its_api(self):
        library = next(self.installed.rglob("libfumehood.so"))
        done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
        # "A" is the version's own name, FUMEHOOD_0.
        names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if line.split()[-2] != "A"}
        header = "".join(p.read_text() for p in (support.TOP / "include" / "fumehood").glob("*.h"))
        self.assertEqual(set(), {n for n in names if n not in header})

    def test_uninstalling_leaves_nothing(self):
        subprocess.run(["/usr/bin/ninja", "-C", str(support.BUILD), "uninstall"], capture_output=True, check=True,
                       env={**os.environ, "DESTDIR": str(self.installed)})
        left = [p for p in self.installed.rglob("*") if not p.is_dir()]
        self.assertEqual([], left)


if __name__ == "__main__":
    unittest.main()
