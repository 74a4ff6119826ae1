# SPDX-License-Identifier: MIT
# How values cross between a judge and a candidate: as bytes that only this text reads. Decoding executes nothing, looks up no
# name sent by the other side, and is bounded everywhere. Both drivers (split_judge.py and split_candidate.py) use the functions
# of this text. Everything used later is bound to names of this module now, so a program that replaces builtins changes nothing
# here. Only modules built into the interpreter are imported, because a run that starts fresh pays for them.
#
# A frame is a u32 length and so many bytes, all numbers little-endian. A value is a tag of one byte and:
#     N T F                   None, True, False
#     i i64 | I u32 bytes     an int; a larger one as signed bytes
#     f f64 | c f64 f64       float, complex
#     s u32 bytes             str as UTF-8, lone surrogates passed on
#     b u32 bytes | y …       bytes, bytearray
#     l t S Z u32 values      list, tuple, set, frozenset
#     A u32 i64… | G u32 f64… a list of ints or of floats
#     d u32 keys and values   dict, in order
#     r u32                   a reference to the object with that number: mutable ones are numbered when they begin, tuples,
#                             frozensets and long strings when they end
#     R 3 values              range
#     k v m and a value       a dict's view of keys, values (a list) or items (a dict)
#     q 2 values              deque: maxlen or None, a list
#     D s | Q 2 ints          Decimal, Fraction
#     L u8 values             further types of the standard library (split_library.py)
#     O u32 s u8 i64 u8       anything else: its number, type, truth (2: unknown), length (-1: none), and whether it can be iterated
#                             (1) and called (2)
#     J u32                   an iterator, by number
import posix
import sys

try:
    from _struct import Struct
except ImportError:
    from struct import Struct

FRAME_MAX = 16 << 20
VALUES_MAX = 2000000
DEPTH_MAX = 150
INT_BYTES_MAX = 1 << 20
NUMBER_TEXT_MAX = 4096
LONG_STRING = 64
WORD = 1 << 63

read_fd, write_fd, urandom, leave = posix.read, posix.write, posix.urandom, posix._exit
builtin_print, length, kind, identity, limited, sum_of = print, len, type, id, min, sum
Int, Float, Bool, Str, Bytes, Array, List, Tuple = int, float, bool, str, bytes, bytearray, list, tuple
Set, Frozen, Dict, Range, Complex, NoneKind = set, frozenset, dict, range, complex, type(None)
join, encode_text, decode_text, text_of = b"".join, str.encode, bytes.decode, str
bit_length, to_bytes, from_bytes, dict_items, hash_of, empty = int.bit_length, int.to_bytes, int.from_bytes, dict.items, hash, list.clear
AnyError, PlainError, IntOverflow, NoType, NoValue = BaseException, Exception, OverflowError, TypeError, ValueError
U, I64, F64, C128, OPAQUE = Struct("<I"), Struct("<q"), Struct("<d"), Struct("<dd"), Struct("<BqB")
tag_count, tag_int, tag_float, tag_complex = Struct("<BI").pack, Struct("<Bq").pack, Struct("<Bd").pack, Struct("<Bdd").pack


class Limit(Exception):
    """A value is too large or too deeply nested to cross."""


class Unsupported(Exception):
    """A value of a kind that cannot cross in this direction."""


class Malformed(Exception):
    """Bytes that our encoder never writes."""


class Gone(Exception):
    """The other side has closed its end."""


# ---------------------------------------------------------------------------------------------------------- encoding
out = []  # one list, shared by all modules that import it
memo, numbers, values_left, slow = {}, 0, 0, None


def encode(value, foreign):
    """The encoded value. foreign(value, depth) encodes a value that is of no plain type."""
    global memo, numbers, values_left, slow
    empty(out)
    memo, numbers, values_left, slow = {}, 0, VALUES_MAX, foreign
    put(value, 0)
    data = join(out)
    empty(out)
    memo = {}
    if length(data) > FRAME_MAX - 64:
        raise Limit("more than %d bytes" % FRAME_MAX)
    return data


def remember(value):
    global numbers
    memo[identity(value)] = (numbers, value)  # also keeps the value alive, so that its id() is not reused
    numbers += 1


def put(value, depth):
    global values_left
    values_left -= 1
    if values_left < 0:
        raise Limit("more than %d values" % VALUES_MAX)
    if depth > DEPTH_MAX:
        raise Limit("more than %d levels" % DEPTH_MAX)
    known = memo.get(identity(value))
    if known is not None:
        out.append(tag_count(114, known[0]))
        return
    write = plain.get(kind(value))
    if write is not None:
        write(value, depth + 1)
    else:
        slow(value, depth + 1)


