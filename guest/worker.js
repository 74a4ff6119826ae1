// SPDX-License-Identifier: MIT
// Calls the user's own javascript functions for fumehood (the protocol is in src/script/script.h).
//
// Descriptor 0 is a socket: JSON messages, each after its length in four bytes. What the called code prints goes to
// descriptors 1 and 2, which fumehood shows on its stderr. With the argument --once (inside a sandbox) there is one
// call: stdin is its message, stdout its answer.
'use strict';
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const fs = require('node:fs');

const once = process.argv[2] === '--once';
const asked = once ? fs.readFileSync(0, 'utf8') : '';
// Only the worker may read the channel, so the user's code gets an empty stdin.
let noInput;
Object.defineProperty(process, 'stdin', {
	get: () => (noInput ??= require('node:stream').Readable.from([])),
	configurable: true,
});

const inline = new Map();
const instances = new Map();

class Missing extends Error {}

// For JSON.stringify: a function that is the value of an assertion is sent as text, code that calls the function; an error,
// which has no members in JSON, as its text.
function asCode(key, value) {
	if (key === 'error' && value instanceof Error) return String(value);
	return key === 'value' && typeof value === 'function' ? `(${value})(output, context)` : value;
}

// A value in JSON. What refers to an object that it is in itself is left out: providers hand over timers and sockets so.
function textOf(value) {
	try {
		return JSON.stringify(value, asCode);
	} catch (error) {
		if (!/circular/.test(error.message)) throw error;
		const around = [];
		return JSON.stringify(value, function (key, item) {
			while (around.length && around.at(-1) !== this) around.pop();
			if (around.includes(item)) return undefined;
			if (item && typeof item === 'object') around.push(item);
			return asCode(key, item);
		});
	}
}

// The position behind the last ";" that is not inside quotes; 0 if there is none.
function lastStatement(line) {
	let quote = '', at = 0;
	for (let i = 0; i < line.length; i++) {
		const c = line[i];
		if (quote) {
			if (c === '\\') i++;
			else if (c === quote) quote = '';
		} else if (c === '"' || c === "'" || c === '`') quote = c;
		else if (c === ';') at = i + 1;
	}
	return at;
}

// A single line is an expression to return, after its declarations; several lines are the body of a function.
function bodyOf(code) {
	const text = code.trimEnd();
	if (text.includes('\n')) return text;
	if (!/^\s*(const|let|var)\s/.test(text)) return `return ${text.trimStart()}`;
	const line = text.replace(/[;\s]+$/, '');
	const at = lastStatement(line);
	return `${line.slice(0, at)} return ${line.slice(at).trim()}`;
}

function functionOfCode(code, names) {
	const key = JSON.stringify([code, names]);
	if (!inline.has(key)) inline.set(key, new Function(...names, 'process', bodyOf(code)));
	return inline.get(key);
}

// Loads a CommonJS or ES module; module.exports counts as the default export.
async function moduleOf(file) {
	if (!fs.existsSync(file)) throw new Missing(`there is no file ${file}`);
	try {
		return await import(pathToFileURL(path.resolve(file)).href);
	} catch (error) {
		if (error?.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /ts$/.test(file)) {
			throw new Missing(`${file}: TypeScript is run by node 22.18 or newer, and this is ${process.version}`);
		}
		throw error;
	}
}

function member(from, name) {
	let found = from, owner;
	for (const part of name.split('.')) {
		owner = found;
		found = found?.[part];
	}
	return typeof found === 'function' ? Object.assign(found.bind(owner), { original: found }) : undefined;
}

function isClassWith(value, method) {
	return typeof value === 'function' && typeof value.prototype?.[method] === 'function';
}

async function functionOfFile({ file, function: name, method, construct }) {
	const space = await moduleOf(file);
	// Like promptfoo, ignores named exports if there is a default export.
	const main = space.default?.default ?? space.default ?? space;
	if (name) {
		const found = member(main, name);
		if (found) return found;
		const hidden = main !== space && member(space, name);
		throw new Missing(`there is no function '${name}' ${hidden ? 'on the default export of' : 'exported by'} ${file}`);
	}
	if (method && isClassWith(main, method)) {
		const key = JSON.stringify([file, construct]);
		if (!instances.has(key)) instances.set(key, new main(construct));
		return instances.get(key)[method].bind(instances.get(key));
	}
	if (method && typeof main[method] === 'function') return main[method].bind(main);
	if (typeof main === 'function' && method !== 'id') return main;
	throw new Missing(`${file} has no default export that is a function${method ? ` or a class with ${method}` : ''}`);
}

