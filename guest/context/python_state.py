# SPDX-License-Identifier: MIT
"""A Python context's state by value: with what a branch in another sandbox begins (docs/contexts.md).

A file of pieces, each with its length before it: one pickle for each variable, then a header, and the place where that begins. One
pickler writes all variables, and one unpickler reads them, so that two variables which are one object stay one object. What only the
interpreter knows, since no module that can be imported has it, is described as well: functions and classes of the cells. A variable
that cannot be written or read is named, and the others go on."""
import errno
import io
import marshal
import os
import pickle
import re
import struct
import sys
import types

#: Names by which a shell remembers inputs and results.
_HISTORY = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_oh|_ih|_dh|_exit_code|In|Out")
_LENGTH = struct.Struct("<Q")
#: Of a class: what it is made with, and what is made for each class anew.
_AT_ITS_BEGINNING = ("__module__", "__qualname__", "__doc__", "__slots__")
_OF_A_CLASS = (*_AT_ITS_BEGINNING, "__dict__", "__weakref__", "__orig_bases__", "_abc_impl")
#: Types that only the module `types` names.
_TYPES = {kind: name for name, kind in vars(types).items()
          if isinstance(kind, type) and getattr(sys.modules["builtins"], kind.__name__, None) is not kind}
_LEAST_ROOM = 8 << 20
_TOO_LITTLE = "there is too little memory free in the sandbox for its pickles"
#: The newest one whose objects have written numbers: after a variable that cannot be read, those of newer ones would be counted wrong.
_PROTOCOL = 3


class StateError(Exception):
    """Why a state cannot be written or read, for people."""


# ---- what a file of a state calls, in the new interpreter

names = None  # the variables of this interpreter's cells


def cell_globals():
    return names


def globals_of(module):
    return sys.modules[module].__dict__ if module in sys.modules else __import__(module, fromlist=["_"]).__dict__


def module_of(name):
    __import__(name)
    return sys.modules[name]


def code_of(data):
    return marshal.loads(data)


def function_of(code, variables, name, closure):
    return types.FunctionType(code, variables, name, None, closure)


def fill_function(function, state):
    attributes, more = state
    for name, value in attributes.items():
        setattr(function, name, value)
    function.__dict__.update(more)


def cell_of():
    return types.CellType()


def fill_cell(cell, state):
    cell.cell_contents = state[0]


def class_of(meta, name, bases, begin):
    return types.new_class(name, bases, {"metaclass": meta}, lambda body: body.update(begin))


def enumeration_of(meta, name, bases, begin, members):
    body = meta.__prepare__(name, bases)
    for key, value in (*begin.items(), *members):
        body[key] = value
    return meta(name, bases, body)


def fill_class(made, attributes):
    for name, value in attributes.items():
        setattr(made, name, value)


def cached_of(parameters, function):
    import functools
    return functools.lru_cache(**parameters)(function)


def variable_of_types(name, bound, constraints, covariant, contravariant):
    import typing
    return typing.TypeVar(name, *constraints, bound=bound, covariant=covariant, contravariant=contravariant)


def made_by(kind, *parts):
    return kind(*parts)


def type_of(name):
    return getattr(types, name)


# ---- how it is written

class _Pickler(pickle.Pickler):
    def __init__(self, file, variables):
        super().__init__(file, protocol=_PROTOCOL)
        self._variables = variables
        self._main = sys.modules["__main__"]

    def reducer_override(self, value):
        kind = type(value)
        if kind is types.FunctionType:
            return NotImplemented if _importable(value) else self._function(value)
        if isinstance(value, type):
            return NotImplemented if value is type(None) or _importable(value) else self._class(value)
        reduce = _REDUCERS.get(kind)
        if reduce is not None:
            return reduce(value)
        reduce = _REDUCERS_OF_MODULES.get((kind.__module__, kind.__name__))
        return NotImplemented if reduce is None or _importable(value) else reduce(value)

    def _function(self, function):
        attributes = {name: getattr(function, name) for name in
                      ("__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__")}
        more = {name: value for name, value in function.__dict__.items()}
        variables = _Variables(function.__globals__, self._variables)
        return (function_of, (function.__code__, variables, function.__name__, function.__closure__), (attributes, more),
                None, None, fill_function)

    def _class(self, kind):
        if kind in _TYPES:
            return type_of, (_TYPES[kind],)
        own = dict(kind.__dict__)
        begin = {name: own[name] for name in _AT_ITS_BEGINNING if name in own}
        bases = kind.__bases__ if tuple in kind.__bases__ else own.get("__orig_bases__", kind.__bases__)
        if type(kind).__name__ == "_TypedDictMeta":
            begin["__annotations__"] = kind.__annotations__
        slots = begin.get("__slots__", ())
        slots = (slots,) if isinstance(slots, str) else tuple(slots)
        left = {name: value for name, value in own.items() if name not in _OF_A_CLASS and name not in slots and
                not isinstance(value, types.GetSetDescriptorType)}
        if "enum" in sys.modules and isinstance(kind, sys.modules["enum"].EnumMeta):
            members = [(name, member.value) for name, member in kind.__members__.items()]
            left = {name: value for name, value in left.items() if name not in kind.__members__ and not name.startswith("_") and
                    (callable(value) or isinstance(value, (property, staticmethod, classmethod)))}
            return enumeration_of, (type(kind), kind.__name__, kind.__bases__, begin, members), left, None, None, fill_class
        return class_of, (type(kind), kind.__name__, bases, begin), left, None, None, fill_class


