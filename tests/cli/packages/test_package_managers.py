# SPDX-License-Identifier: MIT
"""Packages on demand by gem, R, go and apt, from registries of the tests' own: a folder that a server on the loopback shows."""
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(__file__))
import support
from dropin_case import Case


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class Registry(Case):
    PROLOGUE = """
    import os
    from llm_sandbox import *
    from llm_sandbox.exceptions import *
    def error(kind, call):
        try:
            return "nothing raised: %r" % (call(),)
        except kind as e:
            return str(e)
    """

    def setUp(self):
        super().setUp()
        self.top = self.dir / "registry"
        self.top.mkdir()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(self.top)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = "http://127.0.0.1:%d" % server.server_port

    def need(self, tool, package, full=False):
        """Skips without the tool; ``full``: which only `./dev test --full` installs."""
        if shutil.which(tool) is None:
            self.skipTest("%sneeds %s (package %s)" % ("long: " if full else "", tool, package))


@support.once
class Names(unittest.TestCase):
    def test_no_package_manager_sees_what_is_not_a_name(self):
        sys.path.insert(0, str(support.TOP / "python"))
        from fumehood import ArgumentError, packages
        from fumehood.packages import _names
        hostile = ("", " ", "-y", "--target=/", "x; id", "$(id)", "`id`", "x|y", "x y", "x\ny", "x\0y", "'x", '"x', "../x", "/etc/passwd", "./x", "x/../y",
                   "file:///x", "https://x/y", "x@", "...", "x/...", "-", "@x", "x" * 300, "\u0445", None, 7)
        self.assertEqual(set(_names._EXAMPLES), set(packages.LANGUAGES))
        for language in packages.LANGUAGES:
            self.assertEqual(packages.check_name(language, _names._EXAMPLES[language]), _names._EXAMPLES[language])
            for name in hostile:
                with self.subTest(language=language, name=name), self.assertRaises(ArgumentError):
                    packages.check_name(language, name)
        for name in ("libx-", "libX", "lib*"):  # apt takes these for a package to remove, and for patterns
            with self.assertRaises(ArgumentError):
                packages.check_name("cpp", name)


_GEMS = """
require "rubygems/package"; require "zlib"; require "fileutils"; require "json"
made = JSON.parse(File.read("gems.json")).map do |name, version, needs, extension|
  FileUtils.mkdir_p "lib"; FileUtils.mkdir_p "ext"
  File.write("lib/#{name}.rb", "module #{name.capitalize}; VERSION_TEXT = '#{version}'; end\\n")
  File.write("ext/extconf.rb", extension.to_s)
  spec = Gem::Specification.new(name, version) do |s|
    s.summary = name; s.authors = ["tests"]; s.homepage = "http://127.0.0.1/"; s.license = "MIT"; s.files = ["lib/#{name}.rb", "ext/extconf.rb"]
    needs.each { |other| s.add_dependency(other, ">= 0") }
    s.extensions = ["ext/extconf.rb"] if extension
  end
  Gem::Package.build(spec)
  spec
end
FileUtils.mkdir_p ["gems", "quick/Marshal.4.8"]
FileUtils.mv Dir["*.gem"], "gems"
list = made.map { |s| [s.name, s.version, "ruby"] }
{"specs" => list, "latest_specs" => list, "prerelease_specs" => []}.each do |name, data|
  Zlib::GzipWriter.open("#{name}.4.8.gz") { |file| file.write Marshal.dump(data) }
end
made.each { |s| File.binwrite("quick/Marshal.4.8/#{s.full_name}.gemspec.rz", Zlib::Deflate.deflate(Marshal.dump(s))) }
"""


