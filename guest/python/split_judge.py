# SPDX-License-Identifier: MIT
# The judge's side: runs the test of a problem against a stand-in for the function that it tests. No text of the candidate's is
# ever sent here: only values arrive, over a pipe, and its end.
#
# stdin:   the seed, sixteen hexadecimal digits (begin_chance); four times 16 bytes "%015d\n": the lengths of the names of the
#          stand-ins (one on each line), of the part of the prompt that the test may need and of the test, and 1 if changed
#          arguments are to be sent back; then the three texts.
# fd 3, 4: from and to the candidate. A request is an operation, eight random bytes and a value; the answer begins with the same
#          bytes. Anything else that arrives was not sent by an honest driver: the judge ends at once and reports "tampered",
#          without an exception that a test could catch.
# fd 5:    one message at the very end: "WORD CALLS SIZE\n" and SIZE bytes of reason (src/judge/split/split.h lists the words).
#          Of "passed" the reason is "not finite" if a result held a NaN or an infinity, else empty.
import builtins
from _thread import allocate_lock

import split_library  # for the types that it adds to split_codec
import split_numpy
from split_codec import (Gone, Int, Limit, Malformed, OPAQUE, Str, U, Unsupported, decode, decode_text, encode, get_kind, kind, leave,
                         length, not_finite, posix, put_known, read_fd, receive, send, sys, take, take_input, take_size, urandom)

builtins.exit = builtins.quit = sys.exit  # normally defined by Python's site module, without which the interpreter is started

FROM, TO, DRIVER = 3, 4, 5
ITEMS_MAX = 1000000
REASON_MAX = 2000
calls, items_left = 0, ITEMS_MAX
CALL, NEXT, ITERATE, ATTRIBUTE, TEXT, CALL_RESULT = b"c", b"n", b"t", b"a", b"s", b"k"
known_errors = {name: error for name, error in vars(builtins).items()
                if kind(error) is kind and issubclass(error, Exception) and not name.endswith("Group")}
# Raised within a loop of the test's (map, zip, all), these would end the loop before anything was compared. So they are
# converted as Python does in a generator, unless the test names them.
ends_of_loops = "StopIteration", "StopAsyncIteration"
# What these three want before a message.
before_message = {"UnicodeDecodeError": ("", b"", 0, 0), "UnicodeEncodeError": ("", "", 0, 0), "UnicodeTranslateError": ("", 0, 0)}
test_text = ""
ERRORS_MAX = 1000
error_classes = {}  # made by class_of


def end(verdict, reason):
    reason = reason.encode("utf-8", "backslashreplace")[:REASON_MAX]
    message = ("%s %d %d\n" % (verdict, calls, len(reason))).encode() + reason
    while message:
        message = message[posix.write(DRIVER, message):]
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except Exception:
            pass
    leave(0 if verdict == "passed" else 1)


# What plain values have, and arrays and tables: an object whose `startswith`, `issubset` or `equals` always says True would pass for
# one. What is excepted gives or takes an item, so has to be right.
attributes_of_values = {name for its in (str, bytearray, list, dict, set, float, complex, range) for name in dir(its)}
attributes_of_values.difference_update("add append clear copy discard extend get insert items keys pop popitem remove setdefault update values".split())
attributes_of_values.update("all allclose any compare eq equal equals identical isclose isin".split())


class Opaque:
    """Stands for a value whose type cannot cross. It equals nothing, and has the value's truth and length. Its text and its
    attributes, but for such as plain values have, are asked for when the test takes them, and are the same until the next call."""

    def __init__(self, number, name, truth, size):
        self.fh_number, self.fh_name, self.fh_truth, self.fh_size, self.fh_seen = number, name, truth, size, {}

    def fh_ask(self, operation, name):
        found = self.fh_seen.get(name)
        if found is None or found[0] != calls:
            value = ask(operation, (self.fh_number, name) if name else self.fh_number)
            found = self.fh_seen[name] = calls, value
        return found[1]

    def __getattr__(self, name):
        if name[:1] == "_" or name[:3] == "fh_" or name in attributes_of_values:
            raise AttributeError("'%s' object has no attribute '%s' that crosses" % (self.fh_name, name))
        return self.fh_ask(ATTRIBUTE, name)

    def __str__(self):
        text = self.fh_ask(TEXT, "")
        if kind(text) is not Str:
            end("tampered", "a text that is none")
        return text

    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return id(self)

    def __bool__(self):
        if self.fh_truth == 2:
            raise TypeError("the truth of this %s cannot be told" % self.fh_name)
        return self.fh_truth == 1

    def __len__(self):
        if self.fh_size < 0:
            raise TypeError("object of type '%s' has no len()" % self.fh_name)
        return self.fh_size

    def __repr__(self):
        return "<%s>" % self.fh_name


