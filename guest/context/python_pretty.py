# SPDX-License-Identifier: MIT
"""Values as text, laid out as in notebooks: on one line if they fit, else with one item on each line.

A container is broken into lines if its items do not fit into 79 columns from where it begins. After 1,000 items the rest is
`...`."""
import collections
import types

WIDTH, ITEMS = 79, 1000
_BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), dict: ("{", "}"), frozenset: ("frozenset({", "})"),
             collections.deque: ("deque(", ")"), collections.OrderedDict: ("OrderedDict(", ")"), collections.defaultdict: ("defaultdict(", ")")}


def text(value):
    try:
        return _text(value, 0, 0, [])
    except RecursionError:
        return repr(value)


def _named(value):
    name = value.__qualname__
    return name if value.__module__ in ("builtins", "exceptions") else "%s.%s" % (value.__module__, name)


def _signature(function):
    import inspect
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return ""


def _leaf(value):
    kind = type(value)
    if isinstance(value, type) and kind.__repr__ is type.__repr__:
        return _named(value)
    if kind is types.FunctionType:
        return "<function %s%s>" % (_named(value), _signature(value))
    if kind in (types.BuiltinFunctionType, types.BuiltinMethodType) and value.__module__ == "builtins":
        return "<function %s%s>" % (value.__name__, _signature(value))
    if kind.__repr__ is object.__repr__:
        return "<%s at %#x>" % (_named(kind), id(value))
    return repr(value)


def _container(kind):
    """The one of these containers that a type is, or that it inherits its repr from; None: neither."""
    if kind in _BRACKETS:
        return kind if kind.__repr__ is _BASE_REPRS[kind] else None
    return next((base for base in (list, tuple, dict) if issubclass(kind, base) and kind.__repr__ is _BASE_REPRS[base]), None)


def _brackets(value, items):
    kind = _container(type(value))
    begin, end = _BRACKETS[kind]
    if kind is tuple and len(items) == 1:
        end = ",)"
    return begin, end


class _Plain:
    """A word among the items that stands as it is."""

    def __init__(self, word):
        self.word = word

    def __repr__(self):
        return self.word


def _items(value):
    """The items of a container, as pairs of a prefix and a value; None: it is not one of these containers."""
    kind = _container(type(value))
    if kind is None:
        return None
    if kind is dict:
        return [(key, item) for key, item in value.items()]
    if kind is collections.defaultdict:
        return [(None, _Plain(text(value.default_factory))), (None, dict(value))]
    if kind is collections.OrderedDict:
        return [(None, list(value.items()))] if value else []
    if kind is collections.deque:
        words = [] if value.maxlen is None else [(None, _Plain("maxlen=%d" % value.maxlen))]
        return [(None, list(value))] + words if value else []
    if kind in (set, frozenset):
        try:
            return [(None, item) for item in sorted(value)] if len(value) < ITEMS else [(None, item) for item in value]
        except Exception:
            return [(None, item) for item in value]
    return [(None, item) for item in value]


_BASE_REPRS = {kind: kind.__repr__ for kind in _BRACKETS}


def _text(value, column, after, seen, indent=0):
    """`column`: where the value begins; `after`: number of characters that follow on its last line; `indent`: for continuation
    lines; it counts the enclosing brackets and not the keys."""
    items = _items(value)
    if items is None:
        return _leaf(value).replace("\n", "\n" + " " * indent)
    kind = _container(type(value))
    if id(value) in seen:
        return {list: "[...]", dict: "{...}", tuple: "(...)"}.get(kind, repr(value))
    if not items:
        return repr(value)
    begin, end = _brackets(value, items)
    line = _one_line(value, WIDTH - column - after, seen)
    if line is not None:
        return line
    seen = seen + [id(value)]
    shown = items[:ITEMS]
    lines, inside = [], indent + len(begin)
    for at, (key, item) in enumerate(shown):
        last = at == len(shown) - 1 and len(items) <= ITEMS
        prefix = ""
        here = column + len(begin) if at == 0 else inside
        if kind is dict:
            prefix = _text(key, here, 0, seen, inside) + ": "
        here += len(prefix)
        lines.append(prefix + _text(item, here, len(end) + after if last else 1, seen, inside))
    if len(items) > ITEMS:
        lines.append("...")
    return begin + (",\n" + " " * inside).join(lines) + end


def _one_line(value, room, seen):
    """The value on one line, or None when that takes more than `room` columns."""
    items = _items(value)
    if items is None or not items or id(value) in seen:
        line = _leaf(value) if items is None else _text(value, 0, 0, seen)
        return line if len(line) <= room and "\n" not in line else None
    begin, end = _brackets(value, items)
    room -= len(begin) + len(end)
    seen, parts = seen + [id(value)], []
    for key, item in items[:ITEMS]:
        room -= 2 if parts else 0
        prefix = ""
        if _container(type(value)) is dict:
            prefix = _one_line(key, room, seen)
            if prefix is None:
                return None
            prefix += ": "
        one = _one_line(item, room - len(prefix), seen)
        if one is None:
            return None
        parts.append(prefix + one)
        room -= len(parts[-1])
        if room < 0:
            return None
    if len(items) > ITEMS:
        parts.append("...")
    return begin + ", ".join(parts) + end
