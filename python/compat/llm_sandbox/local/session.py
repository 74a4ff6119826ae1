# SPDX-License-Identifier: MIT
"""Sessions of the backends that have no daemon in the original: commands run in a shell, there is a default time-out, and files go
to the working directory and /tmp alone."""
import math
import os
import posixpath
import re

from fumehood import archives

from .. import _model
from ..const import SupportedLanguage
from ..core.fumehood_session import FumehoodSession, make_config
from ..exceptions import CommandEmptyError, LibraryInstallationNotSupportedError, ResourceError, SandboxTimeoutError, SecurityError, ValidationError
from ..security.seccomp import ALWAYS_BLOCKED
from .config import LocalSandboxConfig
from .launch import read_only_mounts

_WORKDIR = re.compile(r"/[A-Za-z0-9_./-]+")


def _checked_workdir(workdir):
    place = workdir or "/sandbox"
    if not isinstance(place, str) or not _WORKDIR.fullmatch(place) or ".." in place.split("/") or posixpath.normpath(place) == "/":
        raise ValueError("workdir must be an absolute path other than /, of letters, digits, and _ . / -, without .., not {!r}".format(workdir))
    return posixpath.normpath(place)


def _checked_time(name, value):
    if value is not None and not (isinstance(value, (int, float)) and value > 0 and math.isfinite(value)):
        raise ValueError("{} must be finite and positive, or None, not {!r}".format(name, value))


def _checked_config(config):
    """Refuses what fumehood's sandboxes do not have."""
    unknown = sorted(set(config.seccomp.blocked_syscalls) - ALWAYS_BLOCKED) if config.seccomp is not None else []
    if unknown:
        raise ValidationError("sandbox_config: blocked_syscalls: {} cannot be blocked: the filter of system calls is fumehood's own, "
                              "which refuses those of the default list".format(", ".join(unknown)))
    return config


class LocalProcessSession(FumehoodSession):
    _backend = "local"
    _callbacks_raise = True

    def __init__(self, *, sandbox_config=None, lang=SupportedLanguage.PYTHON, workdir="/sandbox", verbose=False, stream=False, image=None,
                 dockerfile=None, keep_template=False, commit_container=False, container_id=None, runtime_configs=None, env_vars=None,
                 libraries=None, default_timeout=60, execution_timeout=None, session_timeout=None, skip_environment_setup=False,
                 encoding_errors="strict", security_policy=None, **kwargs):
        given = {"image": image, "dockerfile": dockerfile, "keep_template": keep_template, "commit_container": commit_container,
                 "container_id": container_id, "runtime_configs": runtime_configs}
        wrong = [name for name, value in given.items() if value]
        if wrong:
            raise ValueError("Native sandboxes do not support: {}; use sandbox_config instead".format(", ".join(wrong)))
        kwargs.pop("client", None)
        if kwargs:
            raise TypeError("Unknown native sandbox options: {}".format(", ".join(sorted(kwargs))))
        for name, value in (("default_timeout", default_timeout), ("execution_timeout", execution_timeout), ("session_timeout", session_timeout)):
            _checked_time(name, value)
        self.sandbox_config = _checked_config(sandbox_config if sandbox_config is not None else LocalSandboxConfig())
        super(LocalProcessSession, self).__init__(
            make_config(lang=lang, workdir=_checked_workdir(workdir), verbose=verbose, default_timeout=default_timeout,
                        execution_timeout=execution_timeout, session_timeout=session_timeout, skip_environment_setup=skip_environment_setup,
                        encoding_errors=encoding_errors, security_policy=security_policy),
            backend=self._backend, libraries=libraries, stream=stream, sandbox_config=self.sandbox_config,
            env_vars=_model.variables(env_vars or {}))

    def open(self):
        if not self.is_open:
            read_only_mounts(self.sandbox_config, self.config.workdir)  # raises for what must not be shown
        super(LocalProcessSession, self).open()

    def environment_setup(self):
        if self._initial_libraries and self.config.skip_environment_setup:
            raise LibraryInstallationNotSupportedError(str(self.config.lang))  # a session of containers only warns
        super(LocalProcessSession, self).environment_setup()

    @staticmethod
    def _words(command):
        if not command or not str(command).strip():
            raise CommandEmptyError()
        return ["/bin/sh", "-c", command]

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        _checked_time("timeout", timeout)
        try:
            return super(LocalProcessSession, self).run(code, libraries, timeout, on_stdout, on_stderr)
        except SandboxTimeoutError:
            self.close()
            raise

    def execute_command(self, command, workdir=None, on_stdout=None, on_stderr=None):
        if workdir:
            workdir = self._place(workdir, self._workdir())
        return super(LocalProcessSession, self).execute_command(command, workdir, on_stdout, on_stderr)

    # ----------------------------------------------------------------------------------------------------------- files

    @classmethod
    def _place(cls, path, workdir):
        place = super(LocalProcessSession, cls)._place(path, workdir)
        if not any(place == top or place.startswith(top + "/") for top in (workdir, "/tmp")):
            raise SecurityError("{} is neither below {} nor below /tmp: a session without containers has no other files".format(path, workdir))
        return place

    def copy_to_runtime(self, src, dest):
        for folder, folders, files in os.walk(src) if os.path.isdir(src) and not os.path.islink(src) else [("", [], [src])]:
            for name in folders + files:
                if os.path.islink(os.path.join(folder, name)):
                    raise SecurityError("{} is a link, which is not copied".format(os.path.join(folder, name)))
        super(LocalProcessSession, self).copy_to_runtime(src, dest)

    def _unpack(self, data, dest, single):
        """A folder becomes DEST itself, where the original's containers make it DEST/NAME."""
        return archives.unpack(data, dest, single, strip=0 if single else 1)

    def get_archive(self, path):
        data, stat = super(LocalProcessSession, self).get_archive(path)
        if stat["size"] > self.sandbox_config.max_artifact_bytes:
            raise ResourceError("{} exceeds the maximum of {} bytes of an artifact".format(path, self.sandbox_config.max_artifact_bytes))
        return data, stat
