// SPDX-License-Identifier: MIT
// Runs a test whose function lives in another sandbox (split_candidate.js); the program is never here.
//
// stdin:  four times 16 bytes "%015d\n": the lengths of the function's name, of the declaration's helpers and of the
//         test, and 1 when changes of arguments come back, else 0; then the three texts, UTF-8.
// fd 3:   replies; fd 4: calls (split_codec.js). fd 5: the verdict, once: "WORD CALLS LENGTH\n" and LENGTH bytes of
//         reason. Words: passed; failed; tampered (a reply that no honest candidate sends); gone (the candidate ended
//         without answering); unfit (the test gives what cannot cross: about the task, not about the candidate).
//
// Each call has a random id, which its reply repeats. Calls: "call", "call and changes", "end" (the last one; any reply
// sent ahead of its time is found here at the latest). Replies: "return", "throw", "resolve" and "reject" (the result was
// a promise), "load" (the program did not load), "limit" (the result is too large to cross), "end".
//
// The test is a function of its own that sees the helpers and the stand-in as globals. Its console.assert throws at the
// first assertion that does not hold, and counts: who catches that has failed all the same. The test has ended when
// the event loop has nothing left to do.
{
	const fs = require('fs');
	const vm = require('vm');
	const { randomBytes } = require('crypto');
	const { CodecError, encode, decode, receive, send, shown } = makeCodec((why) => say('failed', why));
	const leave = process.reallyExit.bind(process);

	const input = fs.readFileSync(0);
	const size = (i) => parseInt(input.toString('latin1', 16 * i, 16 * i + 16), 10);
	const nameEnd = 64 + size(0), helpersEnd = nameEnd + size(1), testEnd = helpersEnd + size(2);
	const name = input.toString('utf8', 64, nameEnd);
	const helpers = input.toString('utf8', nameEnd, helpersEnd);
	const test = input.toString('utf8', helpersEnd, testEnd);
	const changes = size(3) === 1;

	let calls = 0;
	const say = (word, reason) => {
		const text = Buffer.from(String(reason).slice(0, 900), 'utf8');
		const message = Buffer.concat([Buffer.from(`${word} ${calls} ${text.length}\n`), text]);
		for (let at = 0; at < message.length;) at += fs.writeSync(5, message, at, message.length - at);
		leave(0);
	};
	const describe = (e) => {
		try {
			return e instanceof Error || (e && e.name && e.message) ? `${e.name}: ${e.message}` : `thrown: ${String(e)}`;
		} catch {
			return 'an exception that cannot be shown';
		}
	};

	// What the candidate may do wrong ends this process here and now; the test gets no chance to catch it.
	const exchange = (word, values) => {
		const id = randomBytes(16).toString('hex');
		let sent, message;
		try {
			sent = encode(values, undefined, true);
			send(id, word, sent.roots, sent.heap);
		} catch (e) {
			if (e instanceof CodecError) say('unfit', `an argument cannot cross: ${e.message}`);
			if (e.code === 'EPIPE') say('gone', 'the program ended before it was called');
			throw e;
		}
		try {
			message = receive();
			if (message === undefined) say('gone', 'the program ended and gave no answer');
			const [repeated, answer, roots, heap] = message;
			if (message.length !== 4 || repeated !== id) say('tampered', 'a reply to no call');
			const known = changes && (answer === 'return' || answer === 'throw' || answer === 'resolve' || answer === 'reject') ?
				sent.objects : undefined;
			return { answer, values: decode(roots, heap, known).values };
		} catch (e) {
			return say('tampered', `a reply that no program gives: ${e.message}`);
		}
	};
	const results = {
		__proto__: null,
		return: (v) => v,
		throw: (e) => { throw e; },
		resolve: (v) => Promise.resolve(v),
		reject: (e) => Promise.reject(e),
		load: (e) => say('failed', describe(e)),
		limit: (why) => say('failed', why),
	};
	const standIn = (...values) => {
		const reply = exchange(changes ? 'call and changes' : 'call', values);
		const result = typeof reply.answer === 'string' ? results[reply.answer] : undefined;
		if (result === undefined || reply.values.length !== 1) say('tampered', 'a reply of no known kind');
		calls++;
		return result(reply.values[0]);
	};
	Object.defineProperty(standIn, 'name', { value: name, configurable: true });

	let failures = 0;
	let first = '';
	const lines = test.split('\n');
	const assert = (holds, ...message) => {
		if (holds) return;
		if (failures++ === 0) {
			first = message.length ? ` ${shown(() => message[0])}` : '';
			const at = /test\.js:(\d+)/.exec(new Error().stack);
			if (at && lines[at[1] - 1] !== undefined)
				first += ` [line ${at[1]} of the test: ${lines[at[1] - 1].trim().slice(0, 240)}]`;
		}
		throw new Error(`console.assert failed${first}`);
	};
	const judged = () => {
		if (failures > 0) say('failed', `AssertionError: console.assert failed;${first}`);
	};
	const testConsole = { ...console, assert };

	process.on('uncaughtException', (e) => {
		judged();
		say('failed', describe(e));
	});
	process.on('beforeExit', () => {
		judged();
		if (calls === 0) say('failed', 'the test never called the program');
		if (exchange('end', []).answer !== 'end') say('tampered', 'a reply to no call');
		say('passed', '');
	});
	// Helpers are a script, whose names the test and each other see, as they would in one program.
	for (const [key, value] of [['require', require], [name, standIn]])
		Object.defineProperty(globalThis, key, { value, writable: true, configurable: true, enumerable: false });
	try {
		vm.runInThisContext(helpers, { filename: 'helpers.js' });
		vm.compileFunction(test, ['console', 'require'], { filename: 'test.js' })(testConsole, require);
	} catch (e) {
		judged();
		say('failed', describe(e));
	}
	judged();
}
