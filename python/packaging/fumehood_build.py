# SPDX-License-Identifier: MIT
"""Makes the wheels and the sdist: a PEP 517 backend without dependencies, which ./dev build calls as well.

    python3 python/packaging/fumehood_build.py wheel BUILD-FOLDER DIST-FOLDER

A wheel is the package plus fumehood/_bundle, a prefix with bin, lib, libexec and share. There is one for glibc and one for
musl. Both have the same static programs and the same library, which loads under either. The one for glibc has every command:
its eval loads libcurl, the machine's own or else the one that the wheel carries with all that it needs but glibc, and its
servers find GnuTLS there. For musl eval is static and asks no model over HTTP, and there are neither store nor servers. The
glibc version in a tag is the newest that any file of it asks for.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = "fumehood"
#: One date for all members: equal sources give equal files.
DATE = (2020, 1, 1, 0, 0, 0)
#: In the build folder -> in a wheel's prefix.
PROGRAMS = {
    "fumehood": "bin/fumehood",
    "fumehood-engine": "libexec/fumehood/fumehood-engine",
    "src/sandbox/libfumehood-portable.so": "lib/libfumehood.so.0",
}


def command_programs(**files):
    """Commands that are programs of their own: {file in the build folder: place}."""
    return {name: "libexec/fumehood/fumehood-" + command for command, name in files.items()}


#: What a kind of wheel has beside these, and whether it carries libcurl.
KINDS = {
    "manylinux": (command_programs(eval="fumehood-eval", judge="fumehood-judge", store="fumehood-store", report="fumehood-report",
                                   serve="fumehood-serve-portable", view="fumehood-view-portable"), True),
    "musllinux": (command_programs(eval="fumehood-eval-static", judge="fumehood-judge-static"), False),
}
#: Parts of glibc, which are not carried, since every glibc system has them.
GLIBC = re.compile(r"^(lib(c|m|dl|pthread|rt|resolv|util|anl)\.so\.|ld-linux)")
DATA = ("languages", "guest", "providers", "examples/evals")


def version():
    text = (TOP / "meson.build").read_text()
    return re.search(r"version: '([^']+)'", text).group(1)


def metadata():
    return ("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: Runs code written by language models where it can do "
            "no harm, and finds out whether it works\nLicense: MIT\nRequires-Python: >=3.8\nDescription-Content-Type: "
            "text/markdown\n\n{}").format(NAME, version(), (TOP / "docs" / "python.md").read_text())


def glibc_needed(data):
    """The newest glibc version that a symbol of a program or library requires, such as (2, 34); (0, 0): none."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", data)
    return max(((int(major), int(minor)) for major, minor in found), default=(0, 0))


def tag(kind, files):
    machine = platform.machine()
    if kind == "musllinux":
        return "py3-none-musllinux_1_1_%s" % machine
    return "py3-none-manylinux_%d_%d_%s" % (*max(map(glibc_needed, files)), machine)


def command(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env=dict(os.environ, LC_ALL="C")).stdout.decode()


def curl_libraries():
    """libcurl and all libraries that it needs except glibc: (name, path), each after those that it needs."""
    known = dict(re.findall(r"^\s(\S+) \(.*x86-64.*\) => (\S+)$" if platform.machine() == "x86_64" else r"^\s(\S+) \(.*\) => (\S+)$",
                            command("/sbin/ldconfig", "-p"), re.M))
    order = []

    def visit(name):
        if GLIBC.match(name) or name in (n for n, _ in order):
            return
        if name not in known:
            raise SystemExit("wheel: the library %s, which libcurl needs, is not here (Debian: libcurl4-openssl-dev brings "
                             "it)" % name)
        path = pathlib.Path(known[name]).resolve()
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", command("readelf", "-d", str(path))):
            visit(needed)
        order.append((name, path))

    visit("libcurl.so.4")
    return order


