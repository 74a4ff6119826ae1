// SPDX-License-Identifier: MIT
// The test of a `code` assertion whose expressions are judged apart from the program: src/eval/assertions/code/code_apart.c puts
// test_cases.js and this text in front of a call of compared. `candidate` is the stand-in for the answer's function, so that each
// call is made in the program's sandbox, and each expression evaluated here. Promises are awaited. Values compare as those of cases
// do; a BigInt is a number, as JSON has no other.
const compared = async (name, candidate, cases, tolerance) => {
	const { inspect } = require('util');
	const shown = (value) => inspect(value, { breakLength: Infinity }).slice(0, 200);
	const isPlain = (v) => v !== null && typeof v === 'object' &&
		(Object.getPrototypeOf(v) === Object.prototype || Object.getPrototypeOf(v) === null);
	const numbers = (v) => typeof v === 'bigint' ? Number(v) : Array.isArray(v) ? Array.from(v, numbers)
		: isPlain(v) ? Object.fromEntries(Object.entries(v).map(([key, item]) => [key, numbers(item)])) : v;
	const outcome = async (expression, args) => {
		try {
			return { value: await (expression === null ? candidate(...args) : new Function(name, `return (${expression}\n);`)(candidate)) };
		} catch (error) {
			return { error: error ?? new Error(`thrown: ${error}`) };
		}
	};
	// The name of an error; that of one of JavaScript's own belongs to what is one.
	const own = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, Error];
	const nameOf = (error) => {
		const name = String(error.name ?? typeof error);
		const type = own.find((one) => one.name === name);
		return type === undefined || error instanceof type ? name : `${name} (not JavaScript's own)`;
	};
	let through = false;
	process.prependListener('beforeExit', () => {
		if (!through) throw new Error('a promise that never settles');
	});
	for (const [expression, args, , wanted, wantedError] of cases) {
		const call = expression === null ? `${name}(${args.map(shown).join(', ')})` : expression.slice(0, 200);
		const got = await outcome(expression, args);
		const raised = 'error' in got ? nameOf(got.error) : null;
		const said = raised === null ? `got ${shown(got.value)}` : `raised ${raised}: ${String(got.error.message).slice(0, 200)}`;
		if (wantedError !== null)
			console.assert(raised === wantedError, `call ${call}: expected ${wantedError}, ${said}`);
		else if (raised !== null)
			console.assert(false, `call ${call}: ${said}`);
		else
			console.assert(checkCases.same(numbers(got.value), wanted, tolerance), `call ${call}: expected ${shown(wanted)}, ${said}`);
	}
	through = true;
};
