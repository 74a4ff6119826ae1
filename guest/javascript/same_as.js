// SPDX-License-Identifier: MIT
// The test of a `sandbox` assertion that calls functions: src/eval/assertions/code/sandbox.c puts this text in front of a call of
// sameAs. The canonical solution is run here; `candidate` is the stand-in for the answer's function. Each call is an
// expression in which `name` is one or the other. Promises are awaited.
const sameAs = async (raising, canonical, name, candidate, calls, tolerance) => {
	const { isDeepStrictEqual, inspect } = require('util');
	const { isArray } = Array, { keys, getPrototypeOf, prototype: plain } = Object;
	const isPlain = (v) => v !== null && typeof v === 'object' && !isArray(v) && (getPrototypeOf(v) === plain || getPrototypeOf(v) === null);
	const same = (got, wanted) => {
		if (typeof got === 'number' && typeof wanted === 'number')
			return Object.is(got, wanted) || got === wanted ||
				(tolerance > 0 && Number.isFinite(wanted) && Math.abs(got - wanted) <= tolerance * Math.max(1, Math.abs(wanted)));
		if (isArray(got) && isArray(wanted))
			return got.length === wanted.length && Array.from(wanted.keys()).every((i) => // every() alone leaves out holes
				i in got === i in wanted && same(got[i], wanted[i]));
		if (isPlain(got) && isPlain(wanted))
			return keys(got).length === keys(wanted).length &&
				keys(wanted).every((key) => Object.hasOwn(got, key) && same(got[key], wanted[key]));
		return isDeepStrictEqual(got, wanted);
	};
	const shown = (value) => inspect(value, { breakLength: Infinity }).slice(0, 200);
	const outcome = async (expression, f) => {
		try {
			return { value: await new Function('require', name, `return (${expression}\n);`)(require, f) };
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
	const module = { exports: {} };
	const reference = new Function('require', 'module', 'exports', `${canonical}\n;return ${name};`)(require, module, module.exports);
	for (const expression of calls) {
		const wanted = await outcome(expression, reference);
		if (raising ? !('error' in wanted) : 'error' in wanted)
			throw 'error' in wanted ? wanted.error : new Error(`${expression}: the canonical solution throws nothing`);
		const got = await outcome(expression, candidate);
		if (raising)
			console.assert('error' in got && nameOf(got.error) === nameOf(wanted.error), `${expression}: expected ${nameOf(wanted.error)}, ` +
				('error' in got ? `threw ${nameOf(got.error)}` : `got ${shown(got.value)}`));
		else if ('error' in got)
			throw got.error;
		else
			console.assert(same(got.value, wanted.value), `${expression}: expected ${shown(wanted.value)}, got ${shown(got.value)}`);
	}
	through = true;
};
