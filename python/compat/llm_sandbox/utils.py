# SPDX-License-Identifier: MIT
"""0.2's functions about languages, by the handlers that 0.3 has in their place."""
from .exceptions import LanguageNotSupportedError
from .language_handlers.factory import LanguageHandlerFactory


class _UnsupportedError(LanguageNotSupportedError, ValueError):
    """A ValueError in 0.2."""


def _handler(lang):
    try:
        return LanguageHandlerFactory.create_handler(str(lang))
    except LanguageNotSupportedError:
        raise _UnsupportedError(lang) from None


def get_libraries_installation_command(lang, library):
    return _handler(lang).get_library_installation_command(library)


def get_code_file_extension(lang):
    return _handler(lang).file_extension


def get_code_execution_command(lang, code_file):
    return _handler(lang).get_execution_commands(code_file)


def image_exists(client, image):
    """Whether an image can be used: a name always can, since it stands for this machine's tools."""
    return bool(image)
