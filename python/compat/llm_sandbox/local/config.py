# SPDX-License-Identifier: MIT
"""LocalSandboxConfig: settings of the original's backends that have no daemon."""
from .. import _model
from ..security.seccomp import SeccompPolicy

DEFAULT_READ_ONLY_PATHS = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


#: Folders at the top of the host that are never shown: their content is the kernel's, or other programs'.
VIRTUAL_FOLDERS = ("proc", "sys", "dev", "tmp")


def _clean(path):
    """Whether a path is absolute and written in the one way that a kernel would write it."""
    return path.startswith("/") and not path.startswith("//") and ".." not in path.split("/") and "\0" not in path


def _shown(value):
    for path in _model.texts(value):
        if not _clean(path) or not path.strip("/") or path.strip("/").split("/")[0] in VIRTUAL_FOLDERS:
            raise ValueError("{!r} is not an absolute path of a folder or file that can be shown".format(path))
    return tuple(value)


def _program(value):
    if not _clean(_model.text(value)):
        raise ValueError("python_executable must be an absolute sandbox path, without .., not {!r}".format(value))
    return value


def _limit(value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("{!r} is not a whole number of at least 1".format(value))
    return value


def _open_files(value):
    if _limit(value) < 16:
        raise ValueError("{!r} is less than 16, with which no interpreter starts".format(value))
    return value


class LocalSandboxConfig(_model.Model):
    _frozen = _forbid = True
    network = _model.Field("none", _model.one_of("none", "host"))
    read_only_paths = _model.Field(DEFAULT_READ_ONLY_PATHS, _shown)
    seccomp = _model.Field(factory=SeccompPolicy)
    python_executable = _model.Field("/usr/bin/python3", _program)
    env = _model.Field(factory=dict, check=_model.variables)
    max_output_bytes = _model.Field(8 << 20, _limit)
    max_artifact_bytes = _model.Field(8 << 20, _limit)
    memory_limit_bytes = _model.Field(None, _limit)
    cpu_time_limit = _model.Field(None, _limit)
    file_size_limit = _model.Field(None, _limit)
    open_files_limit = _model.Field(None, _open_files)
