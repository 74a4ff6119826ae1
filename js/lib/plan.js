// SPDX-License-Identifier: MIT
// From arguments to a plan. The program fumehood (`run --explain`), which knows the languages and the paths of their
// interpreters, decides what a run may see; the plan that it prints is encoded for the protocol here.
import { spawn } from "node:child_process";

import { EngineError, LimitError, NotFoundError, wrong } from "./errors.js";
import { program } from "./places.js";
import { LAYERS, LIMITS, UNLIMITED, encode_fields } from "./wire.js";

const MOUNTS = ["bind", "symlink", "file", "dir", "writable", "mask", "proc", "dev", "volume"];
const STARTS = ["auto", "fresh", "zygote", "parked"];
const DESCRIPTORS = ["in", "out", "driver"];
const STRINGS_MAX = 4096; // as src/proto/plan.h has it
const UNITS = { "": 1, B: 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

// Half of a character (a lone surrogate) has no UTF-8.
const HALF = /\p{Surrogate}/u;

function whole(text, name) {
	if (HALF.test(text))
		throw wrong(`${name}: a text with half of a character (a lone surrogate) cannot be passed`, "write the whole character");
	return text;
}

export function bytes_of(value, name) {
	if (typeof value === "string")
		return Buffer.from(whole(value, name), "utf8");
	if (value instanceof Uint8Array)
		return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
	throw wrong(`${name}: ${typeof value} is neither text nor bytes`, "give a string or a Uint8Array");
}

export function size_of(value, name) {
	const found = typeof value === "string" ? /^\s*([0-9]+(?:\.[0-9]+)?)\s*([BKMGT]?)\s*$/i.exec(value) : null;
	const number = found ? Math.floor(Number(found[1]) * UNITS[found[2].toUpperCase()]) : value;
	if (typeof number !== "number" || !Number.isFinite(number) || number < 0 || number > Number.MAX_SAFE_INTEGER)
		throw wrong(`${name}: ${value} is not a size`, "give bytes, or text such as 64M");
	return Math.floor(number);
}

export function ms_of(seconds, name) {
	if (typeof seconds !== "number" || !(seconds >= 0 && seconds < 1e12))
		throw wrong(`${name}: ${seconds} is not a number of seconds`);
	return Math.round(seconds * 1000);
}

function count_of(value, name) {
	if (!Number.isSafeInteger(value) || value < 0)
		throw wrong(`${name}: ${value} is not a whole number`);
	return value;
}

// What a limit must be at least, in its unit, as in src/proto/tables.c: the engine trusts plans in that.
const LEAST = { cpu_time: 1, wall_time: 1, memory: 2 ** 20, processes: 1, disk: 64 * 2 ** 10, open_files: 8 };

const LIMIT_READERS = { cpu_time: ms_of, wall_time: ms_of, memory: size_of, processes: count_of, cpu_rate: ms_of, output: size_of, file_size: size_of,
	disk: size_of, open_files: count_of };
// Arguments that are passed to the program unchanged.
const WORDS = { interpreter: "--interpreter", venv: "--venv", image: "--image", cwd: "--cwd", hostname: "--hostname", user: "--user" };
const KNOWN = new Set([...Object.keys(LIMIT_READERS), ...Object.keys(WORDS), "argv", "args", "stdin", "files", "outs", "env", "mounts",
	"standard_library_only", "compiler_flags", "require", "out_max_bytes", "start", "preload", "writable_root", "no_program", "client", "on_output", "signal"]);

export function check_text(value, name) {
	if (typeof value !== "string" || value.includes("\0"))
		throw wrong(`${name}: this is not text without NUL`);
	return whole(value, name);
}

export function check_list(value, name) {
	if (!Array.isArray(value))
		throw wrong(`${name} is not a list`, name === "argv" ? "such as [\"sh\", \"-c\", command]" : "give a list");
	if (value.length > STRINGS_MAX)
		throw new LimitError(`${name} has ${value.length} items; at most ${STRINGS_MAX} are allowed`, { code: "limit" });
	return value.map((item) => check_text(item, name));
}

function command_line(code, language, o) {
	const words = ["run", "--explain"];
	for (const [name, option] of Object.entries(WORDS))
		if (o[name] !== undefined && o[name] !== null)
			words.push(option, check_text(o[name], name));
	for (const flag of check_list(o.compiler_flags ?? [], "compiler_flags"))
		words.push("--compiler-flag", flag);
	for (const layer of check_list(o.require ?? [], "require"))
		words.push("--require", layer);
	for (const module of check_list(o.preload ?? [], "preload"))
		words.push("--preload", module);
	for (const mount of o.mounts ?? [])
		words.push("--mount", mount_word(mount));
	if (o.standard_library_only)
		words.push("--standard-library-only");
	if (o.writable_root)
		words.push("--writable-root");
	if (o.no_program)
		words.push("--no-program", "-l", check_text(language, "language"));
	else if (code !== undefined)
		words.push("-l", check_text(language, "language"), "-");
	else
		words.push("--command");
	words.push("--", ...(code === undefined ? check_list(o.argv ?? [], "argv") : check_list(o.args ?? [], "args")));
	return words;
}

function mount_word(mount) {
	const [source, target, mode = "ro"] = Array.isArray(mount) ? mount : [mount];
	if (!["ro", "rw"].includes(mode) || [source, target].some((part) => typeof part === "string" && part.includes(":")))
		throw wrong(`mounts: ${JSON.stringify(mount)} is not [source, target, "ro" or "rw"]`);
	return [check_text(source, "mounts"), ...(target ? [check_text(target, "mounts")] : []), ...(mode === "rw" ? ["rw"] : [])].join(":");
}

function explain(words, input) {
	return new Promise((resolve, reject) => {
		const child = spawn(program(), words, { stdio: ["pipe", "pipe", "pipe"] });
		const out = [], err = [];
		child.stdout.on("data", (piece) => out.push(piece));
		child.stderr.on("data", (piece) => err.push(piece));
		child.stdin.on("error", () => {}); // the program needs no input; if it ends early, its message says why
		child.on("error", (error) => reject(new EngineError(`cannot start ${program()}: ${error.message}`, { code: "system" })));
		child.on("close", (status) => {
			if (status === 0)
				return resolve(JSON.parse(Buffer.concat(out).toString("utf8")));
			const lines = Buffer.concat(err).toString("utf8").trim().split("\n");
			const hint = lines.filter((line) => line.startsWith("hint: ")).map((line) => line.slice(6)).join(" ");
			const message = lines.filter((line) => !line.startsWith("hint: ")).join("\n").replace(/^fumehood: /, "");
			const Kind = /unknown language|No such file|not found|cannot find|no .* on PATH/.test(message) ? NotFoundError : null;
			reject(Kind ? new Kind(message, { hint, code: "not_found" }) : status === 2 ? wrong(message, hint)
				: new EngineError(message || `fumehood run ended with status ${status}`, { hint, code: "system" }));
		});
		child.stdin.end(input);
	});
}

function set_limits(limits, o) {
	for (const [name, read] of Object.entries(LIMIT_READERS))
		if (o[name] === null)
			limits[name] = name === "cpu_rate" ? 0 : null;
		else if (o[name] !== undefined) {
			limits[name] = read(o[name], name);
			if (limits[name] < (LEAST[name] ?? 0))
				throw wrong(`${name}: ${o[name]} is too little`, "null switches a limit off");
		}
	if (o.disk !== undefined && o.file_size === undefined)
		limits.file_size = limits.disk;
}

function set_files(data, files) {
	if (files instanceof Map || Array.isArray(files) || (files && typeof files !== "object"))
		throw wrong("files is not an object of names and contents", "such as { \"data.csv\": \"1,2\" }");
	for (const [name, given] of Object.entries(files ?? {})) {
		const [content, mode] = Array.isArray(given) ? given : [given, 0o644];
		data.files.push({ name: check_text(name, "files"), content: { base64: bytes_of(content, `files: ${name}`).toString("base64") },
			mode: mode.toString(8).padStart(4, "0") });
	}
}

// A plan, which can be run many times. `data` is the object that `fumehood run --explain` prints.
export class Plan {
	constructor(data) {
		this.data = data;
	}

	static from_json(text) {
		let data;
		try {
			data = JSON.parse(text);
		} catch (error) {
			throw wrong(`the plan is not JSON: ${error.message}`);
		}
		if (data?.version !== 1 || !Array.isArray(data.argv) || !Array.isArray(data.mounts))
			throw wrong("this is not a plan", "it is what `fumehood run --explain` prints");
		return new Plan(data);
	}

	json() {
		return JSON.stringify(this.data);
	}
}

// The language and the options of a call, of which the language may be left out.
export function called(language, options) {
	if (typeof language === "object" && language !== null)
		[language, options] = [undefined, language];
	if (typeof (options ?? {}) !== "object" || Array.isArray(options))
		throw wrong("options is not an object", "such as { memory: \"256M\" }");
	const given = options ?? {};
	if (![null, undefined].includes(given.on_output) && typeof given.on_output !== "function")
		throw wrong("on_output is not a function");
	return [language, { ...given, signal: check_signal(given.signal) }];
}

export function check_signal(signal) {
	if (signal !== undefined && signal !== null && typeof signal.addEventListener !== "function")
		throw wrong("signal is not an AbortSignal", "new AbortController().signal, or AbortSignal.timeout(ms)");
	return signal ?? undefined;
}

// Makes the plan of a run, with the arguments of `run`.
export async function plan(code, language, options) {
	[language, options] = called(language, options);
	for (const name of Object.keys(options))
		if (!KNOWN.has(name))
			throw wrong(`unknown argument ${name}`, `arguments: ${[...KNOWN].join(", ")}`);
	if ((code === undefined || code === null) === (options.argv === undefined) && !options.no_program)
		throw wrong("give either code (with its language) or argv");
	const source = code === null ? undefined : code;
	if (options.no_program && (source !== undefined || options.argv !== undefined || options.args?.length || options.compiler_flags?.length))
		throw wrong("a sandbox without a program was asked for, and a program given", "leave out no_program, or code, argv, args and compiler_flags");
	const data = await explain(command_line(source, language ?? "python", options), source === undefined ? "" : bytes_of(source, "code"));
	set_limits(data.limits, options);
	set_files(data, options.files);
	for (const [name, value] of Object.entries(options.env ?? {})) {
		data.env = data.env.filter((entry) => !entry.startsWith(`${name}=`));
		data.env.push(`${check_text(name, "env")}=${check_text(value, "env")}`);
	}
	data.outs.push(...check_list(options.outs ?? [], "outs"));
	if (options.out_max_bytes)
		data.out_max_bytes = count_of(options.out_max_bytes, "out_max_bytes");
	if (options.start !== undefined && !STARTS.includes(options.start))
		throw wrong(`unknown start ${options.start}`, `one of ${STARTS.join(", ")}`);
	data.start = options.start ?? data.start;
	data.stdin = { base64: (options.stdin === undefined ? Buffer.alloc(0) : bytes_of(options.stdin, "stdin")).toString("base64") };
	return new Plan(data);
}

// ------------------------------------------------------------------------------------------------------------- the wire
export function content(value) {
	return typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value?.base64 ?? "", "base64");
}

