# SPDX-License-Identifier: MIT
# The candidate's side: runs the program of a sample and answers the judge's calls. The test and its expected values are never
# sent here. Nothing here has to be protected from the program, which could write answers itself as well.
#
# stdin:   three times 16 bytes "%015d\n": the lengths of the names of the functions to be called (one on each line), of imports
#          on which the program may count, and of the program; then all three.
# fd 3, 4: from and to the judge (split_judge.py).
import _io
import builtins

import split_library  # for the types that it adds to split_codec
from split_codec import (AnyError, Bool, Float, Gone, Int, Limit, NoneKind, OPAQUE, PlainError, Str, decode, decode_text, encode, kind, leave, length,
                         method_order, out, posix, put, put_known, receive, send, sys, tag_count, take_input, take_size, text_of)

builtins.exit = builtins.quit = sys.exit  # normally defined by Python's site module, without which the interpreter is started

FROM, TO = 3, 4
KEPT_MAX = 100000
TEXT_MAX = 2000
kept = []
missing = object()
built_in = vars(builtins)
Truth, Size, next_of, iterator_of, attribute_of, run, compile_text, NoMore, Exit = bool, len, next, iter, getattr, exec, compile, StopIteration, SystemExit
errors = {error: error.__name__ for error in built_in.values() if kind(error) is kind and issubclass(error, BaseException)}
known_errors = {error: name for error, name in errors.items() if issubclass(error, Exception) and not name.endswith("Group")}
names_of_errors = frozenset(errors.values())
flush_out, flush_err = sys.stdout.flush, sys.stderr.flush


# -------------------------------------------------------------------------------------------------------- results
def keep(value):
    if length(kept) >= KEPT_MAX:
        raise Limit("more than %d objects that do not cross" % KEPT_MAX)
    kept.append(value)
    return length(kept) - 1


def put_foreign(value, depth):
    its = kind(value)
    order = method_order(its)
    if its.__module__ == "numpy" and "generic" in [base.__name__ for base in order]:
        put(value.item(), depth)
    elif put_known(value, depth):
        return
    elif any_has(order, "__next__"):
        out.append(tag_count(74, keep(value)))
    else:
        try:
            truth = 1 if Truth(value) else 0
        except PlainError:
            truth = 2
        size = -1
        if any_has(order, "__len__"):
            try:
                size = Size(value)
            except PlainError:
                pass
        out.append(tag_count(79, keep(value)))
        put(Str.__str__(its.__module__ + "." + its.__qualname__), depth)
        iterable = any_has(order, "__iter__") or any_has(order, "__getitem__")
        out.append(OPAQUE.pack(truth, size, iterable + 2 * any_has(order, "__call__")))


def any_has(order, name):
    for its in order:
        if name in kind.__dict__["__dict__"].__get__(its):
            return True
    return False


# --------------------------------------------------------------------------------------------------------- errors
def message_of(error):
    try:
        text = text_of(error)
        return Str.__str__(text)[:TEXT_MAX]
    except AnyError:
        return "an exception that cannot be shown"


def arguments_of(error):
    """The error's own arguments, where they are few and plain; else none."""
    try:
        given = error.args
    except AnyError:
        return ()
    if kind(given) is not tuple or length(given) > 8:
        return ()
    for value in given:
        if kind(value) not in (Int, Float, Bool, NoneKind, Str) or kind(value) is Str and length(value) > TEXT_MAX:
            return ()
    return given


def describe(error):
    """The name of the nearest built-in base, the name of the type itself, the message, the arguments, and the number by which the
    judge asks for attributes of an error of the program's own class. The names are the same for a built-in alone."""
    its = kind(error)
    order, name = method_order(its), Str.__str__(its.__name__)[:100]
    if name in names_of_errors and its not in errors:
        name += " (not Python's own)"
    base = ""
    for its in order:
        if its in known_errors:
            base = known_errors[its]
            break
    number = keep(error) if base != name and length(kept) < KEPT_MAX // 2 else -1
    return base, name, message_of(error), arguments_of(error), number


def error_answer(error):
    return (b"e" if PlainError in method_order(kind(error)) else leaving(error)) + encode(describe(error), put_foreign)


def leaving(error):
    """The answer for an exception that a test must not catch: SystemExit means leaving, the others are failures."""
    return b"x" if Exit in method_order(kind(error)) else b"l"


def limit_answer(problem):
    return b"l" + encode(("", "a result with " + text_of(problem), "", (), -1), put_foreign)


# ---------------------------------------------------------------------------------------------------------- calls
def call(functions, request):
    number, args, kwargs, sent = request
    name, function = functions[number]
    if function is missing:
        return b"l" + encode(("", "NameError", "name '%s' is not defined" % name, (), -1), put_foreign)
    result = function(*args, **kwargs)
    return b"v" + encode(result if sent is None else (result, sent), put_foreign)


def call_kept(request):
    number, args, kwargs = request
    return kept[number](*args, **kwargs)


def attribute(request):
    number, name = request
    return attribute_of(kept[number], name)


# What a request about a kept object gives.
about_kept = {b"t": lambda number: iterator_of(kept[number]), b"a": attribute, b"s": lambda number: Str.__str__(text_of(kept[number])),
              b"k": call_kept}


def serve(functions, failed):
    while True:
        data = receive(FROM)
        operation, identifier = data[:1], data[1:9]
        request = decode(data, 9, {})
        try:
            if failed:
                answer = failed
            elif operation == b"c":
                answer = call(functions, request)
            elif operation in about_kept:
                answer = b"v" + encode(about_kept[operation](request), put_foreign)
            else:
                try:
                    answer = b"v" + encode(next_of(kept[request]), put_foreign)
                except NoMore:
                    answer = b"z"
        except Limit as problem:
            answer = limit_answer(problem)
        except AnyError as error:
            answer = error_answer(error)
        try:
            flush_out()
            flush_err()
        except AnyError:
            pass
        send(TO, identifier + answer)


def load(imports, program, names):
    """The functions with their names; or the answer to every request, if the program failed. A function that the program does not
    define, such as sum, is Python's, as it would be in one program."""
    sys.modules["solution"] = module = kind(sys)("solution")  # pickle and typing look for a class's module there
    space = module.__dict__
    try:
        run(compile_text(imports, "<string>", "exec", 0, True), space)
    except AnyError:
        pass  # the program need not use them
    try:
        run(compile_text(program, "<string>", "exec", 0, True), space)
    except AnyError as error:
        return None, leaving(error) + encode(describe(error), put_foreign)
    return [(name, space.get(name, built_in.get(name, missing))) for name in names], None


def main():
    sizes = [take_size() for _ in range(3)]
    names, imports, program = [decode_text(take_input(size), "utf-8") for size in sizes]
    null = posix.open("/dev/null", posix.O_RDONLY)
    posix.dup2(null, 0)
    posix.close(null)
    sys.stdin = _io.open(0, encoding="utf-8", closefd=False)
    functions, failed = load(imports, program, names.split())
    try:
        serve(functions, failed)
    except Gone:
        pass
    try:
        flush_out()
        flush_err()
    except AnyError:
        pass
    leave(0)
