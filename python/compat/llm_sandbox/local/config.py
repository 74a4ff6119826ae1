# SPDX-License-Identifier: MIT
"""LocalSandboxConfig: settings of the original's backends that have no daemon."""
from .. import _model
from ..security.seccomp import SeccompPolicy

DEFAULT_READ_ONLY_PATHS = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


def _absolute(value):
    for path in _model.texts(value):
        if not path.startswith("/"):
            raise ValueError("{!r} is not an absolute path".format(path))
    return tuple(value)


def _program(value):
    return _absolute([value])[0]


class LocalSandboxConfig(_model.Model):
    _frozen = _forbid = True
    network = _model.Field("none", _model.one_of("none", "host"))
    read_only_paths = _model.Field(DEFAULT_READ_ONLY_PATHS, _absolute)
    seccomp = _model.Field(factory=SeccompPolicy)
    python_executable = _model.Field("/usr/bin/python3", _program)
    env = _model.Field(factory=dict, check=_model.variables)
    max_output_bytes = _model.Field(8 << 20, _model.at_least(1))
    max_artifact_bytes = _model.Field(8 << 20, _model.at_least(1))
    memory_limit_bytes = _model.Field(None, _model.at_least(1))
    cpu_time_limit = _model.Field(None, _model.at_least(1))
    file_size_limit = _model.Field(None, _model.at_least(1))
    open_files_limit = _model.Field(None, _model.at_least(1))