@support.root_and_user
class Gems(Registry):
    def gems(self, *gems):
        """A source of these gems: (name, version, what it needs, text of its extconf.rb or None)."""
        self.need("ruby", "ruby")
        (self.top / "gems.json").write_text(json.dumps(gems))
        subprocess.run(["ruby", "-e", _GEMS], cwd=self.top, check=True, capture_output=True)
        rc = self.write("gemrc", ":sources:\n- %s/\n" % self.url)
        return {"GEMRC": str(rc), "HOME": str(self.dir)}

    def test_a_session_has_them_and_what_they_need_and_later_ones_too(self):
        settings = self.gems(["fhcolour", "2.1.0", [], None], ["fhshape", "0.3.0", ["fhcolour"], None], ["fhlater", "1.0.0", [], None])
        shown = self.python("""
            use = "require 'fhshape'; require 'fhcolour'; puts Fhshape::VERSION_TEXT + Fhcolour::VERSION_TEXT"
            for _ in range(2):
                with SandboxSession(lang="ruby", libraries=["fhshape:0.3.0"]) as s:
                    show(s.run(use).stdout)
                    show(s.run("require 'fhlater'; puts Fhlater::VERSION_TEXT", libraries=["fhlater"]).stdout)
                    show(s.run(use).stdout)
            with SandboxSession(lang="ruby") as s:
                show(s.run(use).exit_code)
                show(error(CommandFailedError, lambda: s.install(["fhnone"])))
        """, **settings)
        self.assertEqual(shown[:-1], ["0.3.02.1.0\n", "1.0.0\n", "0.3.02.1.0\n"] * 2 + [1])
        self.assertIn("fhnone", shown[-1])

    def test_an_extension_s_script_runs_in_a_sandbox_without_a_network(self):
        self.need("make", "make")
        mark = self.dir / "mark"
        script = """
            require "socket"
            begin; File.write(%r, "x"); rescue SystemCallError; end
            online = begin; TCPSocket.new("127.0.0.1", %d); true; rescue SystemCallError; false; end
            Dir.mkdir("../lib") unless Dir.exist?("../lib")
            File.write("../lib/built.rb", "BUILT = [Process.uid, #{online}]")
            File.write("Makefile", "all:\\n\\ninstall:\\n\\nclean:\\n\\n")
        """ % (str(mark), int(self.url.rsplit(":", 1)[1]))
        settings = self.gems(["fhnative", "1.0.0", [], script])
        shown = self.python("""
            with SandboxSession(lang="ruby", libraries=["fhnative"]) as s:
                show(s.run("require 'fhnative'; require 'built'; p BUILT").stdout)
        """, **settings)
        self.assertEqual(shown, ["[0, false]\n"])
        self.assertFalse(mark.exists())


@support.once
class RPackages(Registry):
    def test_a_session_has_them_and_what_they_need_built_without_a_network(self):
        self.need("Rscript", "r-base-core", True)
        folder = self.top / "src" / "contrib"
        folder.mkdir(parents=True)
        index = []
        mark = self.dir / "mark"
        for name, needs in (("fhcolour", ""), ("fhshape", "fhcolour")):
            description = "Package: %s\nVersion: 1.2\nTitle: T\nDescription: D.\nAuthor: A\nMaintainer: A <a@example.org>\nLicense: MIT\n" % name
            description += "Imports: %s\n" % needs if needs else ""
            code = "%s_name <- function() '%s'\ntry(cat('x', file = '%s'), silent = TRUE)\n" % (name, name, mark)
            code += "shape_of <- function() fhcolour::fhcolour_name()\n" if needs else ""
            with tarfile.open(folder / ("%s_1.2.tar.gz" % name), "w:gz") as tar:
                for path, text in (("DESCRIPTION", description), ("NAMESPACE", "exportPattern('.')\n"), ("R/code.R", code)):
                    member = tarfile.TarInfo("%s/%s" % (name, path))
                    member.size = len(text)
                    tar.addfile(member, io.BytesIO(text.encode()))
            index.append("Package: %s\nVersion: 1.2\nLicense: MIT\nNeedsCompilation: no\n%s" % (name, "Imports: fhcolour\n" if needs else ""))
        (folder / "PACKAGES").write_text("\n".join(index))
        (folder / "PACKAGES.gz").write_bytes(gzip.compress("\n".join(index).encode()))
        shown = self.python("""
            with SandboxSession(lang="r", libraries=["fhshape"]) as s:
                show(s.run("cat(fhshape::shape_of())").stdout)
            with SandboxSession(lang="r") as s:
                show(s.run("cat(requireNamespace('fhshape', quietly = TRUE))").stdout)
                show(s.run("cat(fhcolour::fhcolour_name())", libraries=["fhcolour"]).stdout)
                show(error(CommandFailedError, lambda: s.install(["fhnone"])))
        """, R_REPO=self.url)
        self.assertEqual(shown[:3], ["fhcolour", "FALSE", "fhcolour"])
        self.assertIn("fhnone", shown[3])
        self.assertFalse(mark.exists())


