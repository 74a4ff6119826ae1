# SPDX-License-Identifier: MIT
"""Languages, backends, names of images."""
import enum


class StrEnum(str, enum.Enum):
    """An enumeration whose members are strings, in every version of Python."""

    def __new__(cls, value):
        if not isinstance(value, str):
            raise TypeError("StrEnum values must be strings: {!r}".format(value))
        member = str.__new__(cls, value)
        member._value_ = value
        return member

    def __str__(self):
        return self.value

    def __format__(self, spec):
        return format(self.value, spec)

    @classmethod
    def _missing_(cls, value):
        found = next((member for member in cls if isinstance(value, str) and member.value == value.lower()), None)
        if found is None:
            raise ValueError("{!r} is not a valid {}".format(value, cls.__name__))
        return found


class SandboxBackend(StrEnum):
    """Where the original would run the code. Here all of them mean fumehood's sandboxes."""

    DOCKER = "docker"
    KUBERNETES = "kubernetes"
    PODMAN = "podman"
    MICROMAMBA = "micromamba"
    BUBBLEWRAP = "bubblewrap"
    NSJAIL = "nsjail"
    WINDOWS_MXC = "windows-mxc"
    WSL2_BUBBLEWRAP = "wsl2-bubblewrap"


class SupportedLanguage(StrEnum):
    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"
    CPP = "cpp"
    GO = "go"
    RUBY = "ruby"
    R = "r"


class DefaultImage(object):
    """The original's images. Here each one means this machine's tools."""

    PYTHON = "ghcr.io/vndee/sandbox-python-311-bullseye"
    JAVA = "ghcr.io/vndee/sandbox-java-11-bullseye"
    JAVASCRIPT = "ghcr.io/vndee/sandbox-node-22-bullseye"
    CPP = "ghcr.io/vndee/sandbox-cpp-11-bullseye"
    GO = "ghcr.io/vndee/sandbox-go-123-bullseye"
    RUBY = "ghcr.io/vndee/sandbox-ruby-302-bullseye"
    R = "ghcr.io/vndee/sandbox-r-451-bullseye"


EncodingErrorsType = ("strict", "replace", "ignore", "surrogateescape", "backslashreplace", "xmlcharrefreplace")
#: 0.2's lists of languages.
NotSupportedLibraryInstallation = ["JAVA"]
SupportedLanguageValues = [language.value for language in SupportedLanguage]