// A value as JSON data, with each function replaced by a reference by which it can be called.
function asData(value, file, names) {
	if (typeof value === 'function') return `file://${file}:${names.join('.')}`;
	if (Array.isArray(value)) return value.map((item, i) => asData(item, file, [...names, String(i)]));
	if (value === null || typeof value !== 'object' || typeof value.toJSON === 'function') return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asData(item, file, [...names, key])]));
}

// What a function that is a provider says of itself beside its id, as promptfoo reads it.
const OF_PROVIDERS = ['label', 'transform', 'delay', 'config'];

// A provider that is a function, as {id, callApi}: its id is its label, or the one that promptfoo gives it.
function functionProvider(item, id, reference) {
	if (typeof item !== 'function') return reference;
	const names = reference.slice(reference.lastIndexOf(':') + 1).split('.'), file = reference.slice('file://'.length, reference.lastIndexOf(':'));
	const more = OF_PROVIDERS.filter((key) => item[key] !== undefined).map((key) => [key, asData(item[key], file, [...names, key])]);
	return { ...Object.fromEntries(more), id: item.label ?? id, callApi: reference };
}

async function exportOf(file) {
	const space = await moduleOf(file), value = space.default?.default ?? space.default ?? space;
	const data = asData(value, path.resolve(file), []);
	for (const key of ['providers', 'targets'].filter((name) => value?.[name])) {
		if (Array.isArray(value[key])) data[key] = data[key].map((item, i) => functionProvider(value[key][i], `custom-function-${i}`, item));
		else data[key] = functionProvider(value[key], 'custom-function', data[key]);
	}
	return data;
}

function typeOf(value) {
	if (value === null) return 'null';
	return Array.isArray(value) ? 'array' : typeof value;
}

function traceOf(error) {
	const stack = typeof error?.stack === 'string' ? error.stack : String(error);
	return stack.split('\n').filter((line) => !line.includes(__filename)).join('\n');
}

// A provider as promptfoo has it: its id is called. In text and in JSON it is still the id.
function withCalledId(provider) {
	const id = () => provider.id;
	return { ...provider, id: Object.assign(id, { toString: id, toJSON: id }) };
}

// What promptfoo passes to callApi in addition to plain data.
function withFunctions(context) {
	const logger = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (...words) => console.error(...words)]));
	const provider = context.originalProvider && withCalledId(context.originalProvider);
	const kept = new Map();
	const cache = {
		get: async (key) => kept.get(key),
		set: async (key, value) => kept.set(key, value),
		del: async (key) => kept.delete(key),
	};
	return { ...context, originalProvider: provider, logger, filters: {}, getCache: () => cache };
}

async function run(message) {
	if (message.method === 'callApi' && message.args[1]?.vars) message.args[1] = withFunctions(message.args[1]);
	const provider = message.provider && message.args[message.provider - 1];
	if (provider) message.args[message.provider - 1] = withCalledId(provider);
	const context = message.args[1];
	if (context?.providerResponse && context.provider) context.provider = withCalledId(context.provider);
	const call = message.code !== undefined ? functionOfCode(message.code, message.names) : await functionOfFile(message);
	if (message.source) return String(call.original ?? call);
	const value = call(...(message.code !== undefined ? [...message.args, process] : message.args));
	const changed = message.inPlace && message.args[message.inPlace - 1];
	if (typeof value?.then !== 'function') return value || (changed ?? value);
	const look = setImmediate(() => (waited = true));
	try {
		return (await value) || (changed ?? value);
	} finally {
		clearImmediate(look);
	}
}

