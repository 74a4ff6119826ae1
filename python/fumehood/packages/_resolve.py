# SPDX-License-Identifier: MIT
"""From names of packages to a template."""
import threading
from typing import Dict, Iterable, List, Optional, Tuple

from .. import errors
from . import _javascript, _python
from ._names import check_name
from ._store import Store, Template

#: Languages for which packages can be installed.
LANGUAGES = ("python", "javascript")

_lock = threading.Lock()
_recent: Dict[Tuple[str, str], Template] = {}


def resolve(language: str, names: Iterable[str], interpreter: Optional[str] = None) -> Template:
    """The template with these packages and what they require. ``interpreter``: the Python for which they are. Raises
    :class:`fumehood.ArgumentError` for an invalid name, :class:`PackageError` when a package cannot be installed."""
    if isinstance(names, (str, bytes)):
        raise errors.ArgumentError("names of packages are one string", "give a list", "argument")
    wanted = list(dict.fromkeys(check_name(language, name) for name in names))
    asked: List[Optional[List[str]]] = [None]
    if language == "python":
        if interpreter is None:
            raise errors.ArgumentError("packages for python need the interpreter that they are for", "", "argument")
        python = interpreter
        key = _python.request_key(wanted, python)

        def choose() -> Optional[str]:
            identity, asked[0] = _python.choose(wanted, python)
            return identity

        def fill(into: str) -> str:
            return _python.fill(into, wanted, python, asked[0])
    else:
        key = _javascript.request_key(wanted)

        def choose() -> Optional[str]:
            return None

        def fill(into: str) -> str:
            return _javascript.fill(into, wanted)
    store = Store(language)
    with _lock:
        found = _recent.get((store.top, key))
    if found is None or not store.find(key):
        found = store.make(key, wanted, choose, fill)
        with _lock:
            _recent[(store.top, key)] = Template(language, found.path, wanted, found.identity, False)
    return found
