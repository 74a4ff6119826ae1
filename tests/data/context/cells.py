1 + 1
# %%
x = 5
# %%
x
# %%
x; None
# %%
x;
# %%
'text'
# %%
"it's"
# %%
b'bytes'
# %%
3.5
# %%
1e100
# %%
2 ** 100
# %%
1j * 1j
# %%
True
# %%
None
# %%
[1, 2, 3]
# %%
[]
# %%
list(range(30))
# %%
list(range(100))
# %%
list(range(2000))
# %%
{'a': 1, 'b': [1, 2]}
# %%
{i: 'value %d' % i for i in range(12)}
# %%
{3, 1, 2}
# %%
frozenset([2, 1])
# %%
(1,)
# %%
(1, 2, 'three')
# %%
tuple(range(60))
# %%
{'nested': {'deep': [{'x': 'a' * 30, 'y': 'b' * 30}, {'x': 'c' * 30, 'y': 'd' * 30}]}}
# %%
[['a' * 20] * 3] * 4
# %%
set()
# %%
range(5)
# %%
int
# %%
len
# %%
lambda: 1
# %%
type(None)
# %%
Exception('a')
# %%
...
# %%
NotImplemented
# %%
import collections; collections.OrderedDict(a=1)
# %%
collections.Counter('aab')
# %%
collections.namedtuple('P', 'x y')(1, 2)
# %%
collections.deque([1, 2])
# %%
collections.defaultdict(int, {'a': 1})
# %%
import datetime; datetime.date(2024, 1, 2)
# %%
import decimal; decimal.Decimal('1.10')
# %%
import fractions; fractions.Fraction(1, 3)
# %%
import pathlib; pathlib.PurePosixPath('/a/b')
# %%
import re; re.match('a', 'abc')
# %%
class Plain:
    def __repr__(self):
        return 'Plain()'
Plain()
# %%
class Multi:
    def __repr__(self):
        return 'one\ntwo'
Multi()
# %%
[Multi(), Multi()]
# %%
class Html:
    def _repr_html_(self):
        return '<b>h</b>'
    def __repr__(self):
        return 'Html()'
Html()
# %%
class Many:
    def __repr__(self): return 'Many()'
    def _repr_html_(self): return '<i>m</i>'
    def _repr_markdown_(self): return '*m*'
    def _repr_latex_(self): return '$m$'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'\x89PNG'
    def _repr_jpeg_(self): return b'\xff\xd8'
    def _repr_pdf_(self): return b'%PDF'
    def _repr_json_(self): return {'m': 1}
    def _repr_javascript_(self): return 'm()'
Many()
# %%
class Bundle:
    def __repr__(self): return 'Bundle()'
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {'text/x-own': 'own', 'text/html': '<p>'}
Bundle()
# %%
class WithMetadata:
    def __repr__(self): return 'WithMetadata()'
    def _repr_html_(self): return '<p>', {'isolated': True}
WithMetadata()
# %%
class Refuses:
    def __repr__(self): return 'Refuses()'
    def _repr_html_(self): raise NotImplementedError
Refuses()
# %%
class ShowsItself:
    def _ipython_display_(self): print('shown')
ShowsItself()
# %%
class NoneHtml:
    def __repr__(self): return 'NoneHtml()'
    def _repr_html_(self): return None
NoneHtml()
# %%
Many
# %%
print('hello')
# %%
print('a', 'b', sep='-', end='')
# %%
print('é €  😀')
# %%
print('\x1b[31mred\x1b[0m')
# %%
for i in range(3): print(i)
# %%
import sys; print('err', file=sys.stderr)
# %%
print('o1'); print('e1', file=sys.stderr); print('o2')
# %%
sys.stdout.write('w\n')
# %%
sys.stdout.write('w\n');
# %%
sys.stdout.writelines(['a\n', 'b\n'])
# %%
sys.stdout.isatty()
# %%
sys.stdout.encoding
# %%
print('flushed', flush=True)
# %%
print()
# %%
import os; os.write(1, b'fd\n'); None
# %%
os.system('echo system')
# %%
import subprocess; subprocess.run(['echo', 'child']).returncode
# %%
subprocess.check_output(['echo', 'captured'])
# %%
print('before'); sys.stdout.flush(); subprocess.run(['echo', 'child']); print('after')
# %%
1 / 0
# %%
undefined_name
# %%
[][1]
# %%
{}['k']
# %%
raise ValueError
# %%
raise ValueError('v', 1)
# %%
int('a')
# %%
def f():
    g()
def g():
    raise RuntimeError('deep')
f()
# %%
try:
    1 / 0