class _Variables:
    """The globals of a function: those of the cells, or of a module, are the ones of that name in the new interpreter."""

    def __init__(self, variables, of_the_cells):
        self._variables, self._of_the_cells = variables, of_the_cells

    def __reduce__(self):
        variables = self._variables
        if variables is self._of_the_cells:
            return cell_globals, ()
        name = variables.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and module.__dict__ is variables and _can_import(module):
            return globals_of, (name,)
        own = {key: value for key, value in variables.items() if key != "__builtins__" or not value}
        return dict, (own,)


def _can_import(module):
    return module.__name__ != "__main__" and getattr(module, "__spec__", None) is not None


def _importable(value):
    """Whether a module that can be imported has it under its name."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    if module is None or not _can_import(module) and module is not sys.modules[__name__]:
        return False
    found = module
    for name in getattr(value, "__qualname__", getattr(value, "__name__", "")).split("."):
        found = getattr(found, name, None)
    return found is value


def _module(module):
    if not _can_import(module):
        raise StateError("module %s is in no file" % module.__name__)
    return module_of, (module.__name__,)


def _cell(cell):
    try:
        return cell_of, (), (cell.cell_contents,), None, None, fill_cell
    except ValueError:  # it is empty
        return cell_of, ()


_REDUCERS = {
    types.ModuleType: _module,
    types.CodeType: lambda code: (code_of, (marshal.dumps(code),)),
    types.CellType: _cell,
    types.MappingProxyType: lambda proxy: (made_by, (types.MappingProxyType, dict(proxy))),
    property: lambda own: (made_by, (property, own.fget, own.fset, own.fdel, own.__doc__)),
    staticmethod: lambda own: (made_by, (staticmethod, own.__func__)),
    classmethod: lambda own: (made_by, (classmethod, own.__func__)),
}
_REDUCERS_OF_MODULES = {
    ("functools", "_lru_cache_wrapper"): lambda own: (cached_of, (own.cache_parameters(), own.__wrapped__)),
    ("functools", "cached_property"): lambda own: (made_by, (type(own), own.func), {"attrname": own.attrname}),
    ("typing", "TypeVar"): lambda own: (variable_of_types, (own.__name__, own.__bound__, own.__constraints__, own.__covariant__,
                                                            own.__contravariant__)),
}


def _reason(error):
    if isinstance(error, pickle.UnpicklingError) and "emo" in str(error):  # a number of an object that was to be read before
        return "it holds one that cannot be read"
    return (str(error).split("\n")[0] or type(error).__name__)[:120]


class _Sink:
    """What a pickler writes: the chunks of one piece, as they come, since large ones are as large as the variable."""

    def __init__(self):
        self.chunks = []

    def write(self, chunk):
        self.chunks.append(chunk)

    def pour(self, file):
        if file is not None:
            file.write(_LENGTH.pack(sum(len(chunk) for chunk in self.chunks)))
            file.writelines(self.chunks)
        self.chunks.clear()


def _write(variables, wanted, failed, file):
    """Pickles the variables of these names, one after the other; file: None to try only. Returns whether all were written. A pickler
    that has failed knows objects which no piece has, so that after it all has to be written again, without that variable."""
    sink = _Sink()
    pickler = _Pickler(sink, variables)
    for name in wanted:
        try:
            pickler.dump((name, variables[name]))
        except MemoryError:
            raise StateError(_TOO_LITTLE) from None
        except BaseException as error:
            failed[name] = "variable %s (%s): %s" % (name, type(variables[name]).__name__, _reason(error))
            return False
        try:
            sink.pour(file)
        except OSError as error:
            raise StateError(_TOO_LITTLE if error.errno == errno.EFBIG else str(error)) from None
    return True


def _write_all(variables, wanted, file):
    """Returns the names that were written, and what could not be, as texts for people."""
    failed = {}
    if not _write(variables, wanted, failed, file):
        for name in wanted:  # each alone, so that the second time is the last in nearly all cases
            if name not in failed:
                _write(variables, [name], failed, None)
        good = False
        while not good:
            file.seek(0)
            file.truncate()
            good = _write(variables, [name for name in wanted if name not in failed], failed, file)
    return [name for name in wanted if name not in failed], list(failed.values())


def _changed_environment(driver):
    return {name: value for name, value in os.environ.items() if driver.environment.get(name) != value}


def _save(driver, path, lost):
    """Runs in a fork: how the code's own objects are pickled is the code's, and what it changes, or fills, is this process's."""
    variables, offered = driver.shell.names, driver.offered
    wanted = [name for name, value in variables.items() if isinstance(name, str) and not _HISTORY.fullmatch(name) and
              not (name in offered and offered[name] is value)]
    with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        written, failed = _write_all(variables, wanted, file)
        header = {"python": sys.version, "folder": os.getcwd(), "path": list(sys.path), "environment": _changed_environment(driver),
                  "names": written, "not_branched": lost + failed}
        at, sink = file.tell(), _Sink()
        sink.write(pickle.dumps(header, _PROTOCOL))
        sink.pour(file)
        file.write(_LENGTH.pack(at))


