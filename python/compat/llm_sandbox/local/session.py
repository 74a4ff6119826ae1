# SPDX-License-Identifier: MIT
"""Sessions of the backends that have no daemon in the original: commands run in a shell, and there is a default
time-out."""
from ..const import SupportedLanguage
from ..core.session_base import BaseSession, make_config
from ..exceptions import CommandEmptyError, SandboxTimeoutError
from .config import LocalSandboxConfig

#: Options that have no meaning without containers; any value other than these is an error.
_NONE = {"image": None, "dockerfile": None, "keep_template": False, "commit_container": False, "container_id": None, "runtime_configs": None}


class LocalProcessSession(BaseSession):
    _backend = "local"
    _callbacks_raise = True

    def __init__(self, *, sandbox_config=None, lang=SupportedLanguage.PYTHON, workdir="/sandbox", verbose=False, stream=False, image=None,
                 dockerfile=None, keep_template=False, commit_container=False, container_id=None, runtime_configs=None, env_vars=None,
                 libraries=None, default_timeout=60, execution_timeout=None, session_timeout=None, skip_environment_setup=False,
                 encoding_errors="strict", security_policy=None, **kwargs):
        given = {"image": image, "dockerfile": dockerfile, "keep_template": keep_template, "commit_container": commit_container,
                 "container_id": container_id, "runtime_configs": runtime_configs}
        wrong = sorted(name for name, value in given.items() if value != _NONE[name] and value != {})
        if wrong:
            raise ValueError("{} does not support: {}".format(type(self).__name__, ", ".join(wrong)))
        kwargs.pop("client", None)
        if kwargs:
            raise TypeError("unknown options: {}".format(", ".join(sorted(kwargs))))
        self.sandbox_config = sandbox_config if sandbox_config is not None else LocalSandboxConfig()
        super(LocalProcessSession, self).__init__(
            make_config(lang=lang, workdir=workdir, verbose=verbose, default_timeout=default_timeout, execution_timeout=execution_timeout,
                        session_timeout=session_timeout, skip_environment_setup=skip_environment_setup, encoding_errors=encoding_errors,
                        security_policy=security_policy),
            backend=self._backend, libraries=libraries, stream=stream, sandbox_config=self.sandbox_config, env_vars=env_vars)

    @staticmethod
    def _words(command):
        if not command or not str(command).strip():
            raise CommandEmptyError()
        return ["/bin/sh", "-c", command]

    def run(self, code, libraries=None, timeout=None, on_stdout=None, on_stderr=None):
        try:
            return super(LocalProcessSession, self).run(code, libraries, timeout, on_stdout, on_stderr)
        except SandboxTimeoutError:
            self.close()
            raise


class BubblewrapSession(LocalProcessSession):
    _backend = "bubblewrap"

    def __init__(self, *, bwrap_path="bwrap", **kwargs):
        self.bwrap_path = bwrap_path
        super(BubblewrapSession, self).__init__(**kwargs)


class NsjailSession(LocalProcessSession):
    _backend = "nsjail"

    def __init__(self, *, nsjail_path="nsjail", **kwargs):
        self.nsjail_path = nsjail_path
        super(NsjailSession, self).__init__(**kwargs)