def put_int(value, depth):
    if -WORD <= value < WORD:
        out.append(tag_int(105, value))
        return
    n = bit_length(value) // 8 + 1
    if n > INT_BYTES_MAX:
        raise Limit("an int of more than %d bytes" % INT_BYTES_MAX)
    out.append(tag_count(73, n))
    out.append(to_bytes(value, n, "little", signed=True))


def put_text(value, depth):
    data = encode_text(value, "utf-8", "surrogatepass")
    put_bytes(115, data)
    if length(data) > LONG_STRING:
        remember(value)


def put_bytes(tag, data):
    out.append(tag_count(tag, length(data)))
    out.append(Bytes(data))


def put_values(tag, values, depth):
    out.append(tag_count(tag, length(values)))
    for value in values:
        put(value, depth)


def put_list(value, depth):
    global values_left
    remember(value)
    n = length(value)
    if n > 3:
        first = kind(value[0])
        if first is Int or first is Float:
            for item in value:
                if kind(item) is not first:
                    break
            else:
                try:
                    data = Struct("<%d%s" % (n, "q" if first is Int else "d")).pack(*value)
                except PlainError:
                    data = None  # an int that is larger
                if data is not None:
                    values_left -= n >> 3
                    out.append(tag_count(65 if first is Int else 71, n))
                    out.append(data)
                    return
    put_values(108, value, depth)


def put_dict(value, depth):
    remember(value)
    pairs = List(dict_items(value))
    out.append(tag_count(100, length(pairs)))
    for key, item in pairs:
        put(key, depth)
        put(item, depth)


def put_set(value, depth):
    remember(value)
    put_values(83, List(value), depth)


def put_tuple(value, depth):
    put_values(116, value, depth)
    remember(value)


def put_frozen(value, depth):
    put_values(90, List(value), depth)
    remember(value)


def put_array(value, depth):
    remember(value)
    put_bytes(121, value)


def put_range(value, depth):
    out.append(b"R")
    put(value.start, depth)
    put(value.stop, depth)
    put(value.step, depth)


plain = {
    NoneKind: lambda value, depth: out.append(b"N"),
    Bool: lambda value, depth: out.append(b"T" if value else b"F"),
    Int: put_int,
    Float: lambda value, depth: out.append(tag_float(102, value)),
    Complex: lambda value, depth: out.append(tag_complex(99, value.real, value.imag)),
    Str: put_text, Bytes: lambda value, depth: put_bytes(98, value), Array: put_array, List: put_list, Tuple: put_tuple,
    Set: put_set, Frozen: put_frozen, Dict: put_dict, Range: put_range,
}

# Values of subclasses cross as plain values, read by the base type's methods.
bases = (
    (Bool, Bool), (Int, Int.__int__), (Float, Float.__float__), (Str, Str.__str__),
    (Complex, lambda v: Complex(Complex.real.__get__(v), Complex.imag.__get__(v))),
    (Bytes, lambda v: Bytes.__getitem__(v, slice(None))), (Array, lambda v: Array.__getitem__(v, slice(None))),
    (Tuple, lambda v: Tuple.__getitem__(v, slice(None))), (List, lambda v: List.__getitem__(v, slice(None))),
    (Set, lambda v: Set(List(Set.__iter__(v)))), (Frozen, lambda v: Frozen(List(Frozen.__iter__(v)))),
)
method_order = type.__dict__["__mro__"].__get__
# Types of the standard library that keep their type; their modules are not loaded for this.
mapping_proxy = kind(kind.__dict__)
views = {kind({}.keys()): b"k", kind({}.values()): b"v", kind({}.items()): b"m"}
further = []  # split_library.py's function for types of the standard library


def loaded(module, name):
    found = sys.modules.get(module)
    return getattr(found, name, None) if found is not None else None


def put_as(value, item, depth):
    """Encodes item in place of value; further references to value in this frame refer to item."""
    begins = numbers
    if kind(item) in (List, Dict, Set, Array):
        memo[identity(value)] = (begins, (value, item))
    plain[kind(item)](item, depth)
    if kind(item) in (Tuple, Frozen) or (kind(item) is Str and numbers > begins):
        memo[identity(value)] = (numbers - 1, (value, item))


