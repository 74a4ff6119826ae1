# SPDX-License-Identifier: MIT
# Types of the standard library that keep their type when they cross; their modules are loaded only where such a value arrives. It is
# a part of split_codec.py: a value is the tag L, one byte for its type (the order of `types`), and plain values.
from split_codec import (Dict, Int, Limit, List, Malformed, NoType, NoValue, Str, Tuple, dict_items, further, get, get_key, get_kind,
                         kind, length, loaded, number, out, put, readers_of_plain, remember, take, take_count, tag_count)

FIELDS_MAX = 255
NAME_MAX = 200
LONG_TEXT = 4096
own = {kind_.__name__: kind_ for kind_ in (bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range)}
own_names = {kind_: name for name, kind_ in own.items()}
classes = {}  # of named tuples, by name and fields


def module(name):
    return __import__(name)


def put_all(tag, values, depth):
    out.append(b"L%c" % tag)
    put(Tuple(values), depth)


def get_ints(depth, sizes):
    values = get_kind(Tuple, depth)
    if length(values) not in sizes or any([kind(value) is not Int for value in values]):
        raise Malformed("a date or time that is none")
    return values


# ------------------------------------------------------------------------------------------------------------- dates
def put_date(value, depth):
    put_all(0, (value.year, value.month, value.day), depth)


def offset_of(value):
    """The offset of a fixed time zone, in whole parts; nothing: no time zone. None: a zone of another kind, which does not cross."""
    zone = value.tzinfo
    if zone is None:
        return ()
    if kind(zone) is not loaded("datetime", "timezone"):
        return None
    offset = zone.utcoffset(None)
    return offset.days, offset.seconds, offset.microseconds


def put_clock(tag, fields):
    def put_this(value, depth):
        offset = offset_of(value)
        if offset is None:
            return False
        put_all(tag, [getattr(value, field) for field in fields] + List(offset), depth)
        return True
    return put_this


def put_span(value, depth):
    put_all(3, (value.days, value.seconds, value.microseconds), depth)


def get_date(depth):
    return module("datetime").date(*get_ints(depth, (3,)))


def get_span(depth):
    return module("datetime").timedelta(*get_ints(depth, (3,)))


def get_clock(name, size):
    def get_this(depth):
        values, dates = get_ints(depth, (size, size + 3)), module("datetime")
        zone = dates.timezone(dates.timedelta(*values[size:])) if length(values) > size else None
        return getattr(dates, name)(*values[:size - 1], tzinfo=zone, fold=values[size - 1])
    return get_this


TIME = ("hour", "minute", "second", "microsecond", "fold")


# ------------------------------------------------------------------------------------------------- dicts and tuples
def put_mapping(tag):
    def put_this(value, depth):
        factory = value.default_factory if tag == 6 else None
        name = own_names.get(factory) if factory is not None and kind(factory) is kind else ""
        if name is None or factory is not None and not name:
            return False  # a factory of the program's: the plain dict crosses
        remember(value)
        items = kind(value).items if tag == 5 else dict_items  # an OrderedDict has an order of its own
        pairs = List(items(value))
        out.append(b"L%c" % tag)
        put(name, depth)
        out.append(tag_count(100, length(pairs)))
        for key, item in pairs:
            put(key, depth)
            put(item, depth)
        return True
    return put_this


def get_mapping(name):
    def get_this(depth):
        value = getattr(module("collections"), name)()
        number(value)
        factory = get_kind(Str, depth)
        if factory and (name != "defaultdict" or factory not in own):
            raise Malformed("a dict of no kind")
        if take(1) != b"d":
            raise Malformed("a dict of no kind")
        for _ in range(take_count(2)):
            key = get_key(depth)
            value[key] = get(depth)
        if factory:
            value.default_factory = own[factory]
        return value
    return get_this


def is_plain_name(name):
    return kind(name) is Str and length(name) <= NAME_MAX and name.isascii() and name.isidentifier() and name[0] != "_"


