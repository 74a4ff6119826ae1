// SPDX-License-Identifier: MIT
// Holds the program and answers the calls of split_judge.js; it never sees the test.
//
// stdin:  two times 16 bytes "%015d\n", the lengths of the function's name and of the program; both, UTF-8.
// fd 3:   calls; fd 4: replies (split_codec.js).
//
// The program is a sloppy-mode script, as `node FILE` without imports takes it. What it prints does no harm.
{
	const fs = require('fs');
	const vm = require('vm');
	const { CodecError, encode, decode, receive, send, quote, shown } = makeCodec(() => { throw new Error('an iterator that goes on'); });
	const leave = process.reallyExit.bind(process);
	const isThenable = (v) => v !== null && (typeof v === 'object' || typeof v === 'function') && typeof v.then === 'function';
	const { apply } = Reflect;
	const run = vm.runInThisContext;

	const input = fs.readFileSync(0);
	const nameEnd = 32 + parseInt(input.toString('latin1', 0, 16), 10);
	const programEnd = nameEnd + parseInt(input.toString('latin1', 16, 32), 10);
	const name = input.toString('utf8', 32, nameEnd);
	const program = input.toString('utf8', nameEnd, programEnd);

	const reply = (id, word, values, known) => {
		let sent;
		try {
			sent = encode(values, known);
			send(id, word, sent.roots, sent.heap);
		} catch (e) {
			// A getter of the program's may throw as well.
			const why = e instanceof CodecError ? `what it returned cannot cross: ${e.message}` :
				`what it returned cannot be read: ${shown(() => e)}`;
			send(id, 'limit', `[${quote(why)}]`, '[]');
		}
	};
	let wanted, broken;
	const load = () => {
		const module_ = { exports: {} };
		for (const [key, value] of Object.entries({ require, module: module_, exports: module_.exports,
			__filename: '/home/user/program.js', __dirname: '/home/user' }))
			Object.defineProperty(globalThis, key, { value, writable: true, configurable: true, enumerable: false });
		try {
			run(program, { filename: 'program.js' });
			wanted = run(name);
			if (typeof wanted !== 'function') broken = new TypeError(`${name} is not a function`);
		} catch (e) {
			broken = e ?? new Error(shown(() => e));
		}
	};
	const answer = (id, changes, roots, heap) => {
		const { values, objects } = decode(roots, heap);
		const known = changes ? objects : undefined;
		let value;
		try {
			value = apply(wanted, undefined, values);
			if (!isThenable(value)) return reply(id, 'return', [value], known);
		} catch (e) {
			return reply(id, 'throw', [e], known);
		}
		return value.then((v) => reply(id, 'resolve', [v], known), (e) => reply(id, 'reject', [e], known));
	};
	const serve = () => {
		for (;;) {
			const message = receive();
			if (message === undefined) leave(0);
			const id = message[0], word = message[1];
			let pending;
			if (word === 'end') {
				send(id, 'end', '[]', '[]');
				leave(0);
			}
			if (broken !== undefined) reply(id, 'load', [broken]);
			else pending = answer(id, word === 'call and changes', message[2], message[3]);
			// A promise settles only when the event loop turns.
			if (pending !== undefined) return pending.then(serve);
		}
	};
	load();
	serve();
}