def put_known(value, depth):
    """Encodes a value of one of the further known types; False if it is of none."""
    its = kind(value)
    tag = views.get(its)
    if tag is not None:
        items = List(value)
        out.append(tag)
        put(Dict(items) if tag == b"m" else items, depth)
        return True
    order = method_order(its)
    if further[0](value, order, depth):
        return True
    if Dict in order:
        ordered = loaded("collections", "OrderedDict")
        # an OrderedDict has its own order, which may differ from that of the underlying dict
        put_as(value, Dict(ordered.items(value) if ordered is not None and ordered in order else dict_items(value)), depth)
    elif its is mapping_proxy or loaded("_collections_abc", "Mapping") in order:
        put_as(value, Dict([(key, value[key]) for key in value]), depth)
    elif loaded("_collections_abc", "Set") in order:
        put_as(value, Set(List(value)), depth)
    elif loaded("collections", "UserList") in order or loaded("collections", "UserString") in order:
        put(value.data, depth)
    elif its is loaded("_collections", "deque"):
        out.append(b"q")
        put(value.maxlen, depth)
        put(List(value), depth)
    elif its is loaded("decimal", "Decimal") or its is loaded("_decimal", "Decimal"):
        text = text_of(value)
        if length(text) > NUMBER_TEXT_MAX:
            raise Limit("a Decimal of more than %d characters" % NUMBER_TEXT_MAX)
        out.append(b"D")
        put(text, depth)
    elif its is loaded("fractions", "Fraction"):
        if bit_length(value.numerator) + bit_length(value.denominator) > 4 * NUMBER_TEXT_MAX:
            raise Limit("a Fraction of more than %d bits" % (4 * NUMBER_TEXT_MAX))
        out.append(b"Q")
        put(value.numerator, depth)
        put(value.denominator, depth)
    else:
        for base, read in bases:
            if base in order:
                put_as(value, read(value), depth)
                return True
        return False
    return True


# ---------------------------------------------------------------------------------------------------------- decoding
source, at, numbered, extra = b"", 0, [], {}
not_finite = []  # not empty: one of the decoded values was a NaN or an infinity


def decode(data, start, readers):
    """Decodes the value in data from `start` to the end. `readers`: functions for further tags that are allowed there."""
    global source, at, numbered, values_left, extra
    source, at, numbered, values_left, extra = data, start, [], VALUES_MAX, readers
    value = get(0)
    if at != length(data):
        raise Malformed("bytes after the value")
    source, numbered = b"", []
    return value


def take(n):
    global at
    begin = at
    at += n
    if at > length(source):
        raise Malformed("a value that reaches past its frame")
    return source[begin:at]


def take_count(size):
    n, = U.unpack(take(4))
    if n * size > length(source) - at:
        raise Malformed("a count that reaches past its frame")
    return n


def get(depth):
    global values_left
    values_left -= 1
    if values_left < 0:
        raise Malformed("more than %d values" % VALUES_MAX)
    if depth > DEPTH_MAX + 2:
        raise Malformed("more than %d levels" % DEPTH_MAX)
    tag = take(1)
    read = readers_of_plain.get(tag) or extra.get(tag)
    if read is None:
        raise Malformed("a tag that there is not")
    return read(depth + 1)


def get_kind(wanted, depth):
    value = get(depth)
    if kind(value) is not wanted:
        raise Malformed("a value of the wrong kind")
    return value


def get_big(depth):
    n = take_count(1)
    if n > INT_BYTES_MAX:
        raise Malformed("an int of more than %d bytes" % INT_BYTES_MAX)
    return from_bytes(take(n), "little", signed=True)


def get_text(depth):
    data = take(take_count(1))
    try:
        value = decode_text(data, "utf-8", "surrogatepass")
    except NoValue:
        raise Malformed("text that is not UTF-8") from None
    if length(data) > LONG_STRING:
        numbered.append(value)
    return value


def get_array(depth):
    value = Array(take(take_count(1)))
    numbered.append(value)
    return value


def get_list(depth):
    value = []
    numbered.append(value)
    for _ in Range(take_count(1)):
        value.append(get(depth))
    return value


def get_float(depth):
    value, = F64.unpack(take(8))
    if value - value:
        not_finite[:] = [value]
    return value


def get_complex(depth):
    real, imaginary = C128.unpack(take(16))
    if real - real or imaginary - imaginary:
        not_finite[:] = [real, imaginary]
    return Complex(real, imaginary)


def get_numbers(letter):
    def get_these(depth):
        global values_left
        n = take_count(8)
        values_left -= n >> 3
        value = List(Struct("<%d%s" % (n, letter)).unpack(take(8 * n)))
        numbered.append(value)
        if letter == "d":
            total = sum_of(value)
            if total - total:  # or the sum of finite ones is too large for a float
                not_finite.extend([item for item in value if item - item][:1])
        return value
    return get_these