except ZeroDivisionError as e:
    raise KeyError('chained') from e
# %%
assert 1 == 2
# %%
assert 1 == 2, 'message'
# %%
import nonexistent_module
# %%
raise KeyboardInterrupt
# %%
class Own(Exception):
    pass
raise Own('o')
# %%
class BadStr(Exception):
    def __str__(self):
        return 'multi\nline'
raise BadStr
# %%
open('/nonexistent')
# %%
print('partial'); 1 / 0
# %%
x =
# %%
def f(:
# %%
for
# %%
  indented = 1
  indented + 1
# %%
if True:
print(1)
# %%
'unclosed
# %%
(1
# %%
a b
# %%
return 1
# %%
await undefined_coroutine
# %%
import asyncio
await asyncio.sleep(0)
# %%
async def co():
    await asyncio.sleep(0.001)
    return 'co'
await co()
# %%
co().close()
# %%
[await co() for _ in range(2)]
# %%
async with asyncio.Lock() as l: print('locked')
# %%
async def ticks():
    for i in range(2):
        yield i
async for t in ticks(): print(t)
# %%
task = asyncio.create_task(co())
# %%
await task
# %%
asyncio.get_running_loop().is_running()
# %%
await asyncio.gather(co(), co())
# %%
c = co()
try:
    asyncio.run(c)
except RuntimeError as e:
    print(e)
c.close()
# %%
raise SystemExit
# %%
sys.exit('message')
# %%
input('? ')
# %%
import getpass; getpass.getpass()
# %%
_
# %%
41 + 1
# %%
_ + 1
# %%
__
# %%
Out[1]
# %%
In[1]
# %%
_i
# %%
display(1)
# %%
display('a', 'b')
# %%
display(Html())
# %%
from IPython.display import HTML, Markdown, Latex, Math, JSON, SVG, Image, Javascript, display, clear_output
HTML('<p>html</p>')
# %%
Markdown('# md')
# %%
Latex('$x$')
# %%
Math('x^2')
# %%
JSON({'a': 1})
# %%
Javascript('1')
# %%
SVG('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
# %%
display(HTML('1'), Markdown('2')); 3
# %%
display({'text/plain': 'raw', 'text/x-own': 'o'}, raw=True)
# %%
handle = display('first', display_id='fixed')
# %%
handle.update('second')
# %%
print('gone'); clear_output(); print('stays')
# %%
print('gone'); clear_output(wait=True); print('stays')
# %%
import warnings; warnings.simplefilter('always')
# %%
import logging; logging.warning('logged')
# %%
if True:
    'not shown'
# %%
for i in range(2): i
# %%
x = y = 2
x
y
# %%
'a'; 'b'
# %%
x # comment
# %%
# only a comment
# %%

# %%
def documented():
    """Doc."""
# %%
documented()
# %%
documented.__doc__
# %%
documented.__module__, __name__
# %%
import pickle; pickle.loads(pickle.dumps(Plain())).__class__.__name__
# %%
import inspect; inspect.getsource(documented)
# %%
from __future__ import annotations
# %%
def annotated(a: undefined_type): pass
annotated.__annotations__
# %%
!echo shell
# %%
!echo {x} $x
# %%
lines = !echo one; echo two
list(lines)
# %%
%cd /
# %%
%pwd
# %%
%env FUMEHOOD_TRY=1
# %%
os.environ['FUMEHOOD_TRY']
# %%
%unknown_magic
# %%
%%unknown_cell_magic
1
# %%
%%bash
echo from bash
# %%
7 %\
4
# %%
globals() is locals()
# %%
del x
x
# %%
x = 1
x += 1
x
# %%
(y := 5)
# %%
exec('z = 9'); z
# %%
eval('z + 1')
# %%
import threading
t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()
# %%
import multiprocessing as mp
p = mp.get_context('fork').Process(target=print, args=('forked',)); p.start(); p.join(); p.exitcode
# %%
import time; time.sleep(0.01)
# %%
'\ud800'
# %%
print('x' * 100000)
# %%
'x' * 1000
# %%
collections.defaultdict(list, {'a': list(range(30)), 'b': {'c': (1,)}})
# %%
collections.OrderedDict([(i, 'x' * 20) for i in range(8)])
# %%
collections.deque(range(50), maxlen=60)
# %%
class L(list):
    pass
[L([1, 2]), L(range(30))]
# %%
!echo $$HOME_THAT_IS_NOT_SET. $$ | tr -d '0-9\n'
# %%
Image(data=b'\x89PNG\r\n\x1a\n' + bytes(30), width=10, alt='x')
# %%
1 / 0
# %%
import sys; sys.last_type, sys.last_value
