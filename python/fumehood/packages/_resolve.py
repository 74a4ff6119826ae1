# SPDX-License-Identifier: MIT
"""From names of packages to a template."""
import threading
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .. import errors
from . import _debian, _go, _javascript, _python, _r, _ruby
from ._names import check_list, check_name
from ._store import Store, Template


class _Manager(NamedTuple):
    """How packages of a language are had: ``store`` is the folder of its templates, ``request_key`` a hash of all that the answer
    depends on, ``fill`` puts them into a folder, ``environment`` are the variables by which programs find them."""

    store: str
    request_key: Callable[[List[str]], str]
    fill: Callable[[str, List[str]], str]
    environment: Callable[[Sequence[Tuple[str, str]], Mapping[str, str]], Dict[str, str]]


_MANAGERS = {
    "ruby": _Manager("ruby", _ruby.request_key, _ruby.fill, _ruby.environment),
    "r": _Manager("r", _r.request_key, _r.fill, _r.environment),
    "go": _Manager("go", _go.request_key, _go.fill, _go.environment),
    "c": _Manager("debian", _debian.request_key, _debian.fill, _debian.environment),
    "cpp": _Manager("debian", _debian.request_key, _debian.fill, _debian.environment),
}
#: Languages for which packages can be installed.
LANGUAGES = ("python", "javascript") + tuple(_MANAGERS)

_lock = threading.Lock()
_recent: Dict[Tuple[str, str], Template] = {}


def resolve(language: str, names: Iterable[str], interpreter: Optional[str] = None) -> Template:
    """The template with these packages and what they require. ``interpreter``: the Python for which they are; names of its own
    standard library ask for nothing. Raises
    :class:`fumehood.ArgumentError` for an invalid name, :class:`PackageError` when a package cannot be installed."""
    wanted = list(dict.fromkeys(check_name(language, name) for name in check_list(names)))
    asked: List[Optional[List[str]]] = [None]
    if language == "python":
        if interpreter is None:
            raise errors.ArgumentError("packages for python need the interpreter that they are for", "", "argument")
        python = interpreter
        wanted = _python.without_standard(wanted, python)
        key = _python.request_key(wanted, python)

        def choose() -> Optional[str]:
            identity, asked[0] = _python.choose(wanted, python)
            return identity

        def fill(into: str) -> str:
            return _python.fill(into, wanted, python, asked[0])
    else:
        wanted = _javascript.without_standard(wanted) if language == "javascript" else wanted
        ask, get = (_javascript.request_key, _javascript.fill) if language == "javascript" else _MANAGERS[language][1:3]
        key = ask(wanted)

        def choose() -> Optional[str]:
            return None

        def fill(into: str) -> str:
            return get(into, wanted)
    store = Store(_MANAGERS[language].store if language in _MANAGERS else language)
    with _lock:
        found = _recent.get((store.top, key))
    if found is None or not store.find(key):
        found = store.make(key, wanted, choose, fill)
        with _lock:
            _recent[(store.top, key)] = Template(language, found.path, wanted, found.identity, False)
    return found


def environment(language: str, shown: Sequence[Tuple[Template, str]], before: Mapping[str, str]) -> Dict[str, str]:
    """The variables by which programs find templates at these places of a sandbox; ``before``: what the variables were. Empty for
    python and javascript, whose templates are shown where the interpreter looks."""
    if language not in _MANAGERS or not shown:
        return {}
    return _MANAGERS[language].environment([(template.path, place) for template, place in shown], before)


def set_up(language: str, template: Template, place: str) -> Optional[List[str]]:
    """A command that has to run once in a session's folder, or None."""
    return _go.set_up(place, template.names) if language == "go" and template.names else None