const text = (value) => value === null || value === undefined ? undefined : typeof value === "string" ? value : content(value);
const mode = (value) => value === undefined ? undefined : parseInt(value, 8);
const flag = (value) => value ? 1 : undefined;
const bits = (names) => names.reduce((sum, name) => sum | 1 << LAYERS.indexOf(name), 0);

function mount_fields(m) {
	return [[1, MOUNTS.indexOf(m.kind)], [2, text(m.target)], [3, text(m.source)], [4, m.content === undefined ? undefined : content(m.content)],
		[5, mode(m.mode)], [6, flag(m.writable)], [7, flag(m.optional)]];
}

function zygote_fields(z) {
	return [[1, z.main_file], ...z.options.map((item) => [2, text(item)]), ...z.env.map((item) => [3, text(item)]),
		...z.preload.map((item) => [4, text(item)]), ...(z.preload_identity ?? []).map((item) => [5, text(item)])];
}

// The value of a PLAN field. `more` is a further file: the program that a compiler made.
export function plan_fields(p, more) {
	const files = p.files.map((f) => [12, [[1, text(f.name)], [2, content(f.content)], [3, mode(f.mode)]]]);
	if (more)
		files.push([12, [[1, more.name], [2, more.data], [3, 0o755]]]);
	return [
		[1, text(p.image)], ...p.mounts.map((m) => [2, mount_fields(m)]), [3, p.uid], [4, p.gid], [5, text(p.hostname)],
		[6, bits(p.layers)], [7, bits(p.require)],
		...LIMITS.map((name, index) => [8, [[1, index], [2, p.limits[name] === null || p.limits[name] === undefined ? UNLIMITED : p.limits[name]]]]),
		...p.argv.map((item) => [9, text(item)]), ...p.env.map((item) => [10, text(item)]), [11, text(p.cwd)], ...files,
		...p.outs.map((name) => [13, text(name)]), [14, p.out_max_bytes], [15, p.stdin === undefined ? undefined : content(p.stdin)],
		[16, text(p.language)], [17, text(p.interpreter)], [18, text(p.code_name)],
		...(p.descriptors ?? []).map((d) => [19, [[1, d.number], [2, DESCRIPTORS.indexOf(d.kind)]]]),
		[34, flag(p.root_capabilities)], [32, STARTS.indexOf(p.start ?? "auto")], ...(p.zygote ? [[33, zygote_fields(p.zygote)]] : []),
		[35, text(p.image_identity)],
	];
}

