// SPDX-License-Identifier: MIT
// Runs a test whose function is in another sandbox (split_candidate.js); the program is never sent here.
//
// stdin:  the seed, sixteen hexadecimal digits; the names of the stand-ins, one on each line; the part of the declaration
//         that the test may need; the test; and 1 if changed arguments are to be sent back, else 0 (parts of split_codec.js).
// fd 3:   replies; fd 4: calls (split_codec.js). fd 5: the verdict, once: "WORD CALLS LENGTH\n" and LENGTH bytes of
//         reason. Words: passed; failed; tampered (a reply that no honest candidate sends); gone (the candidate ended
//         without answering); and for faults of the task, not of the candidate: unfit (the test passes a value that
//         cannot cross) and broken (the test cannot be run, or makes no call).
//
// Each call has a random id, which its reply repeats. Its first value is the index of the function's name. Calls: "call",
// "call and changes", "call kept" (of a function that crossed, by its number; behind the result of a method stands its object),
// "end" (the last one, which also reveals a reply that was sent too early). Replies: "return", "throw",
// "resolve" and "reject" (the result was a promise), "iterate" (an asynchronous iterator: an array of its items, whether they are
// all, whether it threw behind them, and what), "load" (the program could not be loaded), "limit" (the result is too
// large to cross), "end".
//
// The test is a function that sees the helpers and the stand-in as globals. Its console.assert throws at the first
// assertion that does not hold, and counts it: a test that catches the exception has failed all the same. The test has
// ended when the event loop has nothing left to do.
{
	const fs = require('fs');
	const vm = require('vm');
	const { randomBytes } = require('crypto');
	// A function of the program's, by its number. As a method it also changes the object that it is called on, if that came from the
	// program (`theirs`): a copy of it with what the test expects beside is the test's own.
	const functions = new Map(), theirs = new WeakSet();
	const made = (number) => {
		if (!functions.has(number)) functions.set(number, function ofProgram(...values) { return ask('call kept', [number, ...values], this); });
		return functions.get(number);
	};
	const { CodecError, encode, decode, receive, send, parts, shown, hadNotFinite, hadNoNumber, met } =
		makeCodec((why) => say('failed', why), { made });
	const leave = process.reallyExit.bind(process);

	const [seed, names, helpers, test, changed] = parts(3, 1, 16);

	// Math.random is seeded with a number that only this process has, so failures can be reproduced: sfc32 of Chris
	// Doty-Humphrey's PractRand, which takes three words of state and a counter.
	let [a, b, c, counter] = [parseInt(seed.slice(0, 8), 16), parseInt(seed.slice(8), 16), 0x9e3779b9, 1];
	const next = () => {
		const sum = (a + b | 0) + counter | 0;
		counter = counter + 1 | 0;
		a = b ^ b >>> 9;
		b = c + (c << 3) | 0;
		c = (c << 21 | c >>> 11) + sum | 0;
		return sum >>> 0;
	};
	for (let i = 0; i < 16; i++) next();
	Math.random = () => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 0x20000000000000;
	const changes = changed === 1;

	// A test that compares with a tolerance can take NaN for any number (src/judge/common/finite.h), and JavaScript makes NaN
	// of whatever is no number. So it is noticed when an object becomes NaN in arithmetic or in a comparison, and when
	// Math.abs() gives no finite number. Texts and undefined are seen only where they are decoded (split_codec.js), so they
	// count only if the test seems to have a tolerance.
	let madeNaN = false;
	const { abs } = Math;
	Math.abs = { abs(x) {
		const result = abs(x);
		madeNaN ||= !Number.isFinite(result);
		return result;
	} }.abs;
	const hasTolerance = /\bMath\.abs\b|\d[eE]-\d|epsilon|\btolerance\b/i.test(helpers + test);
	// What JavaScript does with an object that has no method of this name (OrdinaryToPrimitive in ECMA-262).
	const toPrimitive = { [Symbol.toPrimitive](hint) {
		'use strict';
		for (const name of hint === 'string' ? ['toString', 'valueOf'] : ['valueOf', 'toString']) {
			const method = this[name];
			const result = typeof method === 'function' ? Reflect.apply(method, this, []) : this;
			if (result !== null && (typeof result === 'object' || typeof result === 'function')) continue;
			if (hint === 'number' && typeof result !== 'symbol') madeNaN ||= Number.isNaN(Number(result));
			return result;
		}
		throw new TypeError('Cannot convert object to primitive value');
	} }[Symbol.toPrimitive];
	Object.defineProperty(Object.prototype, Symbol.toPrimitive, { value: toPrimitive, writable: true, configurable: true, enumerable: false });
	// An item or property that a result does not have is undefined as well, and no object that arithmetic could ask. In a test with a
	// tolerance whoever looks for one, in a list or a primitive value, or in a result that is a plain object, meets this handler.
	const values = new Set();
	const absent = {
		get(target, key, receiver) {
			if (typeof key === 'string' && key !== 'then' && key !== 'toJSON' && values.has(receiver) && !(key in target)) madeNaN = true;
			return Reflect.get(target, key, receiver);
		},
	};
	if (hasTolerance)
		for (const kind of [Array, String, Number, Boolean, BigInt, Date, RegExp, Map, Set, Error, Promise, Object.getPrototypeOf(Int8Array)])
			Object.setPrototypeOf(kind.prototype, new Proxy(Object.create(Object.prototype), absent));
	const watched = (result) => {
		if (!hasTolerance || result === null || result === undefined) return result;
		if (typeof result === 'object' && !changes && Object.getPrototypeOf(result) === Object.prototype) {
			const watching = new Proxy(result, absent);
			values.add(watching);
			return watching;
		}
		for (const next of [result, ...(Array.isArray(result) ? result.slice(0, 100000) : [])]) values.add(next);
		return result;
	};
	const hadNaN = () => hadNotFinite() || madeNaN || (hasTolerance && hadNoNumber());

	let calls = 0;
	const say = (word, reason) => {
		const more = word === 'failed' && met() ? ` (of the program's ${met()} not everything crosses; with a reference in the task the ` +
			'judge sees whether the test needs more)' : '';
		const text = Buffer.from(String(reason).slice(0, 900) + more, 'utf8');
		const message = Buffer.concat([Buffer.from(`${word} ${calls} ${text.length}\n`), text]);
		for (let at = 0; at < message.length;) at += fs.writeSync(5, message, at, message.length - at);
		leave(word === 'passed' ? 0 : 1);
	};
	const describe = (e) => {
		try {
			return e instanceof Error || (e && e.name && e.message) ? `${e.name}: ${e.message}` : `thrown: ${String(e)}`;
		} catch {
			return 'an exception that cannot be shown';
		}
	};

	// A protocol violation of the candidate ends this process at once, so the test cannot catch it.
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
			const known = changes && ['return', 'throw', 'resolve', 'reject', 'iterate'].includes(answer) ?
				sent.objects : undefined;
			const { values, objects } = decode(roots, heap, known);
			const ours = new Set(known);
			if (functions.size) for (const o of objects) if (!ours.has(o)) theirs.add(o);
			return { answer, values };
		} catch (e) {
			return say('tampered', `a reply that no program gives: ${e.message}`);
		}
	};
	const thrown = new Set(); // by the program
	const results = {
		__proto__: null,
		return: watched,
		throw: (e) => {
			thrown.add(e);
			throw e;
		},
		resolve: (v) => watched(Promise.resolve(watched(v))),
		reject: (e) => {
			thrown.add(e);
			return Promise.reject(e);
		},
		iterate: (v) => {
			if (!Array.isArray(v) || v.length !== 4 || !Array.isArray(v[0]) || typeof v[1] !== 'boolean' || typeof v[2] !== 'boolean')
				say('tampered', 'a reply that no program gives: no items');
			return (async function* items_() {
				for (let i = 0; i < v[0].length; i++) yield v[0][i];
				if (!v[1]) say('failed', `an iterator of the program goes on after ${v[0].length} values`);
				if (v[2]) throw v[3];
			})();
		},
		load: (e) => say('failed', describe(e)),
		limit: (why) => say('failed', why),
	};
	const refresh = (owner, now) => {
		for (const key of Object.getOwnPropertyNames(owner)) if (!Object.hasOwn(now, key)) Reflect.deleteProperty(owner, key);
		for (const key of Object.getOwnPropertyNames(now)) Reflect.defineProperty(owner, key, Object.getOwnPropertyDescriptor(now, key));
	};
	const isObject = (v) => v !== null && typeof v === 'object';
	const ask = (word, values, owner) => {
		const { answer, values: given } = exchange(word, values);
		const result = typeof answer === 'string' ? results[answer] : undefined;
		if (result === undefined || !(given.length === 1 || (word === 'call kept' && given.length === 2 && isObject(given[1]))))
			say('tampered', 'a reply of no known kind');
		const [value, now] = given;
		calls++;
		if (now === undefined || !theirs.has(owner)) return result(value);
		refresh(owner, now);
		return result(value === now ? owner : value);
	};
	const standIn = (at) => (...values) => ask(changes ? 'call and changes' : 'call', [at, ...values]);

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

	// Whether the test itself uses a name that only the program can define.
	const isLacking = (e) => e instanceof ReferenceError && !thrown.has(e) && / is not defined$/.test(e.message) &&
		/^ReferenceError[^\n]*\n\s+at [^\n]*test\.js:/.test(e.stack);
	process.on('uncaughtException', (e) => {
		judged();
		say(isLacking(e) ? 'lacks' : 'failed', describe(e));
	});
	// What the test registered, such as the report of node:test, comes behind this listener: it has its turn first.
	let idle = false;
	process.on('beforeExit', () => {
		if (!idle) {
			idle = true;
			setImmediate(() => {});
			return;
		}
		judged();
		const error = testGlobals.firstError();
		if (error !== undefined || process.exitCode) say('failed', error ? describe(error) : `the test ended with status ${process.exitCode}`);
		if (calls === 0) say('broken', 'the test called nothing');
		if (exchange('end', []).answer !== 'end') say('tampered', 'a reply to no call');
		say('passed', hadNaN() ? 'not finite' : '');
	});
	// Helpers are a script, whose names are visible to the test and to each other, as in one program.
	const define = (key, value) =>
		Object.defineProperty(globalThis, key, { value, writable: true, configurable: true, enumerable: false });
	define('require', require);
	names.split('\n').forEach((name, at) =>
		define(name, Object.defineProperty(standIn(at), 'name', { value: name, configurable: true })));
	const failed = (e) => {
		judged();
		say(isLacking(e) ? 'lacks' : 'failed', describe(e));
	};
	let run;
	try {
		vm.runInThisContext(helpers, { filename: 'helpers.js' });
		run = compileTest(test, names.split('\n'), require);
	} catch (e) {
		say('broken', `what stands before the test, or the test: ${describe(e)}`);
	}
	try {
		run(testConsole)?.then(judged, failed);
	} catch (e) {
		failed(e);
	}
	judged();
}
