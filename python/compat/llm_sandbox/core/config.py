# SPDX-License-Identifier: MIT
"""SessionConfig."""
from .. import _model
from ..const import EncodingErrorsType, SupportedLanguage
from ..exceptions import LanguageNotSupportedError
from ..language_handlers.factory import LanguageHandlerFactory


class _UnknownLanguageError(LanguageNotSupportedError, ValueError):
    """Also a ValueError, which an enumeration raises for an unknown member."""


def language(value):
    """The original's member for a language, or the name of another one that fumehood runs; an error for any other."""
    word = str(getattr(value, "value", value)).lower()
    word = {"js": "javascript", "node": "javascript", "c++": "cpp", "golang": "go", "py": "python", "rb": "ruby", "shell": "bash",
            "sh": "bash"}.get(word, word)
    try:
        return SupportedLanguage(word)
    except ValueError:
        if word in LanguageHandlerFactory.known():
            return word
        raise _UnknownLanguageError(value) from None


def _container_id(value):
    """The id, or that of a container: on Kubernetes, session.container is the pod's name, which programs give back."""
    return _model.text(getattr(value, "id", value))


class SessionConfig(_model.Model):
    lang = _model.Field(SupportedLanguage.PYTHON, language)
    image = _model.Field(None, _model.text)
    dockerfile = _model.Field(None, _model.text)
    container_id = _model.Field(None, _container_id)
    verbose = _model.Field(False, _model.boolean)
    workdir = _model.Field("/sandbox", _model.text)
    default_timeout = _model.Field(60.0, _model.optional(_model.number))
    execution_timeout = _model.Field(None, _model.number)
    session_timeout = _model.Field(None, _model.number)
    security_policy = _model.Field(None)
    runtime_configs = _model.Field(factory=dict, check=dict)
    skip_environment_setup = _model.Field(False, _model.boolean)
    encoding_errors = _model.Field("strict", _model.one_of(*EncodingErrorsType))

    def _complete(self):
        if self.image and self.dockerfile:
            raise ValueError("Only one of 'image' or 'dockerfile' can be provided")
        if self.container_id and self.dockerfile:
            raise ValueError("Cannot use 'dockerfile' with existing 'container_id'")

    def get_execution_timeout(self):
        return self.execution_timeout or self.default_timeout

    def is_using_existing_container(self):
        return self.container_id is not None
