// SPDX-License-Identifier: MIT
// Calls functions of a program in solution.js, inside a sandbox: the counterpart of guest/python/call.py, with the same
// request on stdin and the same results in ".result-TOKEN".
'use strict';
(async () => {
	const fs = require('node:fs');
	const path = require('node:path');
	const util = require('node:util');
	const vm = require('node:vm');
	const { createRequire } = require('node:module');

	const request = JSON.parse(fs.readFileSync(0, 'utf8'));
	const file = path.resolve(`.result-${request.token}`);
	const solution = path.resolve('solution.js');
	// Bound now, before the program can replace them.
	const { stringify } = JSON, { writeFileSync } = fs, { inspect } = util, { isArray } = Array, { entries } = Object;
	const { isFinite, isSafeInteger, MAX_SAFE_INTEGER } = Number, { abs } = Math, exit = process.reallyExit.bind(process);
	const text = String, isOf = Function.prototype.call.bind(Object.prototype.isPrototypeOf);
	const errors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, Error].map(({ name, prototype }) => ({ name, prototype }));
	const { getPrototypeOf } = Object, plain = Object.prototype;
	const depthMax = 100, nodesMax = 200000, textMax = 20000;
	let nodes = 0;

	const shown = (value) => {
		try {
			return inspect(value, { depth: 20, maxArrayLength: 10000, breakLength: Infinity }).slice(0, textMax);
		} catch {
			return `<a ${typeof value} that cannot be shown>`;
		}
	};

	// The value as JSON in which each object is a tag: $dict, $int (not exact as a number), $double (a number that
	// may be written in several ways), $float (not finite), $other.
	const encode = (value, depth) => {
		if (depth > depthMax || ++nodes > nodesMax) return { $other: 'too large' };
		if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
		if (typeof value === 'number') {
			if (!isFinite(value)) return { $float: value !== value ? 'nan' : value > 0 ? 'inf' : '-inf' };
			return abs(value) <= MAX_SAFE_INTEGER ? value : { $double: value };
		}
		if (typeof value === 'bigint')
			return isSafeInteger(Number(value)) ? Number(value) : { $int: value.toString() };
		if (isArray(value)) return Array.from(value, (item) => encode(item, depth + 1));
		if (typeof value === 'object' && (getPrototypeOf(value) === plain || getPrototypeOf(value) === null))
			return { $dict: entries(value).map(([k, v]) => [k, encode(v, depth + 1)]) };
		return { $other: shown(value) };
	};

	const traceOf = (stack) =>
		stack.split('\n').filter((line) => !line.includes(__filename)).join('\n').slice(0, textMax);

	// The name of an error; that of one of JavaScript's own belongs to what is one.
	const nameOf = (error) => {
		const name = text(error.name);
		for (let i = 0; i < errors.length; i++)
			if (errors[i].name === name && !isOf(errors[i].prototype, error)) return `${name} (not JavaScript's own)`;
		return name;
	};

	const problem = (error, stage) => {
		const thrown = error !== null && typeof error === 'object' && typeof error.message === 'string';
		return {
			stage,
			name: thrown ? nameOf(error) : '',
			message: (thrown ? error.message : shown(error)).slice(0, textMax),
			traceback: thrown && typeof error.stack === 'string' ? traceOf(error.stack) : '',
		};
	};

	const finish = (results) => {
		writeFileSync(file, stringify(results), { flag: 'wx', mode: 0o600 });
		// Ends without running exit handlers or timers of the program.
		exit(0);
	};

	// Whether the expression itself uses a name that the program does not define.
	const lacks = (wanted, error) => {
		const [, name] = /^([\p{ID_Start}$_][\p{ID_Continue}$]*) is not defined$/u.exec(error?.message) ?? [];
		return error?.name === 'ReferenceError' && name !== undefined && wanted.call?.includes(name) &&
			vm.runInThisContext(`typeof ${name} === 'undefined'`);
	};

	const call = async (wanted) => {
		let value;
		if (wanted.call !== undefined) {
			value = await wanted.script.runInThisContext();
		} else {
			let found, owner;
			try {
				const [first, ...rest] = wanted.function.split('.');
				found = look(first);
				for (const part of rest) [owner, found] = [found, found?.[part]];
			} catch {
				found = undefined;
			}
			if (typeof found !== 'function')
				return { stage: 'missing', name: '', message: wanted.function, traceback: '' };
			value = await found.apply(owner, wanted.args);
		}
		nodes = 0;
		const text = typeof value === 'string' ? value : shown(value);
		return { value: encode(value, 0), text: text.slice(0, textMax), repr: shown(value) };
	};

	let look;
	const load = async () => {
		const code = fs.readFileSync(solution, 'utf8');
		look = await loadProgram(code, createRequire(solution), solution);
		publishProgram(code, require, look);
	};

	const { calls } = request;
	for (const wanted of calls) {
		if (wanted.call === undefined) continue;
		try {
			wanted.script = new vm.Script(`(${wanted.call.trim()}\n)`, { filename: '<call>' });
		} catch (error) {
			finish(calls.map(() => problem(error, 'call')));
		}
	}
	try {
		await load();
	} catch (error) {
		finish(calls.map(() => problem(error, 'load')));
	}
	const results = [];
	for (const wanted of calls) {
		try {
			results.push(await call(wanted));
		} catch (error) {
			results.push({ ...problem(error, 'run'), undefined: lacks(wanted, error) });
		}
	}
	finish(results);
})();