// The plan of a received PLAN field, as `fumehood run --explain` prints it.
export function plan_of(fields) {
	const list = (from, tag) => from.every(tag).map(bytes_text);
	const nullable = (tag) => fields.has(tag) ? bytes_text(fields.bytes(tag)) : null;
	const layers = (tag) => LAYERS.filter((_name, index) => fields.number(tag) >> index & 1);
	const limits = Object.fromEntries(LIMITS.map((name) => [name, null]));
	for (const limit of fields.messages(8))
		limits[LIMITS[limit.number(1)]] = limit.number(2);
	const zygote = fields.has(33) ? fields.message(33) : null;
	return {
		version: 1, language: nullable(16), interpreter: nullable(17), code_name: nullable(18), argv: list(fields, 9), env: list(fields, 10),
		cwd: nullable(11), uid: fields.number(3), gid: fields.number(4), hostname: nullable(5), layers: layers(6),
		...(fields.number(34) ? { root_capabilities: true } : {}), require: layers(7), limits, image: nullable(1), image_identity: nullable(35),
		mounts: fields.messages(2).map((m) => ({
			kind: MOUNTS[m.number(1)], target: bytes_text(m.bytes(2)), ...(m.has(3) ? { source: bytes_text(m.bytes(3)) } : {}),
			...(m.has(4) || m.number(1) === MOUNTS.indexOf("file") ? { content: bytes_text(m.bytes(4)) } : {}), ...octal_mode(m.number(5)),
			...(m.number(6) ? { writable: true } : {}), ...(m.number(7) ? { optional: true } : {}),
		})),
		files: fields.messages(12).map((f) => ({ name: bytes_text(f.bytes(1)), ...octal_mode(f.number(3)), content: bytes_text(f.bytes(2)) })),
		outs: list(fields, 13), out_max_bytes: fields.number(14), stdin: bytes_text(fields.bytes(15)),
		descriptors: fields.messages(19).map((d) => ({ number: d.number(1), kind: DESCRIPTORS[d.number(2)] })),
		start: STARTS[fields.number(32)] ?? "auto",
		zygote: zygote && { main_file: zygote.number(1), options: list(zygote, 2), env: list(zygote, 3), preload: list(zygote, 4),
			preload_identity: list(zygote, 5) },
		artifact: null, compile: null,
	};
}

// Text, or { base64 } of bytes that are none.
function bytes_text(bytes = Buffer.alloc(0)) {
	const found = bytes.toString("utf8");
	return Buffer.from(found, "utf8").equals(bytes) ? found : { base64: bytes.toString("base64") };
}

function octal_mode(number) {
	return number ? { mode: number.toString(8).padStart(4, "0") } : {};
}