def class_of(name, fields):
    """The class of named tuples with that name and fields; None: there cannot be one."""
    found = classes.get((name, fields))
    if found is None and length(classes) < FIELDS_MAX and length(fields) <= FIELDS_MAX and all(map(is_plain_name, (name,) + fields)):
        try:
            found = classes[name, fields] = module("collections").namedtuple(name, fields)
        except NoValue:
            pass  # a keyword, or a name twice
    return found


def put_named(value, order, depth):
    fields = kind.__dict__["__dict__"].__get__(order[0]).get("_fields")
    if kind(fields) is not Tuple or length(fields) != Tuple.__len__(value) or class_of(order[0].__name__, fields) is None:
        return False
    out.append(b"L\x07")
    put(order[0].__name__, depth)
    put(fields, depth)
    put(Tuple.__getitem__(value, slice(None)), depth)
    remember(value)
    return True


def get_named(depth):
    name, fields, values = get_kind(Str, depth), get_kind(Tuple, depth), get_kind(Tuple, depth)
    made = class_of(name, fields) if all([kind(field) is Str for field in fields]) else None
    if made is None or length(values) != length(fields):
        raise Malformed("a named tuple that is none")
    value = made._make(values)
    number(value)
    return value


# ------------------------------------------------------------------------------------------------------------ others
def put_path(value, depth):
    text = Str(value)
    if length(text) > LONG_TEXT:
        raise Limit("a path of more than %d characters" % LONG_TEXT)
    put_all(8, (text,), depth)


def get_path(depth):
    values = get_kind(Tuple, depth)
    if length(values) != 1 or kind(values[0]) is not Str:
        raise Malformed("a path that is none")
    return module("pathlib").PosixPath(values[0])


def get_uuid(depth):
    values = get_kind(Tuple, depth)
    if length(values) != 1 or kind(values[0]) is not Int:
        raise Malformed("a UUID that is none")
    return module("uuid").UUID(int=values[0])


def get_type(depth):
    found = own.get(get_kind(Str, depth))
    if found is None:
        raise Malformed("a type that is none")
    return found


# The type's module and name, how it is written and how it is read.
types = (
    ("datetime", "date", put_date, get_date),
    ("datetime", "datetime", put_clock(1, ("year", "month", "day") + TIME), get_clock("datetime", 8)),
    ("datetime", "time", put_clock(2, TIME), get_clock("time", 5)),
    ("datetime", "timedelta", put_span, get_span),
    ("collections", "Counter", put_mapping(4), get_mapping("Counter")),
    ("collections", "OrderedDict", put_mapping(5), get_mapping("OrderedDict")),
    ("collections", "defaultdict", put_mapping(6), get_mapping("defaultdict")),
    ("", "", None, get_named),
    ("pathlib", "PosixPath", put_path, get_path),
    ("uuid", "UUID", lambda value, depth: put_all(9, (value.int,), depth), get_uuid),
    ("", "", None, get_type),
    ("", "", None, lambda depth: ...),
    ("", "", None, lambda depth: NotImplemented),
)
by_name = {name: (found, write) for found, name, write, _ in types if name}
singles = {id(...): b"L\x0b", id(NotImplemented): b"L\x0c"}


def put_library(value, order, depth):
    """Encodes a value of one of these types; False if it is of none."""
    its = order[0]
    found = by_name.get(its.__name__)
    if found is not None and loaded(found[0], its.__name__) is its:
        return found[1](value, depth) is not False
    if length(order) == 3 and order[1] is Tuple:
        return put_named(value, order, depth)
    if its is kind and value in own_names:
        out.append(b"L\x0a")
        put(own_names[value], depth)
        return True
    single = singles.get(id(value))
    if single is not None:
        out.append(single)
    return single is not None


def get_library(depth):
    tag = take(1)[0]
    if tag >= length(types):
        raise Malformed("a type that there is not")
    try:
        return types[tag][3](depth)
    except (NoType, NoValue, OverflowError):
        raise Malformed("a value that its type does not have") from None


readers_of_plain[b"L"] = get_library
further.append(put_library)
