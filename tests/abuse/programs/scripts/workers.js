// SPDX-License-Identifier: MIT
const { spawn } = require('child_process');
const most = Number(process.argv[2]);
let alive = 0, failed = 0;
function end() {
	console.log(alive >= most ? `ESCAPED ${alive} processes` : `held ${alive} processes, ${failed} refused`);
	process.exit(0);
}
for (let i = 0; i < most; i++) {
	const child = spawn('sleep', ['30']);
	child.on('spawn', () => { if (++alive + failed === most) end(); });
	child.on('error', () => { failed++; if (alive + failed === most) end(); });
}
