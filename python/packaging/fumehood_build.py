# SPDX-License-Identifier: MIT
"""Makes the wheel and the sdist: a PEP 517 backend without dependencies, which ./dev build calls as well.

    python3 python/packaging/fumehood_build.py wheel BUILD-FOLDER DIST-FOLDER

The wheel is the package plus fumehood/_bundle, a prefix with bin, lib, libexec and share. Its programs are static and its
library loads under glibc and musl, so one file carries both tags; the glibc version in the tag is read off the library.
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
#: In the build folder -> in the wheel's prefix. Optional ones end with "?".
PROGRAMS = {
    "fumehood-portable": "bin/fumehood",
    "fumehood-engine": "libexec/fumehood/fumehood-engine",
    "fumehood-judge-portable": "libexec/fumehood/fumehood-judge",
    "fumehood-eval": "libexec/fumehood/fumehood-eval?",
    "src/sandbox/libfumehood-portable.so": "lib/libfumehood.so.0",
}
DATA = ("languages", "guest")


def version():
    text = (TOP / "meson.build").read_text()
    return re.search(r"version: '([^']+)'", text).group(1)


def metadata():
    return ("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: Runs code written by language models where it can do "
            "no harm, and finds out whether it works\nLicense: MIT\nRequires-Python: >=3.8\nDescription-Content-Type: "
            "text/markdown\n\n{}").format(NAME, version(), (TOP / "docs" / "python.md").read_text())


def glibc_needed(library):
    """The newest glibc version that a symbol of the library asks for, such as (2, 34)."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    return max((int(major), int(minor)) for major, minor in found)


def tag(library):
    machine = platform.machine()
    major, minor = glibc_needed(library)
    return "py3-none-manylinux_%d_%d_%s.musllinux_1_1_%s" % (major, minor, machine, machine)


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
    """The bytes of a program without its symbols for debuggers."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "file")
        if shutil.which("strip") and subprocess.call(["strip", "-o", copy, str(path)]) == 0:
            return pathlib.Path(copy).read_bytes()
    return path.read_bytes()


def pack(build, dist):
    """A wheel of what a build folder holds; returns its path."""
    build, dist = pathlib.Path(build), pathlib.Path(dist)
    missing = [name for name, place in PROGRAMS.items() if not place.endswith("?") and not (build / name).exists()]
    if missing:
        raise SystemExit("wheel: %s is not in %s: the static libraries of jansson and zlib (Debian: libjansson-dev, "
                         "zlib1g-dev) are needed to build it" % (", ".join(missing), build))
    full_tag = tag(build / "src/sandbox/libfumehood-portable.so")
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob(NAME + "-*.whl"):
        old.unlink()
    path = dist / ("%s-%s-%s.whl" % (NAME, version(), full_tag))
    info = "%s-%s.dist-info" % (NAME, version())
    wheel = Wheel(path, info)
    wheel.add_tree(TOP / "python" / "fumehood", "fumehood", "*.py")
    wheel.add("fumehood/py.typed", b"")
    # for Pythons that `fumehood env` sends here: the package once more, beside the drop-in modules
    for folder in ("fumehood", "compat"):
        wheel.add_tree(TOP / "python" / folder, "fumehood/_bundle/share/fumehood/python/" + folder, "*.py")
    for name, place in PROGRAMS.items():
        if (build / name).exists():
            wheel.add("fumehood/_bundle/" + place.rstrip("?"), stripped(build / name), True)
    for folder in DATA:
        wheel.add_tree(TOP / folder, "fumehood/_bundle/share/fumehood/" + folder, "*")
    tags = "".join("Tag: py3-none-%s\n" % part for part in full_tag[len("py3-none-"):].split("."))
    wheel.add(info + "/METADATA", metadata().encode())
    wheel.add(info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: fumehood_build\nRoot-Is-Purelib: false\n" + tags).encode())
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
        subprocess.check_call(["ninja", "-C", build], env=env)
        return pack(build, wheel_directory).name


def sources():
    """What the sdist holds: the files of the checkout, or of the sdist that this is."""
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
    print(pack(sys.argv[2], sys.argv[3]))
