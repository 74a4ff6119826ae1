// SPDX-License-Identifier: MIT
// What a fork may have broken: timers, promises, files, children, worker threads, randomness.
'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const { Worker } = require('worker_threads');
const fs = require('fs');

assert.strictEqual(process.pid, Number(fs.readlinkSync('/proc/self')));
assert.notStrictEqual(Math.random(), Math.random());
const steps = [
  () => new Promise((done) => setTimeout(done, 5)),
  () => new Promise((done) => setImmediate(done)),
  () => Promise.resolve().then(() => new Promise((done) => process.nextTick(done))),
  () => fs.promises.readFile('/proc/self/status').then((text) => assert(text.length)),
  () => new Promise((done) => spawn(process.execPath, ['--version'], { stdio: 'ignore' }).on('exit', (code) => {
    assert.strictEqual(code, 0);
    done();
  })),
  () => new Promise((done, failed) => {
    const w = new Worker('require("worker_threads").parentPort.postMessage(7)', { eval: true });
    w.on('message', (m) => assert.strictEqual(m, 7)).on('error', failed).on('exit', done);
  }),
];
(async () => {
  for (const step of steps) await step();
  console.log('ok');
})();
