# SPDX-License-Identifier: MIT
"""Branches of code contexts into another sandbox: their state by value, what has no value that can be carried, and what hostile code in
the parent can do to either (nothing but refuse)."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from python_case import Case

#: What the cells of a notebook hold, and what must be true of it in another interpreter.
HELD = r'''
import collections, dataclasses, enum, functools, os, re, typing
import xml.dom.minidom as dom
first = [1, 2]; second = first; within = {"first": first}; itself = {}; itself["itself"] = itself
def add(x, *, k=3):
    "doc"
    return helped(x) + k + len(first)
def helped(x): return x * 2
def counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
count = counter(); count()
class Base:
    "of Base"
    def __init__(self, v): self.v = v
    def m(self): return self.v + 1
    @property
    def twice(self): return self.v * 2
    @staticmethod
    def static(): return "s"
    @classmethod
    def named(cls): return cls.__name__
class Derived(Base):
    __slots__ = ("w",)
    def m(self): return super().m() + 100
derived = Derived(4); derived.w = derived; bound = derived.m
class Color(enum.Enum):
    RED = 1
    BLUE = "b"
    def small(self): return self.name.lower()
red = Color.RED
@dataclasses.dataclass
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)
point = Point(3, first)
Pair = collections.namedtuple("Pair", "a b"); pair = Pair(1, 2)
class Row(typing.NamedTuple):
    a: int
    b: str = "s"
row = Row(5)
T = typing.TypeVar("T")
class Box(typing.Generic[T]):
    def __init__(self, v): self.v = v
box = Box[int](3)
class Failure(Exception):
    def __init__(self, code): super().__init__(code); self.code = code
failure = Failure(4)
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def plus_one(f):
    @functools.wraps(f)
    def wrapped(*a): return f(*a) + 1
    return wrapped
@plus_one
def identity(x): return x
class Meta(type):
    def __new__(m, n, b, d): d["made"] = n; return super().__new__(m, n, b, d)
class Made(metaclass=Meta): pass
by_key = collections.defaultdict(lambda: [9]); pattern = re.compile("a+"); rest = iter([1, 2, 3]); next(rest)
'''
TRUE = r'''
assert first is second is within["first"] is point.y and itself["itself"] is itself
assert add(2) == 9 and add.__doc__ == "doc" and helped.__globals__ is globals()
assert count() == 2
assert derived.m() == bound() == 105 and derived.twice == 8 and derived.w is derived and Base.__doc__ == "of Base"
assert (Derived.static(), Derived.named()) == ("s", "Derived") and type(derived) is Derived
assert red is Color.RED and Color("b").small() == "blue" and list(Color) == [Color.RED, Color.BLUE]
assert point == Point(3, first) and pair == Pair(1, 2) and pair._replace(a=4).a == 4
assert row == Row(5) and row.b == "s" and box.v == 3 and Box[str]("v").v == "v"
assert failure.code == 4 and isinstance(failure, Failure)
assert fib(20) == 6765 and identity(1) == 2 and identity.__name__ == "identity"
assert Made.made == "Made" and type(Made) is Meta
assert by_key["x"] == [9] and pattern.match("aa") and list(rest) == [2, 3]
assert dom.parseString("<a/>").documentElement.tagName == "a"
first.append(3); assert add(2) == 10
'''


@support.root_and_user
class State(Case):
    """`c` is a context with the small shell in the sandbox `s`; `other(c)` its branch in a branch of `s`, which is `s2`."""

    def lines(self, program, **arguments):
        made = ", ".join("%s=%r" % item for item in arguments.items())
        body = "\n".join("        " + line for line in program.strip("\n").splitlines())
        return self.python("import time\nheld, true = %r, %r\nwith fumehood.Sandbox('python'%s) as s:\n    c = s.context(shell='small')\n" %
                           (HELD, TRUE, ", " + made if made else "") +
                           "    with s.branch() as s2:\n        def other(c): return c.branch(sandbox=s2)\n" + body).splitlines()

    def test_what_cells_hold(self):
        self.assertEqual(self.lines("""