class Items(Opaque):
    """Stands for a value that can be iterated. Its items are asked for when the test first takes them, and kept: whatever the
    test looks at (items, length, an index), it sees the same ones."""

    def __init__(self, *about):
        super().__init__(*about)
        self.fh_items, self.fh_source = [], None

    def fh_has(self, count):
        """Asks for items until there are `count`; whether there are so many."""
        if self.fh_source is None:
            source = ask(ITERATE, self.fh_number)
            if kind(source) is not Iterator:
                source = iter(source)
            self.fh_source = source
        while count < 0 or length(self.fh_items) < count:
            try:
                self.fh_items.append(next(self.fh_source))
            except StopIteration:
                if 0 <= self.fh_size != length(self.fh_items):
                    end("failed", "a %s with a length of %d and %d items" % (self.fh_name, self.fh_size, length(self.fh_items)))
                return False
        return True

    def __iter__(self):
        at = 0
        while self.fh_has(at + 1):
            yield self.fh_items[at]
            at += 1

    def __len__(self):
        if self.fh_size >= 0:
            self.fh_has(-1)
        return super().__len__()

    def __getitem__(self, index):
        self.fh_has(index + 1 if kind(index) is Int and index >= 0 else -1)
        return self.fh_items[index]


class Function(Opaque):
    """Stands for a result that can be called, such as a closure or a method. What it changes in its arguments does not come back."""

    def __call__(self, *args, **kwargs):
        return ask(CALL_RESULT, (self.fh_number, args, kwargs))


class FunctionItems(Function, Items):
    """One that can be iterated as well."""


class Iterator:
    """An iterator of the candidate's, from which each item is requested."""

    def __init__(self, number):
        self.number, self.over = number, False

    def __iter__(self):
        return self

    def __next__(self):
        global items_left
        if self.over:
            raise StopIteration
        items_left -= 1
        if items_left < 0:
            end("failed", "more than %d items were taken from iterators" % ITEMS_MAX)
        answer = ask(NEXT, self.number)
        if answer is over:
            self.over = True
            raise StopIteration
        return answer


met = []  # the types of the values that did not cross


def get_opaque(depth):
    number, = U.unpack(take(4))
    name = get_kind(Str, depth)
    truth, size, how = OPAQUE.unpack(take(10))
    if truth > 2 or size < -1 or how > 3:
        raise Malformed("an object that is none")
    met.append(name[:100])
    return (Opaque, Items, Function, FunctionItems)[how](number, name[:100], truth, size)


readers = {b"O": get_opaque, b"J": lambda depth: Iterator(U.unpack(take(4))[0])}


def put_foreign(value, depth):
    if kind(value) in (Opaque, Items, Function, FunctionItems, Iterator):
        end("failed", "the test hands a %r on that does not cross" % (value,))
    if not put_known(value, depth):
        raise Unsupported(kind(value).__name__)


# -------------------------------------------------------------------------------------------------------- calls
over = object()


def answer_to(identifier):
    """Sends a request; returns the kind of the answer, and its bytes."""
    try:
        data = receive(FROM)
    except Gone:
        end("gone", "the candidate ended before it answered")
    except OSError as problem:
        end("broken", "cannot hear the candidate: %s" % problem)
    except Malformed as problem:
        end("tampered", str(problem))
    if data[:8] != identifier:
        end("tampered", "an answer to no question" if len(data) >= 8 else "a frame that is too short")
    return data


def value_of(data, at):
    try:
        return decode(data, at, readers)
    except Malformed as problem:
        end("tampered", str(problem))
    except Exception as problem:
        end("tampered", "a value that cannot be read: %s" % kind(problem).__name__)


def described(data):
    """Decodes an exception: the name of the built-in base, the type's own name, the message, the arguments, and its number."""
    words = value_of(data, 9)
    if kind(words) is not tuple or [kind(word) for word in words] != [str, str, str, tuple, int]:
        end("tampered", "an exception that is none")
    if any(kind(value) not in (int, float, bool, kind(None), str) for value in words[3]):
        end("tampered", "an exception that is none")
    return words


class Raised:
    """What the classes of errors have that stand for classes of the program's."""

    fh_number = -1

    def __getattr__(self, name):
        if name[:1] == "_" or name[:3] == "fh_" or name == "raised_as" or self.fh_number < 0:
            raise AttributeError("'%s' object has no attribute '%s'" % (kind(self).__name__, name))
        return ask(ATTRIBUTE, (self.fh_number, name))