// Makes the call; returns the answer's text.
async function answer(message) {
	try {
		const value = message.module ? await exportOf(message.file) : await run(message);
		const reply = { outcome: 'returned', type: typeOf(value), value: value === undefined ? null : value };
		if (typeof value === 'bigint') reply.value = Number(value);
		if (['function', 'symbol'].includes(typeof value)) reply.value = null; // the reply's `type` says what the value was
		return textOf(reply);
	} catch (error) {
		if (error instanceof Missing) {
			return JSON.stringify({ outcome: 'missing', name: '', message: error.message, traceback: '' });
		}
		const thrown = error instanceof Error || (error && typeof error.message === 'string');
		return JSON.stringify({
			outcome: 'threw',
			name: thrown ? String(error.name ?? '') : '',
			message: thrown ? String(error.message) : String(error),
			traceback: traceOf(error),
		});
	}
}

// ------------------------------------------------------------------------------------------------------- the channel

// Bytes of the channel that were read: those of `room` before `filled`.
let room = Buffer.allocUnsafe(1 << 16);
let filled = 0;

// The first complete message among the bytes that were read; undefined: there is none yet.
function nextMessage() {
	if (filled < 4) return undefined;
	const end = 4 + room.readUInt32BE(0);
	if (filled < end) return undefined;
	const message = JSON.parse(room.toString('utf8', 4, end));
	room.copyWithin(0, end, filled);
	filled -= end;
	return message;
}

function makeRoom(size) {
	if (room.length - filled >= size) return;
	const larger = Buffer.allocUnsafe(2 * (filled + size));
	room.copy(larger, 0, 0, filled);
	room = larger;
}

function framed(text) {
	const size = Buffer.byteLength(text);
	const frame = Buffer.allocUnsafe(4 + size);
	frame.writeUInt32BE(size);
	frame.write(text, 4, size, 'utf8');
	return frame;
}

function receive() {
	for (;;) {
		const message = nextMessage();
		if (message !== undefined) return message;
		makeRoom(1 << 15);
		const n = fs.readSync(0, room, filled, room.length - filled);
		if (n === 0) process.exit(0);
		filled += n;
	}
}

function send(text) {
	const frame = framed(text);
	for (let at = 0; at < frame.length; ) at += fs.writeSync(0, frame, at, frame.length - at);
}

// Whether a function of the user's returned a promise that took more than a turn of the event loop.
let waited = false;

// Answers calls, and blocks while there is none, which takes far fewer system calls than the event loop's own reading.
// That is so only as long as the called code leaves nothing to the event loop: with the first call that waits for
// something, or leaves a timer, a server or a connection behind, the event loop takes over for good.
async function serve() {
	const alive = setInterval(() => {}, 2 ** 30); // a promise that is never settled runs into the time limit
	for (;;) {
		const message = receive();
		alive.ref();
		send(await answer(message));
		alive.unref();
		await new Promise(setImmediate); // runs what the call left to promises
		if (waited || process.getActiveResourcesInfo().length > 0) return serveByEvents();
	}
}

function serveByEvents() {
	const channel = new (require('node:net').Socket)({ fd: 0, readable: true, writable: true });
	let turn = Promise.resolve();
	const take = () => {
		for (let message = nextMessage(); message !== undefined; message = nextMessage()) {
			const next = message;
			turn = turn.then(async () => channel.write(framed(await answer(next))));
		}
	};
	channel.on('data', (data) => {
		makeRoom(data.length);
		filled += data.copy(room, filled);
		take();
	});
	channel.on('end', () => process.exit(0));
	channel.on('error', () => process.exit(0));
	take();
}

// Without fumehood at the other end there is nothing left to do.
function gone() {
	process.exit(0);
}

// An unhandled rejection is a bug of the user's code, but must not prevent later calls.
process.on('unhandledRejection', (error) => console.error('unhandled rejection:', error));
if (once) {
	// stdout is for the answer; output of the called code goes to stderr.
	process.stdout.write = process.stderr.write.bind(process.stderr);
	answer(JSON.parse(asked)).then((text) => {
		fs.writeFileSync(1, text);
		process.exit(0);
	});
} else {
	try {
		send('{"ready":true}');
		serve().catch(gone);
	} catch {
		gone();
	}
}
