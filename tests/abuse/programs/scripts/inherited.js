// SPDX-License-Identifier: MIT
// What a program finds open that it did not open itself: shows each (object …), looks for what another run left there
// (look), or leaves something: 16 bytes, as a libuv signal message is large, which name no handle that there is (leave).
'use strict';
const fs = require('fs');
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;
const MARK = Buffer.from('FUMEHOOD-LEFT-IT');
const step = process.argv[2];
const attempt = (what) => { try { return what(); } catch { return undefined; } };
const writers = [];
for (const name of fs.readdirSync('/proc/self/fd')) {
  const fd = Number(name);
  const link = fd > 2 && attempt(() => fs.readlinkSync(`/proc/self/fd/${fd}`));
  if (!link || link.startsWith('/proc/')) continue;
  const info = fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
  const id = /^eventfd-id:\s*(\d+)/m.exec(info);
  if (link.startsWith('pipe:') || id) console.log(`object ${id ? `eventfd ${id[1]}` : link}`);
  const count = /^eventfd-count:\s*([0-9a-f]+)/m.exec(info);
  if (step === 'look' && count && BigInt(`0x${count[1]}`) >= 77n) console.log(`ESCAPED: a run left its number in ${fd}, ${link}`);
  const again = attempt(() => fs.openSync(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK));
  const found = Buffer.alloc(4096);
  const n = again !== undefined && attempt(() => fs.readSync(again, found, 0, 4096, null));
  if (n > 0 && found.subarray(0, n).includes(MARK)) console.log(`ESCAPED: a run left its mark in ${fd}, ${link}`);
  writers.push([fd, link]);
}
if (step === 'leave') {
  for (const [fd, link] of writers.reverse()) { // those of our own loops last: what we leave there may end us
    if (link.includes('eventfd')) attempt(() => fs.writeSync(fd, new Uint8Array(new BigUint64Array([77n]).buffer)));
    const to = link.startsWith('pipe:') ? attempt(() => fs.openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK)) : fd;
    for (let i = 0; i < 4; i++) attempt(() => fs.writeSync(to, MARK, 0, 16, link.startsWith('pipe:') ? null : 0));
  }
  process.kill(process.pid, 'SIGKILL'); // its own loop must not read them
}
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400); // beside the others, so that numbers can be compared