def class_of(base, name):
    """The class of an exception: Python's own, or one that stands for the program's class of that name."""
    error = known_errors.get(base, Exception)
    if name == base:
        return error
    found = error_classes.get((base, name))
    if found is None:
        try:
            found = kind(name, (Raised, error), {"__module__": "solution"})
        except ValueError:  # not a name that a class can have
            return error
        if length(error_classes) < ERRORS_MAX:
            error_classes[base, name] = found
    return found


def raised_by_program(base, name, message, given, number):
    error, raised = class_of(base, name), Exception(message)
    for arguments in given, (message,), (*before_message.get(base, ()), message):
        try:
            raised = error(*arguments)
        except Exception:  # arguments that this class does not take
            continue
        if Str(raised) == message:
            break
    if isinstance(raised, Raised):
        raised.fh_number = number
    return raised


turn = allocate_lock()  # a test may call from several threads


def ask(operation, value):
    with turn:
        return ask_alone(operation, value)


def ask_alone(operation, value):
    global calls
    identifier = urandom(8)
    try:
        data = operation + identifier + encode(value, put_foreign)
    except Unsupported as problem:
        end("unfit", "an argument of type %s" % problem)
    except Limit as problem:
        end("unfit", "an argument with %s" % problem)
    try:
        send(TO, data)
    except Gone:
        end("gone", "the candidate ended before it was asked")
    except OSError as problem:
        end("broken", "cannot reach the candidate: %s" % problem)
    data = answer_to(identifier)
    answer = data[8:9]
    calls += operation == CALL or operation == CALL_RESULT
    if answer == b"v":
        return value_of(data, 9)
    if answer == b"e":
        base, name, message, given, number = described(data)
        if base in ends_of_loops and base not in test_text:
            raised = RuntimeError(("the program raised %s: %s" % (base, message)).rstrip(": "))
            raised.raised_as = name  # for compared.py and same_as.py
            raise raised
        raise raised_by_program(base, name, message, given, number)
    if answer == b"x":
        base, name, message, given, number = described(data)
        end("exited", ("%s: %s" % (name, message)).rstrip(": "))
    if answer == b"l":
        base, name, message, given, number = described(data)
        end("failed", "%s: %s" % (name, message) if message else name)
    if answer == b"z" and operation == NEXT and len(data) == 9:
        return over
    end("tampered", "an answer of no kind")


def changed(value, found):
    """Collects the mutable objects of a call's arguments in the order of their numbers: depth first, each once."""
    its = kind(value)
    if its in (list, dict, set, bytearray):
        if id(value) in found:
            return
        found[id(value)] = value
    if its is dict:
        for key, item in value.items():
            changed(key, found)
            changed(item, found)
    elif its in (list, tuple, set, frozenset):
        for item in value:
            changed(item, found)


def patch(value, content):
    """Changes an argument in place to what the candidate made of its copy."""
    if kind(value) is not kind(content):
        end("tampered", "an argument that became another type")
    if kind(value) in (list, bytearray):
        value[:] = content
    else:
        value.clear()
        value.update(content)


def call_and_change(number, args, kwargs):
    """Like ask. In addition, changes that the candidate made in place are made here too, and where its result is an argument,
    so is ours."""
    found = {}
    changed((args, kwargs), found)
    mine = [value for value in found.values() if value is not kwargs]
    answer = ask(CALL, (number, args, kwargs, mine))
    if kind(answer) is not tuple or len(answer) != 2 or kind(answer[1]) is not list or len(answer[1]) != len(mine):
        end("tampered", "arguments that did not come back")
    result, contents = answer
    swap = {}
    for value, content in zip(mine, contents):
        swap[id(content)] = value
    for value, content in zip(mine, contents):
        if kind(content) is list:
            content[:] = [swap.get(id(item), item) for item in content]
        elif kind(content) is dict:
            for key in content:
                content[key] = swap.get(id(content[key]), content[key])
        patch(value, content)
    return swap.get(id(result), result)


def stand_in(number, name, send_back):
    def call(*args, **kwargs):
        if send_back:
            return call_and_change(number, args, kwargs)
        return ask(CALL, (number, args, kwargs, None))
    call.__name__ = call.__qualname__ = name
    return call


# --------------------------------------------------------------------------------------------------------- the test
def explain(error, text):
    reason = type(error).__name__ + ": " + str(error)
    line, at = 0, error.__traceback__
    while at:
        if at.tb_frame.f_code.co_filename == "<test>":
            line = at.tb_lineno
        at = at.tb_next
    lines = text.split("\n")
    if 0 < line <= len(lines):
        reason = "%.1000s [test line %d: %.400s]" % (reason, line, lines[line - 1].strip())
    if met:
        reason += (" (of the program's %s only its attributes, its text, its items and calls of it cross; with a reference in the task "
                   "the judge sees whether the test needs more)" % met[0])
    return reason