print(c.run(held).error)
b = other(c)
print(b.run(true).error, b.not_branched)
print(c.run(true).error, b.run('first').text, c.run('first').text)
print(b.run('1').count, b.language, b.interpreter == c.interpreter, [len(x.contexts()) for x in (s, s2)])
print(s.files.list('/tmp'), s2.files.list('/tmp'))
"""), ["None", "None []", "None [1, 2, 3] [1, 2, 3]", "4 python True [1, 1]", "[] []"])

    def test_the_two_know_nothing_of_each_other(self):
        self.assertEqual(self.lines("""
c.run('x = [1]')
b = other(c)
b.run('x.append(2); open("note", "w").write("from b")'), c.run('x.append(3)')
print(b.run('x').text, c.run('x').text, c.run('import os; os.path.exists("note")').text)
print(other(b).run('x').text, b.branch().run('x').text)
print(b.run('import os; os.getpid()').ok, b.restart(), b.run('x').error.name)
"""), ["[1, 2] [1, 3] False", "[1, 2] [1, 2]", "True None NameError"])

    def test_where_the_code_was(self):
        self.assertEqual(self.lines("""
c.run('import os, sys\\nos.environ["OF_THE_CODE"] = "1"; os.makedirs("deep"); open("deep/own_module.py", "w").write("y = 5")')
c.run('os.chdir("deep"); sys.path.insert(0, os.getcwd())')
with s.branch() as s3:
    b = c.branch(sandbox=s3)
    print(b.run('import own_module; own_module.y, os.environ["OF_THE_CODE"], os.path.basename(os.getcwd())').text, b.not_branched)
b = other(c)
print([text.replace(c.run('os.getcwd()').text.strip("'"), 'DEEP') for text in b.not_branched])
"""), ["(5, '1', 'deep') []", "['the folder DEEP (No such file or directory)']"])

    def test_what_cannot_be_carried_is_named_and_the_rest_is_there(self):
        self.assertEqual(self.lines("""
c.run('import threading, time\\nheld = open("/dev/null"); steps = (i for i in "ab"); lock = threading.Lock(); x = {"deep": [lock]}; y = 6')
c.run('class Own:\\n    def __reduce__(self): raise ValueError("none of yours")\\nown = Own()')
c.run('threading.Thread(target=time.sleep, args=(60,), name="worker", daemon=True).start()')
b = other(c)
print(*b.not_branched, sep='\\n')
print(b.run('y, Own.__name__, "x" in globals()').text)
"""), ["thread worker", "variable held (TextIOWrapper): cannot pickle '_io.TextIOWrapper' object",
            "variable steps (generator): cannot pickle 'generator' object", "variable lock (lock): cannot pickle '_thread.lock' object",
            "variable x (dict): cannot pickle '_thread.lock' object", "variable own (Own): none of yours", "(6, 'Own', False)"])

    def test_what_cannot_be_read_there_is_named_and_the_rest_is_there(self):
        self.assertEqual(self.lines("""
c.run('open("only_here.py", "w").write("class A: pass")')
c.run('from only_here import A\\na = A(); z = [1]; b = (a, z)')
b = other(c)
print(*b.not_branched, sep='\\n')
print(b.run('z').text)
"""), ["variable A cannot be read: No module named 'only_here'", "variable a cannot be read: it holds one that cannot be read",
            "variable b cannot be read: it holds one that cannot be read", "[1]"])

    def test_names_of_the_shell_are_the_codes_once_it_gives_them(self):
        self.assertEqual(self.lines("""
c.run('def open(name): return "mine"\\n__version__ = "2"; _private = 3; exit = 4\\n5')
b = other(c)
print(b.run('open("x"), __version__, _private, exit').text, b.not_branched)
print(b.run('quit').state_lost, c.run('__version__').text)
"""), ["('mine', '2', 3, 4) []", "True '2'"])

    def test_its_own_sandbox_is_a_fork(self):
        self.assertEqual(self.lines("""
c.run('steps = (i for i in "ab")')
print(c.branch(sandbox=s).run('next(steps)').text)
"""), ["'a'"])

    def test_how_objects_are_pickled_changes_nothing_in_the_parent(self):
        self.assertEqual(self.lines("""