def get_tuple(depth):
    value = Tuple([get(depth) for _ in Range(take_count(1))])
    numbered.append(value)
    return value


def get_key(depth):
    value = get(depth)
    try:
        hash_of(value)
    except NoType:
        raise Malformed("a key that cannot be one") from None
    return value


def get_set(depth):
    value = Set()
    numbered.append(value)
    for _ in Range(take_count(1)):
        value.add(get_key(depth))
    return value


def get_frozen(depth):
    value = Frozen([get_key(depth) for _ in Range(take_count(1))])
    numbered.append(value)
    return value


def get_dict(depth):
    value = {}
    numbered.append(value)
    for _ in Range(take_count(2)):
        key = get_key(depth)
        value[key] = get(depth)
    return value


def number(value):
    """Gives a decoded object the next number, by which later ones refer to it."""
    numbered.append(value)


def get_again(depth):
    n, = U.unpack(take(4))
    if n >= length(numbered):
        raise Malformed("an object that was not there before")
    return numbered[n]


def get_range(depth):
    start, stop, step = get_kind(Int, depth), get_kind(Int, depth), get_kind(Int, depth)
    if step == 0:
        raise Malformed("a range without a step")
    return Range(start, stop, step)


def get_keys(depth):
    keys = get_kind(List, depth)
    for key in keys:
        try:
            hash_of(key)
        except NoType:
            raise Malformed("a key that cannot be one") from None
    return Dict.fromkeys(keys).keys()


def get_deque(depth):
    from _collections import deque
    most = get(depth)
    items = get_kind(List, depth)
    if most is not None and (kind(most) is not Int or not 0 <= most < WORD):
        raise Malformed("a deque of no length")
    return deque(items, most)


def get_decimal(depth):
    text = get_kind(Str, depth)
    if length(text) > NUMBER_TEXT_MAX:
        raise Malformed("a Decimal of more than %d characters" % NUMBER_TEXT_MAX)
    from decimal import Decimal, InvalidOperation
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise Malformed("a Decimal that is none") from None
    if not value.is_finite():
        not_finite[:] = [value]
    return value


def get_fraction(depth):
    over, under = get_kind(Int, depth), get_kind(Int, depth)
    if under <= 0 or bit_length(over) + bit_length(under) > 4 * NUMBER_TEXT_MAX:
        raise Malformed("a Fraction that is none")
    from fractions import Fraction
    return Fraction(over, under)


readers_of_plain = {
    b"N": lambda depth: None, b"T": lambda depth: True, b"F": lambda depth: False,
    b"i": lambda depth: I64.unpack(take(8))[0], b"I": get_big,
    b"f": get_float, b"c": get_complex,
    b"s": get_text, b"b": lambda depth: take(take_count(1)), b"y": get_array,
    b"l": get_list, b"A": get_numbers("q"), b"G": get_numbers("d"), b"t": get_tuple, b"S": get_set, b"Z": get_frozen,
    b"d": get_dict, b"r": get_again, b"R": get_range, b"k": get_keys,
    b"v": lambda depth: Dict(enumerate(get_kind(List, depth))).values(),
    b"m": lambda depth: get_kind(Dict, depth).items(),
    b"q": get_deque, b"D": get_decimal, b"Q": get_fraction,
}


# ------------------------------------------------------------------------------------------------------------ frames
def send(fd, data):
    data = U.pack(length(data)) + data
    try:
        while data:
            data = data[write_fd(fd, data):]
    except BrokenPipeError:
        raise Gone from None


def read_exactly(fd, n):
    data = read_fd(fd, limited(n, 1 << 16))
    if length(data) == n:
        return data
    parts, have = [], 0
    while True:
        if not data:
            raise Gone
        parts.append(data)
        have += length(data)
        if have == n:
            return join(parts)
        data = read_fd(fd, limited(n - have, 1 << 20))


def receive(fd):
    n, = U.unpack(read_exactly(fd, 4))
    if n > FRAME_MAX:
        raise Malformed("a frame of more than %d bytes" % FRAME_MAX)
    return read_exactly(fd, n) if n else b""


# ----------------------------------------------------------------------------------------------------------- start
def take_input(n):
    return read_exactly(0, n) if n else b""


def take_size():
    """A number on stdin: fifteen digits and a newline."""
    return Int(take_input(16))
