// SPDX-License-Identifier: MIT
const fs = require('fs');
const block = Buffer.alloc(65536, 'j');
for (;;)
	fs.writeSync(1, block);