def is_lacking(error, text):
    """Whether the test itself uses a name that neither it nor Python defines, so only the program can. This is a fact about the test."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    name = getattr(error, "name", None)
    if kind(error) is not NameError or not name or not at or at.tb_frame.f_code.co_filename != "<test>":
        return False
    import _symtable
    found = _symtable.symtable(text, "<test>", "exec").symbols.get(name, 0)
    return not found & (_symtable.DEF_LOCAL | _symtable.DEF_IMPORT) and "import *" not in text


# ------------------------------------------------------------------------------------------------------ chance
def begin_chance(seed):
    """Seeds the generators of module random with numbers that only this process has, so a candidate that draws from its own gets
    other ones. If the test seeds with a number of its own, the results are as anywhere. If it seeds with the time, which the
    candidate can read too, or with nothing, they are not."""
    import random
    import time
    true_seed, drawn = random.Random.seed, random.Random("%x" % seed)

    def is_time(value):
        clocks = time.time(), time.monotonic()
        return any(abs(value - clock * unit) < unit for clock in clocks for unit in (1, 1e3, 1e6, 1e9))

    def mixed(self, a=None, version=2):
        if a is None or (kind(a) in (int, kind(1.0)) and is_time(a)):
            a = "%x" % drawn.getrandbits(128)
        true_seed(self, a, version)

    def new(self, x=None):
        self.seed(x)
        self.gauss_next = None

    random.Random.seed, random.Random.__init__ = mixed, new
    random.seed = random._inst.seed  # the module's functions are methods of one generator
    random.seed()


def nothing_is_left():
    """Whether the candidate has sent nothing without a request."""
    posix.set_blocking(FROM, False)
    try:
        return not read_fd(FROM, 1)
    except BlockingIOError:
        return True


def failures_of_unittest():
    """A list that gets what fails in unittest from now on: a test may run its cases and not look at how they went."""
    import unittest
    found = []

    def watch(name, failed):
        usual = getattr(unittest.TestResult, name)

        def add(self, case, *what):
            if failed(what):
                found.append(case)
            return usual(self, case, *what)
        setattr(unittest.TestResult, name, add)
    for name in ("addFailure", "addError", "addUnexpectedSuccess"):
        watch(name, lambda what: True)
    watch("addSubTest", lambda what: what[-1] is not None)
    return found


def imports(test, name):
    """As fh_python_imports (src/code): by look."""
    return name in test and any(line.split()[:1] in (["import"], ["from"]) and name in line for line in test.split("\n"))


def main():
    global test_text
    seed = take_input(16)
    sizes = [take_size() for _ in range(4)]
    names, before, test = [decode_text(take_input(size), "utf-8") for size in sizes[:3]]
    if "random" in before or "random" in test:
        begin_chance(Int(seed, 16))
    # What stands behind a guard of the main program is run, but for a call of pytest, which finds the cases in a file.
    space, test_text = {"__name__": "test" if imports(test, "pytest") else "__main__"}, test
    if "import numpy" in test or "from numpy" in test:
        split_numpy.offer()
    if imports(test, "unittest"):  # unittest looks for its cases in the main module
        sys.modules["__main__"] = module = kind(sys)("__main__")
        space = module.__dict__
        failures = failures_of_unittest()
    else:
        failures = ()
    try:
        exec(compile(before, "<prompt>", "exec", 0, True), space)
        program = compile(test, "<test>", "exec", 0, True)
    except BaseException as error:
        if calls:
            end("failed", explain(error, test))
        end("broken", "what stands before the test: " + explain(error, test))
    sys.modules["solution"] = solution = kind(sys)("solution")  # for a test that imports what it tests
    for number, name in enumerate(names.split()):
        space[name] = solution.__dict__[name] = stand_in(number, name, sizes[3] == 1)
    try:
        exec(program, space)
    except BaseException as error:
        # an exit by the test itself, such as unittest.main's, of which the cases that failed say more
        if kind(error) is not SystemExit or error.code and not failures:
            try:
                reason = explain(error, test)
            except Exception:
                reason = type(error).__name__
            end("lacks" if is_lacking(error, test) else "failed", reason)
    if failures:
        end("failed", f"unittest: {len(failures)} failed, the first {failures[0]}"[:300])
    if not nothing_is_left():
        end("tampered", "an answer after the last question")
    if not calls:
        end("broken", "the test called nothing")
    end("passed", "not finite" if not_finite else "")
