# SPDX-License-Identifier: MIT
"""Exceptions with the original's names. Those whose message has parameters take them as arguments."""


class SandboxError(Exception):
    """The base class of the others."""

    def __init__(self, message):
        super().__init__(message)


#: The base's name in 0.2.
SandboxException = SandboxError


class ContainerError(SandboxError):
    """A sandbox could not be made or reached, or did not answer."""


class SecurityError(SandboxError):
    """An operation would leave the sandbox."""


class ResourceError(SandboxError):
    """A resource limit was reached."""


class ValidationError(SandboxError):
    """An argument is invalid."""


class ExtraArgumentsError(SandboxError):
    """Unknown arguments were given."""


class MissingDependencyError(SandboxError):
    """Something that has to be installed is not."""


class SecurityViolationError(SandboxError):
    """The session's policy forbids the code."""


class SandboxTimeoutError(SandboxError):
    """The time limit was reached; the program was ended."""

    def __init__(self, message, timeout_duration=None):
        SandboxError.__init__(self, message)
        self.timeout_duration = timeout_duration


#: Names of 0.2.
TimeoutError = SandboxTimeoutError  # noqa: A001
DependencyError = MissingDependencyError


def _said(name, text, arguments, about, also=()):
    """An exception whose arguments fill in a text. `also`: what 0.2 raises in its place, so that programs of that time catch it."""
    def __init__(self, *values, **named):
        given = dict(zip(arguments, values), **named)
        missing = [word for word in arguments if word not in given]
        if missing or len(given) != len(arguments) or len(values) > len(arguments):
            raise TypeError("{}() takes {}".format(name, ", ".join(arguments) or "no arguments"))
        SandboxError.__init__(self, text.format(**given))
        self.__dict__.update(given)

    import inspect
    parameter = inspect.Parameter
    __init__.__signature__ = inspect.Signature([parameter(word, parameter.POSITIONAL_OR_KEYWORD) for word in ["self"] + list(arguments)])
    return type(name, (SandboxError,) + also, {"__init__": __init__, "__doc__": about, "__module__": __name__,
                                        "__reduce__": lambda self: (type(self), tuple(self.__dict__[word] for word in arguments))})


LanguageNotSupportedError = _said("LanguageNotSupportedError", "Language {lang} is not supported", ["lang"], "No such language here.")
ImageNotFoundError = _said("ImageNotFoundError", "Image {image} not found", ["image"], "No such image.")
NotOpenSessionError = _said("NotOpenSessionError", "Session is not open. Please call open() method before running code.", [],
                            "The session is not open, or not any more.", (RuntimeError,))
LibraryInstallationNotSupportedError = _said("LibraryInstallationNotSupportedError", "Library installation is not supported for {lang}",
                                             ["lang"], "No packages for this language, or for this session.", (ValueError,))
CommandEmptyError = _said("CommandEmptyError", "Command cannot be empty", [], "A command without a word.", (ValueError,))
CommandFailedError = _said("CommandFailedError", "Command {command} failed with exit code {exit_code}:\n{output}",
                           ["command", "exit_code", "output"], "A command that had to work did not.")
PackageManagerError = _said("PackageManagerError", "Package manager {package_manager} not found", ["package_manager"], "No package manager.")
ImagePullError = _said("ImagePullError", "Failed to pull image {image}: {error}", ["image", "error"], "An image could not be had.")
UnsupportedBackendError = _said("UnsupportedBackendError", "Unsupported backend: {backend}", ["backend"], "No such backend.")
LanguageNotSupportPlotError = _said("LanguageNotSupportPlotError", "Language {lang} does not support plot detection", ["lang"],
                                    "No plots of this language.")
InvalidRegexPatternError = _said("InvalidRegexPatternError", "Invalid regex pattern: {pattern}", ["pattern"], "No regular expression.")
LanguageHandlerNotInitializedError = _said("LanguageHandlerNotInitializedError",
                                           "Language handler for {language} is not initialized.", ["language"], "No handler.")