def _bound(room):
    """Limits what the fork may add to the sandbox's memory, whose end would be the parent's, too: its own copy of what it touches, the
    pickles and their file. Raises StateError where that is not enough."""
    import resource
    page, sizes = resource.getpagesize(), open("/proc/self/statm").read().split()
    touched = (int(sizes[1]) - int(sizes[2])) * page
    left = room - touched
    if left < _LEAST_ROOM:
        raise StateError("the copy of its %d MiB may need as much once more, and %d MiB of the sandbox's memory are free" %
                         (touched >> 20, room >> 20))
    for limit, most in ((resource.RLIMIT_AS, int(sizes[0]) * page + left // 2), (resource.RLIMIT_FSIZE, left // 2)):
        now, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if now == resource.RLIM_INFINITY else min(most, now), hard))


def save(driver, request):
    """Writes the state to a file, and answers."""
    fork = part("branch")  # noqa: F821
    lost, reader, writer = fork.not_branched(driver, shared=False), *os.pipe()
    why, child = "", -1
    try:
        with fork.Unnoticed() as unnoticed:
            child = unnoticed.fork()
            if child == 0:
                try:
                    if request.get("room") is not None:
                        _bound(request["room"])
                    _save(driver, str(request.get("file")), lost)
                    os.write(writer, b"+")
                except BaseException as error:
                    os.write(writer, _reason(error).encode(errors="replace"))
                finally:
                    os._exit(0)
            os.close(writer)
            why = os.read(reader, 1000).decode(errors="replace") or "the process that writes it was ended, as it is when memory runs out"
            unnoticed.failed(child)
    except OSError as error:
        why = str(error)
        os.close(writer)
    os.close(reader)
    more = {} if why == "+" else {"why": "its state cannot be written: " + why}
    driver.wire.emit("end", id=request.get("id"), status="refused" if more else "ok", **more)


# ---- how it is read

class _Source:
    """What an unpickler reads: one piece of the file after the other."""

    def __init__(self, file):
        self._file = file
        self._piece = io.BytesIO()

    def _number(self):
        return _LENGTH.unpack(self._file.read(_LENGTH.size))[0]

    def next(self):
        self._piece = io.BytesIO(self._file.read(self._number()))

    def header(self):
        self._file.seek(-_LENGTH.size, os.SEEK_END)
        self._file.seek(self._number())
        self.next()
        self._file.seek(0)
        return pickle.load(self._piece)

    def read(self, size):
        return self._piece.read(size)

    def readline(self):
        return self._piece.readline()

    def readinto(self, buffer):
        return self._piece.readinto(buffer)


def _enter(header):
    """What is no variable: returns what of it cannot be had."""
    if header["python"] != sys.version:
        raise StateError("it is of Python %s, and this is %s" % (header["python"].split()[0], sys.version.split()[0]))
    os.environ.update(header["environment"])
    sys.path[:] = header["path"]
    try:
        os.chdir(header["folder"])
    except OSError as error:
        return ["the folder %s (%s)" % (header["folder"], error.strerror)]
    return []


def _read_all(source):
    """Returns what could not be read. One that has failed may have stopped anywhere in its piece: another unpickler goes on."""
    header = source.header()
    lost, unpickler = header["not_branched"] + _enter(header), pickle.Unpickler(source)
    for expected in header["names"]:
        source.next()
        try:
            name, value = unpickler.load()
            names[name] = value
        except BaseException as error:
            lost.append("variable %s cannot be read: %s" % (expected, _reason(error)))
            known, unpickler = unpickler.memo, pickle.Unpickler(source)
            unpickler.memo = known
    return lost


def load(driver, request):
    """Reads a state into this interpreter, which has run nothing, and answers."""
    global names
    names = driver.shell.names
    status, more, path = "ok", {}, str(request.get("file"))
    try:
        with open(path, "rb") as file:
            lost = _read_all(_Source(file))
        more["not_branched"] = part("branch").shortened(lost)  # noqa: F821
    except BaseException as error:
        status, more = "refused", {"why": "its state cannot be read: %s" % _reason(error)}
    driver.wire.emit("end", id=request.get("id"), status=status, **more)