c.run('said = []\\nclass Loud:\\n    def __getstate__(self): said.append(1); return {"v": 1}\\nloud = Loud()')
b = other(c)
print(b.run('loud.v').text, c.run('said').text)
"""), ["1 []"])

    def test_code_that_ends_the_writer_or_lies_about_it_gets_no_branch_and_keeps_its_state(self):
        self.assertEqual(self.lines("""
def tried(c):
    try:
        other(c)
    except fumehood.UnavailableError as error:
        return str(error)
    except (fumehood.NotFoundError, fumehood.ArgumentError) as error:
        return type(error).__name__
c.run('import os, signal, sys\\nclass Deadly:\\n    def __reduce__(self): os._exit(0)\\ndeadly = Deadly(); x = 1')
print(tried(c).split(': ')[-1], c.run('x').text)
c.run('del deadly, Deadly\\nsys.modules["fumehood_context_state"]._save = lambda *_: None')
print(tried(c), c.run('x').text)
c.run('sys.modules["fumehood_context_state"]._save = lambda driver, path, lost: os.mkfifo(path)')
print(tried(c), c.run('x').text)
c.run('sys.modules["fumehood_context_state"]._save = lambda driver, path, lost: os.symlink("/dev/zero", path)')
print(tried(c) is not None, c.run('x').text)
c.run('sys.modules["fumehood_context_state"]._save = lambda driver, path, lost: open(path, "wb").write(b"\\\\x07" * 99)')
print(tried(c) is not None, c.run('x').text, [len(x.contexts()) for x in (s, s2)])
print(s.files.list('/tmp'), s2.files.list('/tmp'))
"""), ["the process that writes it was ended, as it is when memory runs out 1", "NotFoundError 1", "ArgumentError 1", "True 1", "True 1 [1, 0]",
            "[] []"])

    def test_a_writer_or_reader_that_never_ends_is_not_waited_for(self):
        self.assertEqual(self.lines("""
def tried(c):
    try:
        return other(c)
    except fumehood.TimeoutError as error:
        return str(error)
slow = s.context(shell='small', start_timeout=3)
slow.run('import time\\nclass Slow:\\n    def __reduce__(self): time.sleep(600)\\nslow = Slow(); x = 1')
print(tried(slow))
slow.restart()
slow.run('import time\\nclass Slow:\\n    def __reduce__(self): return (time.sleep, (600,))\\nslow = Slow(); x = 1')
print(tried(slow), slow.run('x').text)
"""), ["the context did not branch within 3000 ms", "the context did not branch within 3000 ms 1"])

    @support.once
    def test_a_state_for_which_there_is_no_memory_stays(self):
        """As bytes, of which the writer has pickles and their file, and as objects, of which it has a copy by touching them."""
        self.assertEqual(self.lines(r"""
for code in 'x = os.urandom(40 << 20)', 'x = os.urandom(90 << 20)', 'x = [[i] for i in range(1000000)]':
    c.run('import os\nx = None\n' + code)
    try:
        print(other(c).run('x').error)
    except fumehood.UnavailableError as error:
        print(' '.join(str(error).split(': ')[2].split(' ')[:3]))
    print(c.run('len(x)').text)
c.run('x = os.urandom(8 << 20)')
print(other(c).run('len(x) >> 20').text)
""", memory=160 << 20), ["there is too", str(40 << 20), "the copy of", str(90 << 20), "the copy of", "1000000", "8"])

    @support.once
    def test_other_languages_say_why_not(self):
        self.assertEqual(self.lines("""
try:
    other(s.context('bash'))
except fumehood.UnavailableError as error:
    print(str(error).split(':')[0])
"""), ["a context in bash cannot branch"])

    @support.once
    def test_with_await(self):
        self.assertEqual(self.python("""
            import asyncio, fumehood.aio
            async def main():
                async with fumehood.aio.Sandbox('python') as s:
                    c = await s.context(shell='small')
                    await c.run('x = 5')
                    async with await s.branch() as s2:
                        print((await (await c.branch(sandbox=s2)).run('x')).text)
            asyncio.run(main())
            """), "5\n")


if __name__ == "__main__":
    unittest.main()
