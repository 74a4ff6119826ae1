// SPDX-License-Identifier: MIT
// How values cross between split_judge.js and split_candidate.js. This text is put in front of either.
//
// A frame is a length (4 bytes, little-endian, at most frameMax) and that many bytes of UTF-8: JSON that holds arrays,
// strings, numbers, booleans and null, and never an object. Its value is [id, word, roots, heap] (split_judge.js says
// which words there are).
//
// A value is null, a boolean, a string, a finite number, or one of
//   ["u"]                    undefined
//   ["n", text]              NaN, Infinity, -Infinity, -0
//   ["b", digits]            a BigInt
//   ["x", type]              a function or symbol, of which only the type crosses
//   ["f", number]            a function of the program's that the judge may call (makeCodec's `functions`)
//   ["@", i]                 the object heap[i]
// The heap is flat, so cycles and depth do not matter; it has each object once:
//   ["A", value …]           an array            ["S", length, i, value, …]  an array with holes
//   ["O", key, value, …]     an object           ["N", key, value, …]        one without prototype
//   ["C", name, whole, items, n, key, value, …]  an instance of a class: n getters' values and methods of its class, then its own data.
//                            whole, items: what it gives when iterated, as for I, in an array; null, null: it cannot be iterated
//   ["M", key, value, …]     a Map               ["Z", value …]              a Set
//   ["D", number]            a Date              ["R", source, flags]        a RegExp
//   ["E", name, message, base, class, key, value, …]  an Error: base: Error's own class or the one that its class extends
//   ["T", type, number …]    a typed array       ["I", whole, value …]       the items of an iterator; whole: all of them
//   ["W", value]             a boxed primitive
//
// Decoding executes nothing: it checks the form of every part and throws a CodecError at the first invalid one.
// After loading, nothing is looked up on a prototype, so a program that changes prototypes can still answer.
'use strict';
// onEndless: called when a decoded iterator is read beyond the items that were sent; does not return. functions: keep(function, owner)
// gives the number by which a function is called, undefined where it cannot be; made(number) the function that calls it.
const makeCodec = (onEndless, functions = {}) => {
	const { isArray, prototype: arrayPrototype } = Array;
	const { is, keys, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor, getOwnPropertyNames, defineProperty, create,
		prototype: plain } = Object;
	const { apply } = Reflect, { iterator: iterating } = Symbol;
	const { bind, call } = Function.prototype;
	const uncurry = bind.bind(call);
	const { types } = require('util');
	const { isMap, isSet, isDate, isRegExp, isTypedArray, isBoxedPrimitive, isNativeError } = types;
	const { isGeneratorObject, isMapIterator, isSetIterator } = types;
	const { stringify, parse } = JSON;
	const { readFileSync, readSync, writeSync } = require('fs');
	const { isSafeInteger, isFinite } = Number, { isNaN } = globalThis;
	const text = String, big = BigInt, number = Number, boxed = Object, KeyMap = Map, ValueSet = Set, Moment = Date, Pattern = RegExp;
	const mapGet = uncurry(Map.prototype.get), mapSet = uncurry(Map.prototype.set), mapClear = uncurry(Map.prototype.clear);
	const mapEach = uncurry(Map.prototype.forEach), setEach = uncurry(Set.prototype.forEach);
	const setAdd = uncurry(Set.prototype.add), setClear = uncurry(Set.prototype.clear);
	const timeOf = uncurry(Date.prototype.getTime), sliceOf = uncurry(String.prototype.slice);
	const tested = uncurry(RegExp.prototype.test);
	const arrayIterator = getPrototypeOf([][Symbol.iterator]()), stringIterator = getPrototypeOf(''[Symbol.iterator]());
	const typedNames = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
		'Uint32Array', 'Float32Array', 'Float64Array'];
	const typedClasses = new Map();
	for (const name of typedNames) typedClasses.set(name, globalThis[name]);
	const { alloc, prototype: bufferPrototype } = Buffer;
	typedClasses.set('Buffer', function buffer(n) { return alloc(n); });
	const membersMax = 64, withMethodsMax = 1000; // getters and methods of an object; objects in a frame that have methods
	// Methods by which an object could pass for a plain value: an object whose `includes` always says true. They do not cross.
	const notCalled = new Set(('has includes every some startsWith endsWith test hasOwnProperty isPrototypeOf propertyIsEnumerable ' +
		'valueOf toString toLocaleString toJSON then catch finally constructor search indexOf lastIndexOf find findIndex findLast ' +
		'findLastIndex match matchAll localeCompare equals isEqual isSame compare isSubsetOf isSupersetOf isDisjointFrom').split(' '));
	const setHas = uncurry(Set.prototype.has);
	const typedTag = uncurry(getOwnPropertyDescriptor(getPrototypeOf(Int8Array.prototype), Symbol.toStringTag).get);
	const errors = new Map();
	for (const type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])
		errors.set(type.name, type);
	const errorNames = new Map();
	for (const [name, type] of errors) errorNames.set(type.prototype, name);
	const bytesOf = Buffer.from.bind(Buffer), allocate = Buffer.allocUnsafe.bind(Buffer);
	const utf8 = uncurry(Buffer.prototype.toString), copyOf = uncurry(Buffer.prototype.copy);
	const readLength = uncurry(Buffer.prototype.readUInt32LE), writeLength = uncurry(Buffer.prototype.writeUInt32LE);
	const pause = Atomics.wait.bind(Atomics, new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

	const frameMax = 8 << 20; // bytes
	const valuesMax = 1000000; // maximum number of entries in one frame, in all objects together
	const objectsMax = 200000;
	const lengthMax = 1 << 24; // maximum length of an array with holes
	const drainMax = 10000; // of an iterator
	const digitsMax = 20000; // of a BigInt
	const numberWords = { __proto__: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 };

	class CodecError extends Error {}
	const refuse = (what) => { throw new CodecError(what); };

	/* ------------------------------------------------------------------------------------------------- encoding */

	const quote = (s) => stringify(s); // stringify calls no toJSON for strings

	// The first items of an iterator, and whether they are all.
	const drained = (iterator) => {
		const items = [];
		let n = 0;
		for (; n < drainMax; n++) {
			const step = iterator.next();
			if (step.done) break;
			items[n] = step.value;
		}
		return { items, whole: n < drainMax };
	};
	// The iterator of an object of the program's; undefined: there is none, or it throws.
	const iteratorOf = (o) => {
		try {
			for (let p = o; p !== null && p !== plain; p = getPrototypeOf(p))
				if (getOwnPropertyDescriptor(p, iterating) !== undefined) return apply(o[iterating], o, []);
		} catch {
			// the value cannot be iterated
		}
		return undefined;
	};
	// What the getters of an object's class give, and its methods, as names and values in turn.
	const membersOf = (o, withMethods) => {
		const found = [];
		for (let p = getPrototypeOf(o); p !== null && p !== plain; p = getPrototypeOf(p)) {
			const names = getOwnPropertyNames(p);
			for (let i = 0; i < names.length && found.length < 2 * membersMax; i++) {
				const { get, value: method } = getOwnPropertyDescriptor(p, names[i]);
				if (get === undefined && (!withMethods || typeof method !== 'function' || setHas(notCalled, names[i]))) continue;
				try {
					const value = o[names[i]];
					found[found.length] = names[i];
					found[found.length] = value;
				} catch {
					// a getter that throws is treated as if it did not exist
				}
			}
		}
		return found;
	};
	// The name of the nearest of JavaScript's own classes of errors; undefined: it is no error.
	const errorBase = (o) => {
		for (let p = o; p !== null && p !== plain; p = getPrototypeOf(p)) {
			const name = mapGet(errorNames, p);
			if (name !== undefined) return name;
		}
		return isNativeError(o) ? 'Error' : undefined;
	};

	// Encodes values as the JSON text of roots and heap, and returns the heap's objects. known: objects that the other side has
	// under these numbers already; they are sent too. plainOnly: functions and symbols are refused.
	const encode = (values, known, plainOnly) => {
		const ids = new KeyMap(), objects = [];
		let count = 0, size = 0;
		for (let i = 0; known && i < known.length; i++) {
			objects[i] = known[i];
			mapSet(ids, known[i], i);
		}
		const string = (s) => {
			size += s.length;
			if (size > frameMax) refuse(`more than ${frameMax} characters`);
			return quote(s);
		};
		const value = (v, owner) => {
			if (++count > valuesMax) refuse(`more than ${valuesMax} values`);
			switch (typeof v) {
			case 'function': {
				const kept = plainOnly ? refuse('a function') : functions.keep?.(v, owner);
				return kept === undefined ? '["x","function"]' : `["f",${kept}]`;
			}
			case 'string':
				return string(v);
			case 'boolean':
				return v ? 'true' : 'false';
			case 'number':
				return isFinite(v) && !is(v, -0) ? text(v) : `["n","${v === 0 ? '-0' : text(v)}"]`;
			case 'undefined':
				return '["u"]';
			case 'bigint': {
				const digits = text(v);
				if (digits.length > digitsMax) refuse(`an integer of ${digits.length} digits`);
				return `["b","${digits}"]`;
			}
			case 'object': {
				if (v === null) return 'null';
				let id = mapGet(ids, v);
				if (id === undefined) {
					id = objects.length;
					if (id >= objectsMax) refuse(`more than ${objectsMax} objects`);
					objects[id] = v;
					mapSet(ids, v, id);
				}
				return `["@",${id}]`;
			}
			default:
				return plainOnly ? refuse(`a ${typeof v}`) : `["x","${typeof v}"]`;
			}
		};
		const properties = (node, o) => {
			const names = keys(o);
			for (let i = 0; i < names.length; i++) node += `,${string(names[i])},${value(o[names[i]], o)}`;
			return node;
		};
		const list = (o) => {
			const n = o.length;
			if (n > valuesMax && (n > lengthMax || keys(o).length > valuesMax)) refuse(`an array of length ${n}`);
			let dense = n <= valuesMax, node = '["A"';
			for (let i = 0; dense && i < n; i++) {
				const item = o[i];
				dense = item !== undefined || getOwnPropertyDescriptor(o, i) !== undefined;
				node += `,${value(item)}`;
			}
			if (dense) return node;
			const names = keys(o);
			node = `["S",${n}`;
			for (let i = 0; i < names.length; i++) {
				const at = number(names[i]);
				if (isSafeInteger(at) && at >= 0 && at < n && text(at) === names[i]) node += `,${at},${value(o[at])}`;
			}
			return node;
		};
		const className = (prototype) => {
			try {
				const { name } = prototype.constructor;
				return typeof name === 'string' ? sliceOf(name, 0, 200) : '';
			} catch {
				return '';
			}
		};
		const node = (o) => {
			if (isArray(o)) return list(o);
			const prototype = getPrototypeOf(o);
			let n, base;
			const push = (v) => { n += `,${value(v)}`; };
			const iteration = ({ items, whole }) => {
				n = `["I",${whole}`;
				for (let i = 0; i < items.length; i++) push(items[i]);
				return n;
			};
			if (prototype === plain || prototype === null) {
				const iterator = iteratorOf(o);
				if (iterator === undefined) return properties(prototype === null ? '["N"' : '["O"', o);
				if (iterator === o) return iteration(drained(o));
			}
			if (isMap(o)) {
				n = '["M"';
				mapEach(o, (v, k) => { push(k); push(v); });
			} else if (isSet(o)) {
				n = '["Z"';
				setEach(o, push);
			} else if (isDate(o)) {
				n = `["D",${value(timeOf(o))}`;
			} else if (isRegExp(o)) {
				n = `["R",${string(text(o.source))},${string(text(o.flags))}`;
			} else if ((base = errorBase(o)) !== undefined) {
				n = `["E",${string(shown(() => o.name))},${string(shown(() => o.message))},"${base}",${string(className(prototype))}`;
				const names = keys(o);
				for (let i = 0; i < names.length; i++)
					if (names[i] !== 'name' && names[i] !== 'message' && names[i] !== 'stack') {
						n += `,${string(names[i])}`;
						push(o[names[i]]);
					}
			} else if (isBoxedPrimitive(o)) {
				n = `["W",${value(o.valueOf())}`;
			} else if (isTypedArray(o) && mapGet(typedClasses, typedTag(o)) !== undefined) {
				n = `["T","${prototype === bufferPrototype ? 'Buffer' : typedTag(o)}"`;
				for (let i = 0; i < o.length; i++) push(o[i]);
			} else if (isGeneratorObject(o) || isMapIterator(o) || isSetIterator(o) || prototype === arrayIterator ||
				prototype === stringIterator) {
				iteration(drained(o));
			} else {
				const iterator = iteratorOf(o);
				if (iterator === o) return iteration(drained(o));
				const { items, whole } = iterator === undefined ? { items: null, whole: null } : drained(iterator);
				const members = prototype === null ? [] : membersOf(o, objects.length < withMethodsMax);
				n = `["C",${string(className(prototype))},${whole},${value(items)},${members.length / 2}`;
				for (let i = 0; i < members.length; i += 2) n += `,${string(members[i])},${value(members[i + 1], o)}`;
				n = properties(n, o);
			}
			return n;
		};
		let roots = '', heap = '';
		for (let i = 0; i < values.length; i++) roots += `${i ? ',' : ''}${value(values[i])}`;
		for (let i = 0; i < objects.length; i++) heap += `${i ? ',' : ''}${node(objects[i])}]`;
		return { roots: `[${roots}]`, heap: `[${heap}]`, objects };
	};
	const shown = (get) => {
		try {
			return sliceOf(text(get()), 0, 2000);
		} catch {
			return 'it cannot be shown';
		}
	};

	/* ------------------------------------------------------------------------------------------------- decoding */

	const classes = new Map();
	const prototypeOf = (name, base) => {
		const key = base === undefined ? name : `${base.name} ${name}`;
		let prototype = mapGet(classes, key);
		if (prototype === undefined) {
			const type = base === undefined ? class {} : class extends base {};
			defineProperty(type, 'name', { __proto__: null, value: name });
			mapSet(classes, key, prototype = type.prototype);
		}
		return prototype;
	};
	const opaque = (type) => {
		if (type === 'symbol') return Symbol('a symbol of the program');
		if (type !== 'function') refuse('an unknown type');
		return function unreachable() { throw new TypeError('this function of the program cannot be called from here'); };
	};
	const put = (o, key, value) => defineProperty(o, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

	const hide = (o, key, value) => defineProperty(o, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
	// Makes an object iterable. What it has under its indices, and as its length, has to be the same: a test that looks at both
	// would otherwise be deceived.
	const iterable = (o, items, whole) => {
		const length = getOwnPropertyDescriptor(o, 'length');
		if (whole && length !== undefined && length.value !== items.length) refuse('an object of another length than it has items');
		for (let i = 0; i < items.length; i++) {
			const own = getOwnPropertyDescriptor(o, i);
			if (own !== undefined && !is(own.value, items[i])) refuse('an object with other items than by its indices');
		}
		hide(o, iterating, function* items_() {
			yield* items;
			if (!whole) onEndless(`an iterator of the program goes on after ${drainMax} values`);
		});
	};

	let met = ''; // the class of an object, or the kind of a value, of which not everything crossed
	let notFinite = false; // one of the decoded values was NaN or an infinity
	let noNumber = false; // one was a text that is no number, or an undefined item or property: arithmetic makes NaN of them
	// Decodes roots and heap into new objects. known: as for encode; these objects are changed in place.
	const decode = (roots, heap, known) => {
		if (!isArray(roots) || !isArray(heap) || roots.length > valuesMax || heap.length > objectsMax)
			refuse('no roots or no heap');
		const objects = [], later = []; // what remains to be done when all objects have their values
		let count = 0, atRoots = false;
		const string = (v) => (typeof v === 'string' ? v : refuse('no string where one belongs'));
		const value = (v) => {
			if (++count > valuesMax) refuse(`more than ${valuesMax} values`);
			if (v === null || typeof v === 'boolean' || typeof v === 'number') return v;
			if (typeof v === 'string') {
				noNumber ||= isNaN(v);
				return v;
			}
			if (!isArray(v)) refuse('a raw object');
			if (v.length === 1 && v[0] === 'u') {
				noNumber ||= !atRoots;
				return undefined;
			}
			if (v.length !== 2) refuse('an unknown value');
			const what = v[1];
			switch (v[0]) {
			case '@':
				if (!isSafeInteger(what) || what < 0 || what >= objects.length) refuse('a reference to nothing');
				return objects[what];
			case 'n':
				if (numberWords[string(what)] === undefined) refuse('an unknown number');
				notFinite ||= what !== '-0';
				return numberWords[what];
			case 'b':
				if (string(what).length > digitsMax || !tested(/^(0|-?[1-9][0-9]*)$/, what)) refuse('no integer');
				return big(what);
			case 'x':
				met ||= what;
				return opaque(what);
			case 'f':
				if (!isSafeInteger(what) || what < 0 || functions.made === undefined) refuse('an unknown function');
				return functions.made(what);
			default:
				return refuse('an unknown value');
			}
		};
		const pairs = (node, from) => {
			if ((node.length - from) % 2 !== 0) refuse('a key without a value');
		};
		const member = (key, v) => (isArray(v) && v[0] === 'f' && setHas(notCalled, key) ? opaque('function') : value(v));
		const properties = (o, node, from) => {
			for (let i = from; i < node.length; i += 2) put(o, string(node[i]), member(node[i], node[i + 1]));
		};
		const emptied = (o) => {
			const names = keys(o);
			for (let i = 0; i < names.length; i++) delete o[names[i]];
		};
		// For each kind of object: is (whether an object is of that kind), make (an empty one) and fill.
		const kinds = {
			__proto__: null,
			A: {
				is: isArray, make: () => [],
				fill: (o, n) => {
					o.length = 0;
					for (let i = 1; i < n.length; i++) put(o, i - 1, value(n[i]));
				},
			},
			S: {
				is: isArray, make: () => [],
				fill: (o, n) => {
					const length = n[1];
					if (!isSafeInteger(length) || length < 0 || length > lengthMax) refuse('an array of a wrong length');
					pairs(n, 2);
					noNumber = true; // a hole is undefined
					o.length = 0;
					o.length = length;
					for (let i = 2; i < n.length; i += 2) {
						if (!isSafeInteger(n[i]) || n[i] < 0 || n[i] >= length) refuse('an item outside its array');
						put(o, n[i], value(n[i + 1]));
					}
				},
			},
			O: {
				is: (o) => getPrototypeOf(o) === plain, make: () => ({}),
				fill: (o, n) => { pairs(n, 1); emptied(o); properties(o, n, 1); },
			},
			N: {
				is: (o) => getPrototypeOf(o) === null, make: () => create(null),
				fill: (o, n) => { pairs(n, 1); emptied(o); properties(o, n, 1); },
			},
			C: {
				is: (o) => !isArray(o), make: (n) => create(prototypeOf(string(n[1]))),
				fill: (o, n) => {
					const whole = n[2], items = value(n[3]), own = 5 + 2 * n[4];
					if (!isSafeInteger(n[4]) || n[4] < 0 || own > n.length) refuse('getters without values');
					if (whole === null ? items !== null : typeof whole !== 'boolean' || !isArray(items)) refuse('no items');
					pairs(n, own);
					met ||= `class ${n[1]}`;
					emptied(o);
					properties(o, n, own);
					for (let i = 5; i < own; i += 2) if (getOwnPropertyDescriptor(o, string(n[i])) === undefined) hide(o, n[i], member(n[i], n[i + 1]));
					if (items !== null) later[later.length] = () => iterable(o, items, whole);
				},
			},
			M: {
				is: isMap, make: () => new KeyMap(),
				fill: (o, n) => {
					pairs(n, 1);
					mapClear(o);
					for (let i = 1; i < n.length; i += 2) mapSet(o, value(n[i]), value(n[i + 1]));
				},
			},
			Z: {
				is: isSet, make: () => new ValueSet(),
				fill: (o, n) => {
					setClear(o);
					for (let i = 1; i < n.length; i++) setAdd(o, value(n[i]));
				},
			},
			D: {
				is: isDate, fixed: true,
				make: (n) => (n.length === 2 && typeof value(n[1]) === 'number' ? new Moment(value(n[1])) : refuse('no date')),
			},
			R: {
				is: isRegExp, fixed: true,
				make: (n) => {
					try {
						return new Pattern(string(n[1]), string(n[2]));
					} catch {
						return refuse('no regular expression');
					}
				},
			},
			E: {
				is: isNativeError,
				make: (n) => {
					const name = string(n[1]), base = string(n[3]), type = mapGet(errors, base), of = string(n[4]);
					if (type === undefined) refuse('an error of no known kind');
					const error = new type(string(n[2]));
					if (of !== base) setPrototypeOf(error, prototypeOf(of, type));
					if (name !== base) put(error, 'name', name);
					return error;
				},
				fill: (o, n) => { pairs(n, 5); properties(o, n, 5); },
			},
			W: {
				is: isBoxedPrimitive, fixed: true,
				make: (n) => {
					const primitive = n.length === 2 ? value(n[1]) : null;
					if (primitive === null || primitive === undefined || typeof primitive === 'object') refuse('no primitive');
					return boxed(primitive);
				},
			},
			T: {
				is: isTypedArray,
				make: (n) => {
					const Type = mapGet(typedClasses, n[1]);
					return Type === undefined ? refuse('an unknown typed array') : new Type(n.length - 2);
				},
				fill: (o, n) => {
					for (let i = 2; i < n.length && i - 2 < o.length; i++) {
						const item = value(n[i]);
						o[i - 2] = typeof item === 'number' ? item : refuse('no number');
					}
				},
			},
			I: {
				is: () => false,
				make: (n) => {
					const whole = n[1], items = [];
					if (typeof whole !== 'boolean') refuse('no iterator');
					n.items = items;
					return (function* items_() {
						yield* items;
						if (!whole) onEndless(`an iterator of the program goes on after ${drainMax} values`);
					})();
				},
				fill: (o, n) => {
					for (let i = 2; i < n.length; i++) n.items[i - 2] = value(n[i]);
				},
			},
		};
		for (let i = 0; i < heap.length; i++) {
			const node = heap[i], kind = isArray(node) && typeof node[0] === 'string' ? kinds[node[0]] : undefined;
			if (kind === undefined) refuse('an unknown object');
			const old = known && i < known.length ? known[i] : undefined;
			if (old !== undefined && !kind.is(old)) refuse('an argument of another type');
			objects[i] = old ?? kind.make(node);
		}
		if (known && heap.length < known.length) refuse('an argument is missing');
		for (let i = 0; i < heap.length; i++)
			if (!kinds[heap[i][0]].fixed) kinds[heap[i][0]].fill(objects[i], heap[i]);
		for (let i = 0; i < later.length; i++) later[i]();
		const values = [];
		atRoots = true;
		for (let i = 0; i < roots.length; i++) values[i] = value(roots[i]);
		return { values, objects };
	};

	/* --------------------------------------------------------------------------------------------------- frames */

	const again = (fn) => {
		for (;;) {
			try {
				return fn();
			} catch (e) {
				if (e.code !== 'EAGAIN') throw e;
				pause();
			}
		}
	};
	let input = allocate(64 << 10), have = 0;
	// Reads until n bytes are available; false at the end of the stream.
	const fill = (n) => {
		if (input.length < n) {
			const larger = allocate(n);
			copyOf(input, larger, 0, 0, have);
			input = larger;
		}
		while (have < n) {
			const got = again(() => readSync(3, input, have, input.length - have, null));
			if (got === 0) return false;
			have += got;
		}
		return true;
	};
	// The next frame's array; undefined at the end of the stream. A truncated frame is refused.
	const receive = () => {
		if (!fill(4)) return have === 0 ? undefined : refuse('half a frame');
		const n = readLength(input, 0);
		if (n > frameMax) refuse(`a frame of ${n} bytes`);
		if (!fill(4 + n)) refuse('half a frame');
		const json = utf8(input, 'utf8', 4, 4 + n);
		copyOf(input, input, 0, 4 + n, have);
		have -= 4 + n;
		let message;
		try {
			message = parse(json);
		} catch {
			refuse('no JSON');
		}
		if (!isArray(message)) refuse('no array');
		return message;
	};
	// roots and heap are results of encode. Throws a CodecError for a frame that is too large, and the error of writing if the
	// other side is gone.
	const send = (id, word, roots, heap) => {
		const body = bytesOf(`[${quote(id)},${quote(word)},${roots},${heap}]`, 'utf8');
		if (body.length > frameMax) refuse(`${body.length} bytes, more than a frame holds`);
		const frame = allocate(4 + body.length);
		writeLength(frame, body.length, 0);
		copyOf(body, frame, 4);
		for (let at = 0; at < frame.length;)
			at += again(() => writeSync(4, frame, at, frame.length - at));
	};
	// Reads standard input: `first` bytes, returned as a text if there are any; the lengths of `count` texts in UTF-8 and `more`
	// numbers, each as fifteen digits and a newline; then the texts.
	const parts = (count, more, first = 0) => {
		const stdin = readFileSync(0), all = stdin.subarray(first), found = [], numberAt = (i) => parseInt(utf8(all, 'latin1', 16 * i, 16 * i + 16), 10);
		let at = 16 * (count + more);
		for (let i = 0; i < count; i++) found[i] = utf8(all, 'utf8', at, at += numberAt(i));
		for (let i = 0; i < more; i++) found[count + i] = numberAt(count + i);
		if (first > 0) found.unshift(utf8(stdin, 'latin1', 0, first));
		return found;
	};
	return { CodecError, encode, decode, receive, send, parts, quote, shown, hadNotFinite: () => notFinite,
		hadNoNumber: () => noNumber, met: () => met };
};
