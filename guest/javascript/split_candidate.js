// SPDX-License-Identifier: MIT
// Holds the program and answers the calls of split_judge.js; it never sees the test.
//
// stdin:  the names of the functions to be called, one on each line; the program (parts of split_codec.js).
// fd 3:   calls; fd 4: replies (split_codec.js).
//
// program.js loads the program. Its output is ignored.
{
	// Functions that crossed, each with the object that it was found in, and their numbers.
	const kept = [], keptMax = 100000, numbers = new Map();
	const mapGet = Function.prototype.call.bind(Map.prototype.get), mapSet = Function.prototype.call.bind(Map.prototype.set), KeyMap = Map;
	const keep = (f, owner) => {
		let known = mapGet(numbers, owner);
		if (known === undefined && kept.length < keptMax) mapSet(numbers, owner, known = new KeyMap());
		let number = known && mapGet(known, f);
		if (number === undefined && kept.length < keptMax) {
			number = kept.length;
			kept[number] = { f, owner };
			mapSet(known, f, number);
		}
		return number;
	};
	const { CodecError, encode, decode, receive, send, parts, quote, shown } =
		makeCodec(() => { throw new Error('an iterator that goes on'); }, { keep });
	const leave = process.reallyExit.bind(process);
	const isThenable = (v) => v !== null && (typeof v === 'object' || typeof v === 'function') && typeof v.then === 'function';
	const { apply } = Reflect, { asyncIterator: iterating } = Symbol;
	const itemsMax = 10000; // maximum items taken from an asynchronous iterator
	const onProcess = process.on.bind(process);
	const active = process.getActiveResourcesInfo?.bind(process); // handles that keep Node's event loop running

	const [wantedNames, program] = parts(2, 0);
	const names = wantedNames.split('\n');

	const reply = (id, word, values, known) => {
		let sent;
		try {
			sent = encode(values, known);
			send(id, word, sent.roots, sent.heap);
		} catch (e) {
			// A getter of the program's may throw too.
			const why = e instanceof CodecError ? `what it returned cannot cross: ${e.message}` :
				`what it returned cannot be read: ${shown(() => e)}`;
			send(id, 'limit', `[${quote(why)}]`, '[]');
		}
	};
	const wanted = [];
	let broken;
	const found = (look) => {
		for (let i = 0; i < names.length; i++) {
			wanted[i] = look(names[i]);
			if (typeof wanted[i] !== 'function') broken = new TypeError(`${names[i]} is not a function`);
		}
	};
	const failed = (e) => {
		broken = e ?? new Error(shown(() => e));
	};
	// Returns a promise if the program is loaded asynchronously.
	const load = () => {
		try {
			const look = loadProgram(program, require, '/home/user/program.js');
			if (isThenable(look)) return look.then(found).catch(failed);
			found(look);
		} catch (e) {
			failed(e);
		}
	};
	const isIterated = (v) => v !== null && typeof v === 'object' && typeof v[iterating] === 'function';
	// The first items of an asynchronous iterator, whether they are all, whether it threw behind them, and what.
	const drained = async (iterable) => {
		const items = [];
		let n = 0;
		try {
			const iterator = apply(iterable[iterating], iterable, []);
			for (; n < itemsMax; n++) {
				const step = await iterator.next();
				if (step.done) break;
				items[n] = step.value;
			}
		} catch (e) {
			return [items, true, true, e];
		}
		return [items, n < itemsMax, false, null];
	};
	const answer = (id, word, roots, heap) => {
		const { values, objects } = decode(roots, heap);
		const known = word === 'call and changes' ? objects : undefined;
		const { f, owner } = word === 'call kept' ? kept[values[0]] : { f: wanted[values[0]] };
		// Behind the result of a method stands its object, as it is now.
		const said = (kind, v) => reply(id, kind, owner === undefined ? [v] : [v, owner], known);
		const call = [];
		for (let i = 1; i < values.length; i++) call[i - 1] = values[i];
		let value;
		try {
			value = apply(f, owner, call);
			if (!isThenable(value) && isIterated(value)) return drained(value).then((v) => said('iterate', v));
			if (!isThenable(value)) return said('return', value);
		} catch (e) {
			return said('throw', e);
		}
		return value.then((v) => said('resolve', v), (e) => said('reject', e));
	};
	// Waits for timers, as in one process, where a program with endless timers never ends.
	const finish = (id) => {
		const last = () => {
			send(id, 'end', '[]', '[]');
			leave(0);
		};
		if (active === undefined || active().length === 0) last();
		onProcess('beforeExit', last);
	};
	const serve = () => {
		for (;;) {
			const message = receive();
			if (message === undefined) leave(0);
			const id = message[0], word = message[1];
			let pending;
			if (word === 'end') return finish(id);
			if (broken !== undefined) reply(id, 'load', [broken]);
			else pending = answer(id, word, message[2], message[3]);
			// A promise settles only when the event loop runs.
			if (pending !== undefined) return pending.then(serve);
		}
	};
	const loading = load();
	if (loading === undefined) serve();
	else loading.then(serve);
}
