// SPDX-License-Identifier: MIT
// What the zygote runs instead of an empty module, before the program (node.c). It leaves nothing behind that a program
// sees: no name, no module, no listener, no variable.
'use strict';
const fs = require('fs');
const v8 = require('v8');
const { openSync, readFileSync } = fs;
fs.closeSync(openSync('/fumehood/begun')); // from here on /dev/null is what it is

// --- the end: Node's own first takes the whole heap apart, which in a forked child means to copy it. Nothing that a
// program could see follows the event 'exit', but what its listeners set going, the report of an exception that nobody
// caught, and what flags ask for. Node asks for process.emit right before that event, with no JavaScript below it on the
// stack: then a last listener is added, which leaves. An `emit` of ours in between would be seen in stack traces.
const self = process; // a program may take the name away
const { reallyExit } = process;
const { emit } = require('events').prototype;
const UNSETTLED = 13; // of a top-level await: Node has something to say
const leave = (code) => openSync(`/fumehood/leave/${code & 255}`);
const calledByNode = () => {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const at = {};
  Error.stackTraceLimit = 3;
  Error.prepareStackTrace = (error, calls) => calls.length;
  Error.captureStackTrace(at, calledByNode);
  const depth = at.stack;
  Error.stackTraceLimit = stackTraceLimit;
  if (prepareStackTrace === undefined) delete Error.prepareStackTrace;
  else Error.prepareStackTrace = prepareStackTrace;
  return depth === 1;
};
const last = () => self.exitCode === UNSETTLED || leave(self.exitCode || 0);
last.apply = last; // by which it is called until Node 20; a program may have replaced the inherited one
const end = {
  configurable: true,
  enumerable: false,
  get() {
    if (this === self && self._exiting && self._events?.exit === undefined && calledByNode()) {
      self._events.exit = last; // as on() does, unheard
      self._eventsCount++;
    }
    return emit;
  },
  set(value) {
    Object.defineProperty(this, 'emit', { value, writable: true, configurable: true, enumerable: true });
  },
};
const own = {
  reallyExit(code) {
    leave(code || 0);
    return reallyExit.call(this, code);
  },
};

// What most programs do is loaded, and by doing it compiled, once here instead of in every run: modules, a console that
// writes to a stream, a stream that is a pipe, what is to be done after a tick, the start of a main module that is not
// there. Nothing is written to our own stdout. The path of no program's file is asked for: Node keeps answers.
for (const name of ['net', 'tty', 'stream', 'util', 'events', 'path', 'url', 'assert', 'readline', 'timers', 'os'])
  require(name);
{
  const { Writable } = require('stream');
  const { Socket } = require('net');
  const sink = new Writable({ write(chunk, encoding, done) { done(); } });
  const out = new console.Console(sink, sink);
  for (const value of [1, 'a', 1.5, [1, 'a'], { a: 1 }, new Map([[1, 2]]), null]) out.log(value, 'b');
  out.error('%s %d', 'a', 1);
  const pipe = new Socket({ fd: openSync('/fumehood/pipe'), readable: false, writable: true });
  const reader = openSync('/fumehood/pipe');
  if (pipe._handle?.unref) pipe._handle.unref();
  new console.Console(pipe, pipe).log('a');
  process._tickCallback?.();
  pipe.destroy();
  process._tickCallback?.();
  fs.closeSync(reader);
  const Module = require('module');
  if (String(Module.runMain).includes('Module._load(main, null, true)')) {
    const { _load } = Module;
    Module._load = () => {};
    Module.runMain('/fumehood/main.js');
    Module._load = _load;
  }
  v8.setFlagsFromString('--random-seed=0');
  void [fs.readlinkSync('/proc/self'), module.parent, process._exiting, process.exitCode];
  end.get.call({});
  calledByNode();
  v8.setFlagsFromString('--expose-gc');
  require('vm').runInNewContext('gc')(); // what is garbage now would be copied with what is not
  v8.setFlagsFromString('--no-expose-gc');
}

const run = JSON.parse(readFileSync('/fumehood/warm', 'utf8')); // the warm point: from here on we are a program

// --- what differs from process to process
const set = (object, name, value) => {
  const old = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { ...old, value });
};
set(process, 'pid', Number(fs.readlinkSync('/proc/self')));
process.execArgv.splice(0, process.execArgv.length, ...run.flags);
process.argv.splice(2, process.argv.length, ...run.args);

// V8 seeds a context's Math.random when it is first called: from this flag, else from the isolate's own generator, of
// which all children have the same copy. Worker threads have isolates of their own and seed themselves.
v8.setFlagsFromString(`--random-seed=${run.seed}`);
Math.random();
v8.setFlagsFromString('--random-seed=0');

// --- the clock that counts from the start
const { uptime } = process;
const born = uptime.call(process);
process.uptime = { uptime() { return uptime.call(process) - born; } }.uptime;

if (run.flags.length === 0) {
  Object.defineProperty(Object.getPrototypeOf(process), 'emit', end);
  process.reallyExit = own.reallyExit;
}

delete require.cache[__filename];
if (module.parent) module.parent.children.length = 0;
if (run.test) module._compile(readFileSync(run.test, 'utf8'), 'self-test.js');
