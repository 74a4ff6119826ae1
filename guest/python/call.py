# SPDX-License-Identifier: MIT
"""Calls functions of a program in solution.py, inside a sandbox (the protocol is in src/eval/assertions/code/code.c).

stdin is one JSON object: {"token", "calls": [{"call": expression} or {"function", "args", "kwargs"}]}. At the very end, the
results of the calls are written to the file ".result-TOKEN", as one JSON array. Expected values are never sent here:
results are compared outside. The program shares this process, so a malicious one can forge its results. Exiting early is
not enough for that, since nothing passes without the file.
"""
import sys


def main():
    import builtins
    import json
    import os
    import types

    request = json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    path = os.path.abspath(".result-" + request["token"])
    # Bound now, before the program can replace them.
    leave, opener, write, dumps, flush = os._exit, os.open, os.write, json.dumps, (sys.stdout.flush, sys.stderr.flush)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    base_error = BaseException
    own_errors = {error.__name__: error for error in vars(builtins).values() if type(error) is type and issubclass(error, base_error)}
    kinds = (bool, int, float, str, list, tuple, dict, type(None))
    is_bool, is_int, is_float, is_str, is_list, is_tuple, is_dict, is_none = kinds
    text_of, repr_of, name_of, derives = str, repr, type, issubclass
    true_name = type.__dict__["__name__"].__get__  # a metaclass may have another
    depth_max, nodes_max, text_max = 100, 200000, 20000

    def check(value, kinds):
        """As isinstance, but that an object's own __class__ does not count."""
        return derives(name_of(value), kinds)

    def shown(function, value):
        try:
            text = function(value)
            return text[:text_max] if check(text, is_str) else ""
        except base_error as error:
            return f"<{function.__name__}() of a {name_of(value).__name__} raised {name_of(error).__name__}>"

    def encode(value, depth, budget):
        """The value as JSON in which each object is a tag: $dict, $int (beyond JSON's range), $float (not finite), $other."""
        budget[0] -= 1
        if depth > depth_max or budget[0] < 0:
            return {"$other": "too large"}
        if check(value, (is_none, is_bool)):
            return value
        if check(value, is_str):
            return is_str(value)
        if check(value, is_int):
            plain = is_int(value)
            return plain if -2**53 <= plain <= 2**53 else {"$int": decimal(plain)}
        if check(value, is_float):
            plain = is_float(value)
            return plain if plain - plain == 0 else {"$float": repr_of(plain)}
        if check(value, (is_list, is_tuple)):
            return [encode(item, depth + 1, budget) for item in value]
        if check(value, is_dict):
            return {"$dict": [[encode(k, depth + 1, budget), encode(v, depth + 1, budget)] for k, v in value.items()]}
        return {"$other": shown(repr_of, value)}

    def decimal(value):
        try:
            return text_of(value)
        except ValueError:  # more digits than sys.get_int_max_str_digits()
            return hex(value)

    def error_name(its):
        """The name of an error's class; that of a built-in belongs to the built-in alone."""
        name = true_name(its)
        return name + " (not Python's own)" if own_errors.get(name, its) is not its else name

    def problem(error, stage):
        import traceback
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        try:
            text = shown(text_of, error)
            lines = traceback.format_exception(name_of(error), error, trace)
        except base_error:
            text, lines = "", []
        if check(error, SyntaxError):
            text = f"{error.msg} (line {error.lineno})"
        return {"stage": stage, "name": error_name(name_of(error)), "message": text,
                "traceback": "".join(lines)[-text_max:]}

    def lacks(module, wanted, error):
        """Whether the expression itself uses a name that the program does not define."""
        return check(error, NameError) and "call" in wanted and any(
            "'%s'" % name in shown(text_of, error) for name in wanted["code"].co_names if name not in module.__dict__)

    def finish(results):
        for stream in flush:
            try:
                stream()
            except base_error:
                pass
        data = dumps(results, ensure_ascii=True).encode()
        out = opener(path, flags, 0o600)
        while data:
            data = data[write(out, data):]
        # Ends without running exit handlers or threads of the program.
        leave(0)

    def call(module, wanted):
        space = module.__dict__
        if "call" in wanted:
            value = eval(wanted["code"], space)
        else:
            function = space
            for part in wanted["function"].split("."):
                found = function.get(part) if function is space else getattr(function, part, None)
                if found is None:
                    return {"stage": "missing", "name": "", "message": wanted["function"], "traceback": ""}
                function = found
            value = function(*wanted["args"], **wanted.get("kwargs", {}))
        if name_of(value).__name__ == "coroutine":
            import asyncio
            value = asyncio.run(value)
        printed = value if check(value, is_str) else shown(text_of, value)
        return {"value": encode(value, 0, [nodes_max]), "text": printed[:text_max], "repr": shown(repr_of, value)}

    calls = request["calls"]
    for wanted in calls:
        if "call" in wanted:
            try:
                wanted["code"] = compile(wanted["call"].strip(), "<call>", "eval")
            except (SyntaxError, ValueError) as error:
                finish([problem(error, "call")] * len(calls))
    module = types.ModuleType("solution")
    module.__file__ = os.path.abspath("solution.py")
    sys.modules["solution"] = module
    sys.argv = [module.__file__]
    try:
        with open(module.__file__, "rb") as file:
            exec(compile(file.read(), module.__file__, "exec"), module.__dict__)
    except base_error as error:
        finish([problem(error, "load")] * len(calls))
    results = []
    for wanted in calls:
        try:
            results.append(call(module, wanted))
        except base_error as error:
            results.append(problem(error, "run"))
            results[-1]["undefined"] = lacks(module, wanted, error)
    finish(results)


main()