def licences(libraries):
    """The licence texts of carried libraries: (package, text). Empty without dpkg."""
    if not shutil.which("dpkg"):
        return
    packages = set()
    for _, path in libraries:
        for shown in {str(path), str(path).replace("/usr/lib", "/lib", 1)}:
            found = subprocess.run(["dpkg", "-S", shown], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            packages |= {line.split(":")[0] for line in found.stdout.decode().splitlines()}
    for package in sorted(packages):
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        if text.exists():
            yield package, text.read_bytes()


class Wheel:
    """A zip file with a RECORD."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []
        self.info = info

    def add(self, name, data, executable=False):
        member = zipfile.ZipInfo(name, DATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
        self.zip.writestr(member, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def add_tree(self, folder, into, pattern):
        for path in sorted(folder.rglob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                self.add("%s/%s" % (into, path.relative_to(folder).as_posix()), path.read_bytes(),
                         bool(path.stat().st_mode & 0o100))

    def close(self):
        name = self.info + "/RECORD"
        self.zip.writestr(zipfile.ZipInfo(name, DATE), "\n".join(self.record + [name + ",,"]) + "\n")
        self.zip.close()


def stripped(path):
    """The bytes of a program without debugging symbols."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "file")
        if shutil.which("strip") and subprocess.call(["strip", "-o", copy, str(path)]) == 0:
            return pathlib.Path(copy).read_bytes()
    return path.read_bytes()


def pack(build, dist, kinds=tuple(KINDS)):
    """Makes the wheels from a build folder; returns their paths."""
    build, dist = pathlib.Path(build), pathlib.Path(dist)
    wanted = list(PROGRAMS) + [name for kind in kinds for name in KINDS[kind][0]]
    missing = [name for name in wanted if not (build / name).exists()]
    if missing:
        raise SystemExit("wheel: %s is not in %s: the static libraries of jansson, zlib, libyaml, pcre2, sqlite3 and "
                         "libmicrohttpd are needed to build it (Debian: the packages of the group build in tools/packages)"
                         % (", ".join(missing), build))
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob(NAME + "-*.whl"):
        old.unlink()
    return [pack_kind(build, dist, kind) for kind in kinds]


def pack_kind(build, dist, kind):
    own, with_curl = KINDS[kind]
    libraries = curl_libraries() if with_curl else []
    programs = dict(PROGRAMS, **own)
    files = {"fumehood/_bundle/" + place: stripped(build / name) for name, place in programs.items()}
    files.update({"fumehood/_bundle/lib/curl/" + name: path.read_bytes() for name, path in libraries})
    full_tag = tag(kind, files.values())
    path = dist / ("%s-%s-%s.whl" % (NAME, version(), full_tag))
    info = "%s-%s.dist-info" % (NAME, version())
    wheel = Wheel(path, info)
    wheel.add_tree(TOP / "python" / "fumehood", "fumehood", "*.py")
    wheel.add("fumehood/py.typed", b"")
    # for Pythons in the environment of `fumehood env`: the package once more, beside the drop-in modules
    for folder in ("fumehood", "compat"):
        wheel.add_tree(TOP / "python" / folder, "fumehood/_bundle/share/fumehood/python/" + folder, "*.py")
    for name, data in files.items():
        wheel.add(name, data, True)
    if libraries:
        wheel.add("fumehood/_bundle/lib/curl/order", "".join(name + "\n" for name, _ in libraries).encode())
        for package, text in licences(libraries):
            wheel.add("fumehood/_bundle/share/doc/curl/%s.copyright" % package, text)
    for folder in DATA:
        wheel.add_tree(TOP / folder, "fumehood/_bundle/share/fumehood/" + folder, "*")
    wheel.add(info + "/METADATA", metadata().encode())
    wheel.add(info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: fumehood_build\nRoot-Is-Purelib: false\nTag: %s\n"
                                % full_tag).encode())
    wheel.add(info + "/entry_points.txt", b"[console_scripts]\nfumehood = fumehood.__main__:main\n")
    wheel.add(info + "/LICENSE", (TOP / "LICENSE").read_bytes())
    wheel.close()
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: compiles in a folder of its own."""
    path = os.pathsep.join(["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])
    env = dict(os.environ, PATH=path)
    env.pop("PYTHONPATH", None)
    for tool in ("meson", "ninja", "cc"):
        if not shutil.which(tool, path=path):
            raise SystemExit("fumehood: building needs %s; on Debian and Ubuntu ./dev install-deps installs everything, "
                             "or take the wheel" % tool)
    with tempfile.TemporaryDirectory(prefix="fumehood-build-") as build:
        subprocess.check_call(["meson", "setup", build, str(TOP), "--buildtype=release"], env=env)
        subprocess.check_call(["ninja", "-C", build, "programs"], env=env)
        return pack(build, wheel_directory, ("manylinux",))[0].name


def sources():
    """The files of the sdist: those of the checkout, or of the sdist that this is."""
    listing = subprocess.run(["git", "-C", str(TOP), "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False)
    if listing.returncode == 0 and listing.stdout:
        return [TOP / name for name in listing.stdout.decode().split("\0") if name and (TOP / name).is_file()]
    return [path for path in sorted(TOP.rglob("*")) if path.is_file() and not path.is_symlink()]


def build_sdist(sdist_directory, config_settings=None):
    base = "%s-%s" % (NAME, version())
    name = base + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as tar:
        for path in sources():
            tar.add(path, "%s/%s" % (base, path.relative_to(TOP).as_posix()), recursive=False)
        with tempfile.NamedTemporaryFile() as info:
            info.write(metadata().encode())
            info.flush()
            tar.add(info.name, base + "/PKG-INFO")
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "wheel":
        raise SystemExit(__doc__)
    print(*pack(sys.argv[2], sys.argv[3]), sep="\n")
