# SPDX-License-Identifier: MIT
"""Calls the user's own python functions for fumehood (the protocol is in src/script/script.h).

Descriptor 0 is a socket: JSON messages, each after its length in four bytes. What the called code prints goes to
descriptors 1 and 2, which fumehood shows on its stderr. With the argument --once (inside a sandbox) there is one call:
stdin is its message, stdout its answer.
"""
import importlib.util
import json
import os
import sys

# Other modules are imported where they are used. Most calls need none of them, and importing asyncio, inspect, socket
# and traceback takes longer than the start of the interpreter.

once = sys.argv[1:] == ["--once"]
if not once:
    channel = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
modules = {}
inline = {}
# Our drop-in modules, for imports of packages that are not installed.
drop_ins = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "compat")


class Missing(Exception):
    pass


def receive(size):
    data = bytearray()
    while len(data) < size:
        piece = os.read(channel, min(size - len(data), 1 << 20))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


def send(text):
    data = text.encode("utf-8", "replace")
    data = len(data).to_bytes(4, "big") + data
    sent = os.write(channel, data)
    while sent < len(data):
        sent += os.write(channel, data[sent:])


class DropIns:
    """Comes last on sys.meta_path, so that installed packages take precedence."""
    said = {}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        init = os.path.join(drop_ins, name, "__init__.py")
        if path is not None or not name.isidentifier() or not os.path.isfile(init):
            return None
        for folder in (os.path.dirname(drop_ins), drop_ins):
            if folder not in sys.path:
                sys.path.append(folder)
        cls.say(name, init)
        return importlib.util.spec_from_file_location(name, init, submodule_search_locations=[os.path.dirname(init)])

    @classmethod
    def say(cls, name, init):
        """Prints the notice in one worker only: the first one to bind this socket's name, which it keeps until it ends."""
        import socket
        mark = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            mark.bind("\0fumehood-drop-in/%d/%s" % (os.getppid(), name))
        except OSError:
            return
        cls.said[name] = mark
        print(f"fumehood: the package {name} is not installed; our own serves it ({os.path.dirname(init)})", flush=True)


def module_of(path):
    module = modules.get(path)
    if module is None:
        if not os.path.isfile(path):
            raise Missing(f"there is no file {path}")
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        modules[path] = module
    return module


def function_of(path, name):
    found = module_of(path)
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise Missing(f"there is no function '{name}' in {path}")
    if not callable(found):
        raise Missing(f"'{name}' in {path} is not a function")
    return found


def parsed(code, file):
    """A single line is an expression to return; several lines are the body of a function. (`return` parses anywhere; only
    compiling it outside of a function fails.)"""
    import ast
    text = code.rstrip()
    if "\n" not in text:
        try:
            return ast.parse("return " + text.strip(), file)
        except SyntaxError:
            if text == code:
                raise
    return ast.parse(code, file)


def function_of_code(code, names):
    key = (code, tuple(names))
    if key not in inline:
        import ast
        import linecache
        file = f"<inline {len(inline)}>"
        tree = parsed(code, file)
        frame = ast.parse(f"import json\ndef main({', '.join(names)}): pass", file)
        if tree.body:
            frame.body[1].body = tree.body
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        space = {"__name__": "__main__"}
        exec(compile(frame, file, "exec"), space)
        inline[key] = space["main"]
    return inline[key]


def is_data(value):
    return value is None or isinstance(value, (bool, int, float, str, dict, list, tuple))


def waited_for(value):
    import asyncio

    async def wait():
        return await value
    return asyncio.run(wait())


def call(message):
    if "code" in message:
        function = function_of_code(message["code"], message["names"])
    else:
        function = function_of(message["file"], message["function"])
    value = function(*message["args"])
    if not is_data(value):
        import inspect
        if inspect.isawaitable(value):
            value = waited_for(value)
    return value


def trace_of(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, "<frozen importlib._bootstrap>",
                                                                      "<frozen importlib._bootstrap_external>"):
        trace = trace.tb_next
    import traceback
    return "".join(traceback.format_exception(type(error), error, trace)).rstrip("\n")


def written(reply):
    return json.dumps(reply, ensure_ascii=False, allow_nan=False)


def answer(message):
    """Makes the call; returns the answer's text."""
    try:
        value = call(message)
        return written({"outcome": "returned", "value": value, "type": type(value).__name__})
    except Missing as error:
        return written({"outcome": "missing", "name": "", "message": str(error), "traceback": ""})
    except BaseException as error:
        return written({"outcome": "threw", "name": type(error).__name__, "message": str(error),
                        "traceback": trace_of(error)})


def answer_once():
    message = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace") as out:
        os.dup2(2, 1)
        reply = answer(message)
        out.write(reply)


def main():
    sys.meta_path.append(DropIns)
    send('{"ready":true}')
    while True:
        reply = answer(json.loads(receive(int.from_bytes(receive(4), "big"))))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        send(reply)


if once:
    answer_once()
else:
    main()
