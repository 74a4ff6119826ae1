// SPDX-License-Identifier: MIT
const most = Number(process.argv[2]), held = [];
while (held.length < most)
	held.push(Buffer.alloc(1 << 20, 1));
console.log(`ESCAPED ${held.length} MiB`);
