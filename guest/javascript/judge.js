// SPDX-License-Identifier: MIT
// Runs a program and then its test, in this process, and reports how the test ended.
//
// stdin:  two times 16 bytes "%015d\n", the lengths of the program and of the test; both, UTF-8; then the secret of
//         this run, 32 bytes.
// stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// program.js loads the program, test.js the test, which sees the program's top-level names. Its console.assert is ours, so
// replacing it changes nothing. The test has ended when the event loop has nothing left to do. The secret is held
// in this closure, and stdin is replaced before the program is loaded.
'use strict';
{
	const fs = require('fs');
	const { writeSync } = fs;
	const text = String;
	const bytes = Buffer.from.bind(Buffer);
	const leave = process.reallyExit ? process.reallyExit.bind(process) : process.exit.bind(process);
	const pause = Atomics.wait.bind(Atomics, new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);

	const input = fs.readFileSync(0);
	const programSize = parseInt(input.toString('latin1', 0, 16), 10);
	const testSize = parseInt(input.toString('latin1', 16, 32), 10);
	const program = input.toString('utf8', 32, 32 + programSize);
	const test = input.toString('utf8', 32 + programSize, 32 + programSize + testSize);
	const secret = input.toString('latin1', 32 + programSize + testSize);
	input.fill(0);
	fs.closeSync(0);
	fs.openSync('/dev/null', 'r'); // becomes descriptor 0, the lowest that is free

	const say = (message) => {
		let at = 0;
		while (at < message.length) {
			try {
				at += writeSync(1, message, at, message.length - at);
			} catch (e) {
				if (e.code !== 'EAGAIN')
					leave(3);
				pause();
			}
		}
		leave(0);
	};
	const passed = bytes(`\n${secret} passed 0\n`);
	const unexplained = bytes(`\n${secret} failed 0\n`);
	const fail = (reason) => {
		let message = unexplained;
		try {
			const data = bytes(text(reason).slice(0, 900));
			message = Buffer.concat([bytes(`\n${secret} failed ${data.length}\n`), data]);
		} catch {
			// The error's text is up to the program; if reading it fails, the test has failed all the same.
		}
		say(message);
	};
	const describe = (e) => {
		try {
			return e instanceof Error || (e && e.name && e.message) ? `${e.name}: ${e.message}` : `thrown: ${text(e)}`;
		} catch {
			return 'an exception that cannot be shown';
		}
	};

	const lines = test.split('\n');
	let failures = 0;
	let first = '';
	const assert = (holds, ...message) => {
		if (holds)
			return;
		if (failures++ === 0) {
			try {
				first = message.length ? ` ${text(message[0])}` : '';
				const at = /test\.js:(\d+)/.exec(new Error().stack);
				if (at)
					first += ` [line ${at[1]} of the test: ${lines[at[1] - 1].trim().slice(0, 240)}]`;
			} catch {
				// Only the count of failed assertions decides.
			}
		}
	};
	const judged = () => {
		if (failures > 0)
			fail(`AssertionError: console.assert failed ${failures} time${failures > 1 ? 's' : ''};${first}`);
	};
	// What the test puts in the place of console.log is what the program calls; console.assert stays ours.
	const { get, set, defineProperty, getOwnPropertyDescriptor } = Reflect;
	const ours = { value: assert, writable: true, enumerable: true, configurable: true };
	const testConsole = new Proxy(console, {
		get: (target, key) => (key === 'assert' ? assert : get(target, key)),
		set: (target, key, value) => key === 'assert' || set(target, key, value),
		defineProperty: (target, key, property) => key === 'assert' || defineProperty(target, key, property),
		getOwnPropertyDescriptor: (target, key) => (key === 'assert' ? ours : getOwnPropertyDescriptor(target, key)),
	});

	// The promises of async functions and of then() that the test made while it ran from top to bottom, until they are settled. An
	// event loop without work ends such a test as if it had come to its end.
	const waits = new Set();
	let watching = false;
	const isMadeByTest = () => {
		const [, ...frames] = `${new Error().stack}`.split('\n').slice(2).filter((frame) => !frame.includes('internal/async_hooks'));
		const isTest = (frame) => /\btest\.js:\d+:\d+\)?$/.test(frame);
		return isTest(frames[1]) && (isTest(frames[0]) || /^\s*at Promise\.(then|finally|catch) /.test(frames[0]));
	};
	const hook = require('async_hooks').createHook({
		init: (id, type) => { if (watching && type === 'PROMISE' && isMadeByTest()) waits.add(id); },
		promiseResolve: (id) => waits.delete(id),
	});

	process.on('uncaughtException', (e) => fail(describe(e)));
	let tested = false;
	let ended = false;
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
		if (error !== undefined || process.exitCode) fail(error ? describe(error) : `the test ended with status ${process.exitCode}`);
		if (!tested) fail('the program waits at its top level for what never comes');
		if (!ended || waits.size > 0) fail('the test waits for what never comes');
		say(passed);
	});
	const failed = (e) => fail(describe(e));
	const load = (look) => {
		const names = publishProgram(program, require, look);
		const run = compileTest(test, names, require);
		tested = watching = true;
		hook.enable();
		const running = run(testConsole);
		watching = false;
		if (waits.size === 0) hook.disable(); // it makes every promise slower
		return running;
	};
	const end = () => {
		ended = true;
		judged();
	};
	try {
		const look = loadProgram(program, require, '/home/user/program.js');
		const running = typeof look === 'function' ? load(look) : look.then(load);
		if (running) running.then(end, failed);
		else end();
	} catch (e) {
		failed(e);
	}
}