@support.once
class GoModules(Registry):
    def module(self, name, files, needs=()):
        text = "module %s\n\ngo 1.18\n%s" % (name, "".join("\nrequire %s v1.2.0\n" % other for other in needs))
        place = self.top / name / "@v"
        place.mkdir(parents=True)
        with zipfile.ZipFile(place / "v1.2.0.zip", "w") as archive:
            for path, content in dict(files, **{"go.mod": text}).items():
                archive.writestr("%s@v1.2.0/%s" % (name, path), content)
        (place / "v1.2.0.mod").write_text(text)
        (place / "v1.2.0.info").write_text('{"Version": "v1.2.0", "Time": "2024-01-01T00:00:00Z"}')
        (place / "list").write_text("v1.2.0\n")

    def test_a_session_has_them_and_what_they_need_and_later_ones_too(self):
        if not support.FULL:
            self.skipTest("long: compiles Go's standard library")
        self.need("go", "golang-go", True)
        self.module("fh.example/colour", {"c.go": 'package colour\nfunc Name() string { return "red" }\n'})
        self.module("fh.example/shape", {"s.go": 'package shape\nimport "fh.example/colour"\nfunc Say() string { return "a " + colour.Name() }\n'},
                    ["fh.example/colour"])
        self.module("fh.example/later", {"l.go": 'package later\nconst Word = "later"\n'})
        self.python("from fumehood import packages\nshow(packages.resolve('go', []).names)")  # compiles the standard library
        shown = self.python("""
            program = 'package main\\nimport ("os"; "fh.example/%s")\\nfunc main() { os.Stdout.WriteString(%s) }\\n'
            with SandboxSession(lang="go", libraries=["fh.example/shape@v1.2.0"]) as s:
                show(s.run(program % ("shape", "shape.Say()")).stdout)
                show(s.run(program % ("later", "later.Word"), libraries=["fh.example/later"]).stdout)
                show(s.run(program % ("shape", "shape.Say()")).stdout)
                show(error(CommandFailedError, lambda: s.install(["fh.example/none"])))
        """, GOPROXY=self.url, GOSUMDB="off")
        self.assertEqual(shown[:3], ["a red", "later", "a red"])
        self.assertIn("fh.example/none", shown[3])


@support.root_and_user
class DebianPackages(Registry):
    def package(self, name, files, links=(), needs=""):
        """A package whose maintainer's script would leave a mark."""
        root = self.dir / ("deb-" + name)
        for path, text in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            place.chmod(0o4755 if path.startswith("usr/bin") else 0o644)
        for path, target in links:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        control = "Package: %s\nVersion: 1.2\nArchitecture: all\nMaintainer: A <a@example.org>\nDescription: d\n" % name
        control += "Depends: %s\n" % needs if needs else ""
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN" / "control").write_text(control)
        (root / "DEBIAN" / "postinst").write_text("#!/bin/sh\ntouch %s\n" % (self.dir / "mark"))
        (root / "DEBIAN" / "postinst").chmod(0o755)
        file = self.top / (name + "_1.2_all.deb")
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", str(root), str(file)], check=True, capture_output=True)
        data = file.read_bytes()
        return control + "Filename: ./%s\nSize: %d\nSHA256: %s\n" % (file.name, len(data), hashlib.sha256(data).hexdigest())

    def test_headers_links_and_programs_are_found_and_nothing_is_executed(self):
        self.need("apt-get", "apt")
        self.need("g++", "g++")
        index = [self.package("fhtest-colour", {"usr/include/fhtest/colour.h": "#define COLOUR 40\n"}),
                 self.package("libfhtest-dev", {"usr/include/fhtest/shape.h": "#include <fhtest/colour.h>\n#define SHAPE (COLOUR + 2)\n",
                                                "usr/bin/fhtest-tool": "#!/bin/sh\necho tool\n"},
                              [("usr/include/fhtest/alias.h", "/usr/include/fhtest/shape.h"), ("usr/include/fhtest/out.h", "../../../../../../etc/passwd")],
                              "fhtest-colour")]
        (self.top / "Packages").write_text("\n".join(index))
        sources = self.write("sources.list", "deb [trusted=yes] %s ./\n" % self.url)
        config = self.write("apt.conf", 'Dir::Etc::SourceList "%s";\nDir::Etc::SourceParts "-";\nAcquire::http::Proxy "false";\n' % sources)
        shown = self.python("""
            use = '#include <fhtest/alias.h>\\n#include <cstdio>\\nint main() { printf("%d", SHAPE); }'
            with SandboxSession(lang="cpp", libraries=["libfhtest-dev"]) as s:
                show(s.run(use).stdout)
                show(s.execute_command("fhtest-tool").stdout)
                show(s.execute_command("find / -xdev -perm -4000 -name fhtest-tool").stdout)
            with SandboxSession(lang="cpp") as s:
                show(s.run(use).exit_code != 0)
                show(s.run(use, libraries=["libfhtest-dev"]).stdout)
                for name in ("libfhtest-none", "libfhtest-dev-", "libfhtest.dev"):
                    show(error(SandboxError, lambda: s.install([name])))
        """, APT_CONFIG=str(config))
        self.assertEqual(shown[:5], ["42", "tool\n", "", True, "42"])
        for text, name in zip(shown[5:], ("libfhtest-none", "libfhtest-dev-", "libfhtest.dev")):
            self.assertIn(name, text)
            self.assertNotIn("nothing raised", text)
        self.assertFalse((self.dir / "mark").exists(), "a maintainer's script ran")


if __name__ == "__main__":
    unittest.main()
