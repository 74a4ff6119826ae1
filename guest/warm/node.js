// SPDX-License-Identifier: MIT
// What the zygote runs in place of an empty module, before the program (node.c). It leaves no traces that a program could
// see: no name, module, listener or variable.
'use strict';
const fs = require('fs');
const v8 = require('v8');
const { openSync, readFileSync } = fs;
fs.closeSync(openSync('/fumehood/begun')); // from here on /dev/null is the real one

// --- the end: Node normally destroys the whole heap at its end, which in a forked child would first copy it. Nothing that a
// program can notice happens after the event 'exit', except what its listeners begin, the report of an uncaught exception,
// and effects of some flags. Right before that event Node reads process.emit, with no JavaScript frame on the stack. At that
// moment a last listener is added, which ends the process. A permanent `emit` of ours would be seen in stack traces.
const self = process; // a program may delete the name
const { reallyExit } = process;
const { emit } = require('events').prototype;
const UNSETTLED = 13; // exit code for an unsettled top-level await, which Node reports
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
last.apply = last; // Node up to 20 calls it by apply; a program may have replaced the inherited one
const end = {
  configurable: true,
  enumerable: false,
  get() {
    if (this === self && self._exiting && self._events?.exit === undefined && calledByNode()) {
      self._events.exit = last; // like on(), but without the event 'newListener'
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

// Loads, and thereby compiles, what most programs use, once here instead of in every run: modules, a console that writes to a
// stream, a pipe as a stream, callbacks after a tick, the start of a main module that does not exist. Nothing is written to our
// own stdout. No path of a program's file is looked up, because Node caches the answers.
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
  require('vm').runInNewContext('gc')(); // garbage would be copied together with live objects
  v8.setFlagsFromString('--no-expose-gc');
}

const run = JSON.parse(readFileSync('/fumehood/warm', 'utf8')); // the warm point: returns in a forked program

// --- properties that differ in each process
const set = (object, name, value) => {
  const old = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { ...old, value });
};
set(process, 'pid', Number(fs.readlinkSync('/proc/self')));
process.execArgv.splice(0, process.execArgv.length, ...run.flags);
process.argv.splice(2, process.argv.length, ...run.args);

// V8 seeds a context's Math.random at its first call: from this flag, or else from the isolate's own generator, of which all
// children have the same copy. Worker threads have their own isolates and are seeded separately.
v8.setFlagsFromString(`--random-seed=${run.seed}`);
Math.random();
v8.setFlagsFromString('--random-seed=0');

// --- the clock since the start of the process
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
