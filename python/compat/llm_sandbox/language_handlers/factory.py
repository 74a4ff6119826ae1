# SPDX-License-Identifier: MIT
"""Handlers by name."""
from ..exceptions import LanguageNotSupportedError
from .base import AbstractLanguageHandler
from .handlers import MORE, CppHandler, GoHandler, JavaHandler, JavaScriptHandler, PythonHandler, RHandler, RubyHandler


class LanguageHandlerFactory(object):
    _handlers = {"python": PythonHandler, "javascript": JavaScriptHandler, "java": JavaHandler, "cpp": CppHandler, "go": GoHandler,
                 "ruby": RubyHandler, "r": RHandler}

    @classmethod
    def create_handler(cls, language, logger=None):
        word = str(getattr(language, "value", language)).lower()
        found = cls._handlers.get(word) or MORE.get(word)
        if found is None:
            raise LanguageNotSupportedError(language)
        if not isinstance(found, type) or not issubclass(found, AbstractLanguageHandler):
            raise TypeError("the handler of {}, {!r}, is not a subclass of AbstractLanguageHandler".format(word, found))
        return found(logger=logger)

    @classmethod
    def register_handler(cls, language, handler_class):
        cls._handlers = dict(cls._handlers, **{str(language).lower(): handler_class})

    @classmethod
    def get_supported_languages(cls):
        return list(cls._handlers)

    @classmethod
    def known(cls):
        """The known languages, including those that only fumehood has."""
        return set(cls._handlers) | set(MORE)
