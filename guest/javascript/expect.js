// SPDX-License-Identifier: MIT
// The names that files of tests for Jest and Vitest count on (jestjs.io/docs/api, jestjs.io/docs/expect): describe, it, test,
// expect, before… and after…. Node's own runner (node:test) runs the tests; what this file has of `expect` compares.
const testGlobals = (() => {
	const { isDeepStrictEqual, inspect } = require('util');
	// That of Node's assert costs 4 ms to load, which every test would pay.
	class AssertionError extends Error {
		name = 'AssertionError';
	}

	// What stands in an expected value for each value of a kind: expect.any(Number). `takes` tells whether a value is one.
	class Kind {
		#takes;
		constructor(name, takes) {
			this.kind = name;
			this.#takes = takes;
		}
		takes(value) {
			return this.#takes(value);
		}
	}
	const kindOf = (name, check, takes) => {
		const make = (isNot) => (...given) => {
			if (!check(...given)) throw new TypeError(`expect.${name} does not take ${inspect(given)}`);
			return new Kind(`${isNot ? 'not.' : ''}${name}(${given.map((v) => inspect(v)).join(', ')})`, (value) => takes(value, ...given) !== isNot);
		};
		return make;
	};
	const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');
	const typesOf = new Map([[Number, 'number'], [String, 'string'], [Boolean, 'boolean'], [BigInt, 'bigint'], [Symbol, 'symbol'],
		[Function, 'function'], [Object, 'object']]);
	const kinds = {
		any: kindOf('any', (type) => typeof type === 'function', (value, type) => typeof value === typesOf.get(type) ||
			(type === Array ? Array.isArray(value) : type !== Object && value instanceof type)),
		anything: kindOf('anything', () => true, (value) => value !== null && value !== undefined),
		objectContaining: kindOf('objectContaining', isObject, (value, part) => isObject(value) &&
			Reflect.ownKeys(part).every((key) => key in value && equal(value[key], part[key]))),
		arrayContaining: kindOf('arrayContaining', Array.isArray, (value, part) => Array.isArray(value) &&
			part.every((wanted) => value.some((item) => equal(item, wanted)))),
		stringContaining: kindOf('stringContaining', (part) => typeof part === 'string', (value, part) => typeof value === 'string' && value.includes(part)),
		stringMatching: kindOf('stringMatching', (part) => typeof part === 'string' || part instanceof RegExp,
			(value, part) => typeof value === 'string' && new RegExp(part).test(value)),
		closeTo: kindOf('closeTo', (wanted, digits = 2) => typeof wanted === 'number' && typeof digits === 'number',
			(value, wanted, digits = 2) => typeof value === 'number' && (value === wanted || Math.abs(value - wanted) < 10 ** -digits / 2)),
	};
	// Both values with the kinds in `wanted`, and what stands for them in `got`, replaced by what is equal if it fits and else is not.
	const settled = (got, wanted, inside = new Set()) => {
		if (wanted instanceof Kind) return wanted.takes(got) ? [null, null] : [Symbol('other'), wanted.kind];
		if (wanted instanceof Map && got instanceof Map && !inside.has(wanted)) return settledMaps(got, wanted, inside);
		if (wanted instanceof Set && got instanceof Set && !inside.has(wanted)) return settledSets(got, wanted);
		if (!isPlain(wanted) || !isPlain(got) || inside.has(wanted)) return [got, wanted];
		const copyOf = (value) => (Array.isArray(value) ? value.slice() : Object.assign(Object.create(Object.getPrototypeOf(value)), value));
		let copies;
		inside.add(wanted);
		for (const key of Object.keys(wanted)) {
			if (!Object.hasOwn(got, key)) continue;
			const [a, b] = settled(got[key], wanted[key], inside);
			if (Object.is(a, got[key]) && Object.is(b, wanted[key])) continue;
			copies ??= [copyOf(got), copyOf(wanted)];
			copies[0][key] = a;
			copies[1][key] = b;
		}
		inside.delete(wanted);
		return copies ?? [got, wanted];
	};

	const settledMaps = (got, wanted, inside) => {
		const copies = [new Map(got), new Map(wanted)];
		inside.add(wanted);
		for (const [key, value] of wanted) {
			if (!got.has(key)) continue;
			const [a, b] = settled(got.get(key), value, inside);
			copies[0].set(key, a);
			copies[1].set(key, b);
		}
		inside.delete(wanted);
		return copies;
	};
	const hasKind = (value, depth = 0) => value instanceof Kind || (depth < 100 && isPlain(value) && Object.values(value).some((v) => hasKind(v, depth + 1)));
	// Without the items of `wanted` that hold a kind, and an item of `got` for each, if there is one.
	const settledSets = (got, wanted) => {
		const copies = [new Set(got), new Set(wanted)];
		for (const item of wanted) {
			if (!hasKind(item)) continue;
			for (const found of copies[0]) {
				if (wanted.has(found) || !equal(found, item)) continue;
				copies[0].delete(found);
				copies[1].delete(item);
				break;
			}
		}
		return copies;
	};

	// What Jest refuses to compare fails, with `not` as well.
	const need = (fits, what, got) => {
		if (!fits) throw new AssertionError(`expect(${inspect(got)}): a matcher for ${what}`);
	};
	const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint';
	const isPlain = (value) => Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
	const ordered = (holds) => (got, wanted) => {
		need(isNumber(got), 'numbers', got);
		return holds(got, wanted);
	};

	// Without what toEqual does not look at: properties that are undefined, and the classes of objects.
	const plain = (value, seen = new Map()) => {
		if (value === null || typeof value !== 'object') return value;
		if (seen.has(value)) return seen.get(value);
		if (!isPlain(value)) return value;
		const isArray = Array.isArray(value);
		const copy = isArray ? [] : {};
		seen.set(value, copy);
		for (const key of Object.keys(value))
			if (value[key] !== undefined) copy[key] = plain(value[key], seen);
		if (isArray) copy.length = value.length;
		return copy;
	};
	const strictlyEqual = (got, wanted) => isDeepStrictEqual(...settled(got, wanted));
	const equal = (got, wanted) => {
		const [a, b] = settled(got, wanted);
		return isDeepStrictEqual(plain(a), plain(b));
	};
	const hasAll = (got, wanted) => {
		if (wanted instanceof Kind) return wanted.takes(got);
		if (!isPlain(wanted) || got === null || typeof got !== 'object') return equal(got, wanted);
		if (Array.isArray(wanted)) return Array.isArray(got) && got.length === wanted.length && wanted.every((v, i) => hasAll(got[i], v));
		return Object.keys(wanted).every((key) => key in got && hasAll(got[key], wanted[key]));
	};
	const at = (value, path) => {
		for (const key of Array.isArray(path) ? path : String(path).split('.')) {
			if (value === null || value === undefined || !(key in Object(value))) return { found: false };
			value = value[key];
		}
		return { found: true, value };
	};
	const isThrown = (error, wanted) => {
		const message = String(error?.message ?? error);
		if (wanted instanceof Kind) return wanted.takes(error);
		if (wanted === undefined) return true;
		if (typeof wanted === 'string') return message.includes(wanted);
		if (wanted instanceof RegExp) return wanted.test(message);
		if (typeof wanted === 'function') return error instanceof wanted;
		return message === wanted.message;
	};
	const matchers = {
		toBe: (got, wanted) => Object.is(got, wanted),
		toEqual: equal,
		toStrictEqual: strictlyEqual,
		toMatchObject: hasAll,
		toBeCloseTo: (got, wanted, digits = 2) => {
			need(typeof got === 'number', 'numbers', got);
			return got === wanted || Math.abs(got - wanted) < 10 ** -digits / 2;
		},
		toBeTruthy: (got) => Boolean(got),
		toBeFalsy: (got) => !got,
		toBeNull: (got) => got === null,
		toBeUndefined: (got) => got === undefined,
		toBeDefined: (got) => got !== undefined,
		toBeNaN: (got) => Number.isNaN(got),
		toBeGreaterThan: ordered((got, wanted) => got > wanted),
		toBeGreaterThanOrEqual: ordered((got, wanted) => got >= wanted),
		toBeLessThan: ordered((got, wanted) => got < wanted),
		toBeLessThanOrEqual: ordered((got, wanted) => got <= wanted),
		toContain: (got, wanted) => (typeof got === 'string' ? got.includes(wanted) : [...got].includes(wanted)),
		toContainEqual: (got, wanted) => [...got].some((item) => equal(item, wanted)),
		toHaveLength: (got, wanted) => {
			need(typeof got?.length === 'number', 'what has a length', got);
			return got.length === wanted;
		},
		toHaveProperty: (got, path, ...wanted) => {
			const { found, value } = at(got, path);
			return found && (wanted.length === 0 || equal(value, wanted[0]));
		},
		toMatch: (got, wanted) => {
			need(typeof got === 'string', 'texts', got);
			return typeof wanted === 'string' ? got.includes(wanted) : wanted.test(got);
		},
		toBeInstanceOf: (got, wanted) => got instanceof wanted,
		toBeTypeOf: (got, wanted) => typeof got === wanted,
		toHaveBeenCalled: (got) => callsOf(got).length > 0,
		toHaveBeenCalledTimes: (got, times) => callsOf(got).length === times,
		toHaveBeenCalledWith: (got, ...given) => callsOf(got).some((call) => equal(call, given)),
		toHaveBeenLastCalledWith: (got, ...given) => equal(callsOf(got).at(-1), given),
		toHaveBeenNthCalledWith: (got, n, ...given) => equal(callsOf(got)[n - 1], given),
	};
	const throws = { toThrow: isThrown, toThrowError: isThrown };

	// Functions that note their calls: jest.fn().
	const mocks = new WeakMap();
	const callsOf = (f) => {
		need(mocks.has(f), 'functions that jest.fn() made', f);
		return mocks.get(f).calls;
	};
	const fn = (body = () => undefined) => {
		const state = { calls: [], results: [] }, once = [];
		const mock = function (...given) {
			state.calls.push(given);
			try {
				const value = (once.shift() ?? body).apply(this, given);
				state.results.push({ type: 'return', value });
				return value;
			} catch (error) {
				state.results.push({ type: 'throw', value: error });
				throw error;
			}
		};
		const then = (set) => (value) => {
			set(value);
			return mock;
		};
		const gives = { ReturnValue: (v) => () => v, ResolvedValue: (v) => async () => v, RejectedValue: (v) => async () => { throw v; }, Implementation: (f) => f };
		for (const [name, give] of Object.entries(gives)) {
			mock[`mock${name}`] = then((value) => { body = give(value); });
			mock[`mock${name}Once`] = then((value) => once.push(give(value)));
		}
		mock.mockClear = then(() => { state.calls.length = state.results.length = 0; });
		mock.mockReset = then(() => { body = () => undefined; once.length = state.calls.length = state.results.length = 0; });
		mock.mock = state;
		mocks.set(mock, state);
		return mock;
	};

	const spies = [];
	const spyOn = (object, name) => {
		const usual = object[name], spy = fn(usual);
		spy.mockRestore = () => { object[name] = usual; };
		object[name] = spy;
		spies.push(spy);
		return spy;
	};
	const restoreAllMocks = () => spies.splice(0).forEach((spy) => spy.mockRestore());
	const mocking = { fn, spyOn, restoreAllMocks };

	let counted = { made: 0 }; // the assertions of the test that runs, and how many it wants
	const demand = (holds, isNot, name, got, wanted) => {
		counted.made++;
		if (Boolean(holds) === isNot)
			throw new AssertionError(`expect(${inspect(got)})${isNot ? '.not' : ''}.${name}(${wanted.map((w) => inspect(w)).join(', ')})`);
	};
	// The error that a call throws, as [error]; [] if it throws none.
	const thrownBy = (call) => {
		try {
			call();
		} catch (error) {
			return [error];
		}
		return [];
	};
	const expectations = (got, isNot) => {
		const e = {};
		for (const [name, matches] of Object.entries(matchers))
			e[name] = (...wanted) => demand(matches(got, ...wanted), isNot, name, got, wanted);
		for (const [name, matches] of Object.entries(throws))
			e[name] = (wanted) => {
				const thrown = thrownBy(got);
				demand(thrown.length > 0 && matches(thrown[0], wanted), isNot, name, thrown.length ? thrown[0] : got, [wanted]);
			};
		return e;
	};
	// What a promise comes to: [kept, value or error].
	const outcome = async (got) => {
		const promise = typeof got === 'function' ? got() : got;
		need(typeof promise?.then === 'function', 'promises', promise);
		return promise.then((value) => [true, value], (error) => [false, error]);
	};
	let first; // the error of the first test that failed, of which Node's runner tells no more than that there is one
	const failed = (error) => {
		first ??= error;
		throw error;
	};
	const promised = (got, kept, isNot) => {
		const e = {};
		for (const name of [...Object.keys(matchers), ...Object.keys(throws)])
			e[name] = (...wanted) => outcome(got).then(([was, value]) => {
				need(was === kept, `a promise that is ${kept ? 'kept' : 'broken'}`, value);
				demand((matchers[name] ?? throws[name])(value, ...wanted), isNot, name, value, wanted);
			}).catch(failed); // nobody may wait for it
		return e;
	};
	const expect = (got) => ({
		...expectations(got, false),
		not: expectations(got, true),
		resolves: { ...promised(got, true, false), not: promised(got, true, true) },
		rejects: { ...promised(got, false, false), not: promised(got, false, true) },
	});

	for (const [name, make] of Object.entries(kinds)) expect[name] = make(false);
	expect.not = Object.fromEntries(Object.entries(kinds).map(([name, make]) => [name, make(true)]));
	expect.assertions = (n) => { counted.wanted = n; };
	expect.hasAssertions = () => { counted.some = true; };
	const lookAtCount = () => {
		const { made, wanted, some } = counted;
		counted = { made: 0 };
		if (wanted !== undefined && made !== wanted) throw new AssertionError(`expect.assertions(${wanted}): there were ${made}`);
		if (some && made === 0) throw new AssertionError('expect.hasAssertions(): there were none');
	};

	// A test that takes a parameter ends when it calls that; Node's own would give it a context first.
	const ended = (body, isTest) => body && (async () => {
		try {
			counted.made = 0; // what beforeEach wants of the test stays
			await (body.length > 0 ? new Promise((resolve, reject) => body((error) => (error ? reject(error) : resolve()))) : body());
			if (isTest) lookAtCount();
		} catch (error) {
			failed(error);
		}
	});
	const runner = (run, wrap) => {
		const named = (name, body) => run(String(name), wrap(body));
		named.only = named;
		named.skip = (name, body) => run.skip(String(name), wrap(body));
		named.todo = (name) => run.todo(String(name));
		named.each = (rows) => {
			if (rows.raw) throw new Error('each with a table as a template is not there: give a list');
			return (name, body) => rows.forEach((row, i) => named(`${name} (${i + 1})`, () => body(...(Array.isArray(row) ? row : [row]))));
		};
		return named;
	};
	const hook = (run) => (body) => run(ended(body, false));
	let made;
	const make = () => {
		const t = require('node:test');
		const one = runner(t.test ?? t, (body) => ended(body, true));
		return { expect, jest: mocking, vi: mocking, describe: runner(t.describe, (body) => body), it: one, test: one, beforeAll: hook(t.before), afterAll: hook(t.after),
			beforeEach: hook(t.beforeEach), afterEach: hook(t.afterEach) };
	};
	return { get: () => (made ??= make()), firstError: () => first };
})();
