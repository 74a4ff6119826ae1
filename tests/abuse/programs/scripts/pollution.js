// SPDX-License-Identifier: MIT
const fs = require('fs'), os = require('os'), path = require('path');
const mark = 'fumehood_abuse', step = process.argv[2];
if (step !== 'look') {
	globalThis[mark] = 1;
	Object.prototype[mark] = 1;
	JSON.stringify = () => mark;
	process.env[mark] = '1';
	for (const folder of [os.tmpdir(), process.cwd(), '/dev/shm', path.dirname(process.execPath)])
		try { fs.writeFileSync(path.join(folder, mark), mark); } catch {}
}
if (step !== 'pollute') {
	const found = [];
	if (globalThis[mark]) found.push('globals');
	if ({}[mark]) found.push('Object.prototype');
	if (JSON.stringify(1) !== '1') found.push('JSON');
	if (process.env[mark]) found.push('environment');
	for (const folder of [os.tmpdir(), process.cwd(), '/dev/shm', path.dirname(process.execPath)])
		if (fs.existsSync(path.join(folder, mark))) found.push(folder);
	console.log(found.length ? 'POLLUTED ' + found.join(', ') : 'clean');
}
