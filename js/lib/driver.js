// SPDX-License-Identifier: MIT
// The interpreter of a code context: how it is started and forked, and the lines that it sends. docs/contexts.md has the protocol.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants } from "node:os";

import { EngineError, NotFoundError, TimeoutError, error_of } from "./errors.js";
import { object_of, text_of } from "./execution.js";
import { program } from "./places.js";
import { check_text, content } from "./plan.js";

const SILENCE_MS = 1000, END_MS = 5000, LINE_MAX = 32 << 20;
const { SIGKILL } = constants.signals;
export const EVENTS = new Set(["count", "stdout", "stderr", "result", "display", "clear", "error"]);
// Ends of a wait, beside a line.
export const LATE = Symbol("late"), WOKEN = Symbol("woken"), ENDED = Symbol("ended"), ENDLESS = Symbol("endless");

const kinds = new Map();

// How a context in a language is started: what `fumehood session driver` prints.
export function kind_of(language) {
	if (!kinds.has(language))
		kinds.set(language, ask_program(check_text(language, "language")).catch((error) => {
			kinds.delete(language);
			throw error;
		}));
	return kinds.get(language);
}

function ask_program(language) {
	return new Promise((resolve, reject) => {
		const child = spawn(program(), ["session", "driver", "--", language], { stdio: ["ignore", "pipe", "pipe"] });
		const out = [], err = [];
		child.stdout.on("data", (piece) => out.push(piece));
		child.stderr.on("data", (piece) => err.push(piece));
		child.on("error", (error) => reject(new EngineError(`cannot start ${program()}: ${error.message}`, { code: "system" })));
		child.on("close", (status) => {
			if (status === 0)
				return resolve(JSON.parse(Buffer.concat(out).toString("utf8")));
			const [message, hint = ""] = Buffer.concat(err).toString("utf8").trim().replace(/^fumehood: /, "").split("\nhint: ");
			reject(new NotFoundError(message, { hint, code: "not_found" }));
		});
	});
}

// Waits for a promise for at most that long; LATE.
function within(promise, ms) {
	let timer;
	const late = new Promise((resolve) => { timer = setTimeout(resolve, Math.min(Math.max(ms, 0), 2 ** 31 - 1), LATE); });
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// The process of an interpreter, and the lines that it sends.
class Driver {
	constructor(process, branched = false) {
		Object.assign(this, { process, branched, pieces: [], size: 0, lines: [], reading: null, at_end: false });
	}

	// The next line; LATE: none within `ms`, or until `woken` is fulfilled; ENDED: end of file, or the process has ended though
	// another one holds its output open; ENDLESS: a line that is too long. What is not read waits in the sandbox.
	async line(ms, woken = new Promise(() => {})) {
		const until = Date.now() + ms;
		for (;;) {
			if (this.lines.length)
				return this.lines.shift();
			if (this.at_end)
				return ENDED;
			if (this.size > LINE_MAX)
				return ENDLESS;
			if (!this.reading) {
				this.reading = this.process.read();
				this.reading.catch(() => {}); // who waits for it is told
			}
			const patience = Math.min(until - Date.now(), SILENCE_MS);
			const piece = await within(Promise.race([this.reading, woken]), patience);
			if (piece === WOKEN)
				return LATE;
			if (piece !== LATE) {
				this.reading = null;
				this.#take(piece);
			} else if (patience === SILENCE_MS && await this.has_ended()) {
				return ENDED;
			} else if (Date.now() >= until) {
				return LATE;
			}
		}
	}

	#take(piece) {
		if (!piece.length)
			this.at_end = true;
		for (let at = 0; at < piece.length;) {
			const newline = piece.indexOf(10, at), end = newline < 0 ? piece.length : newline;
			this.pieces.push(piece.subarray(at, end));
			this.size += end - at;
			at = end + 1;
			if (newline < 0)
				break;
			this.lines.push(Buffer.concat(this.pieces));
			this.pieces = [];
			this.size = 0;
		}
	}

	async has_ended() {
		try {
			await this.process.wait(0);
			return true;
		} catch (error) {
			if (error instanceof TimeoutError)
				return false;
			if (error instanceof NotFoundError)
				return true;
			throw error;
		}
	}

	// False: it does not read it.
	async send(line, ms) {
		return await within(this.process.write(line), ms) !== LATE;
	}

	async signal(number) {
		await this.process.signal(number).catch((error) => {
			if (!(error instanceof NotFoundError))
				throw error;
		});
	}

	// Kills what is left of it. Resolves to how it ended, as text for people.
	async end() {
		let exit = null;
		try {
			exit = await this.process.wait(this.at_end ? END_MS / 1000 : 0);
		} catch (error) {
			if (!(error instanceof TimeoutError) && !(error instanceof NotFoundError))
				throw error;
		}
		await this.signal(SIGKILL);
		if (!exit)
			await this.process.wait(END_MS / 1000).catch(() => {});
		this.process.client.forget(...Object.values(this.process.streams));
		if (!exit)
			return "it was killed";
		if (this.branched && exit.exit_code === 254)
			return "this kernel does not tell how";
		if (exit.status !== "ok" && exit.status !== "runtime_error")
			return exit.status;
		return exit.signal ? `signal ${exit.signal}` : `exit code ${exit.exit_code}`;
	}

	// Waits until it accepts code. Its words before that may say why it does not.
	async ready(kind, until) {
		for (let words = "";;) {
			const line = await this.line(until - Date.now());
			if (line === LATE)
				throw error_of("timeout", "the context's interpreter did not start in time");
			const said = line === ENDED || line === ENDLESS ? null : event_of(line);
			if (said?.type === "ready")
				return said;
			if (said?.type === "refused")
				throw error_of("unavailable", `no context in ${kind.language}: ${text_of(said.why).slice(0, 200) || "the interpreter gave no reason"}`);
			if (!said || !EVENTS.has(said.type)) {
				words ||= await this.#last_words();
				throw error_of("unavailable", `a context in ${kind.language} cannot start${words && ": "}${words}`,
					{ hint: `it needs ${kind.package} in the sandbox` });
			}
			words = text_of(said.text).slice(0, 400) || words;
		}
	}

	async #last_words() {
		const piece = await within(this.process.read_stderr(4096), 50);
		return piece === LATE ? "" : piece.toString("utf8").trimEnd().split("\n").at(-1).slice(0, 400);
	}
}

// An object with a type, or null: what a line should be.
export function event_of(line) {
	try {
		const event = JSON.parse(line.toString("utf8"));
		return typeof object_of(event).type === "string" ? event : null;
	} catch {
		return null;
	}
}

// A file in the sandbox's /tmp that removes itself.
async function put_program(sandbox, kind, data, ending = "") {
	const name = `/tmp/.fumehood-${randomBytes(16).toString("hex")}${ending}`;
	await sandbox.put(name, data, 0o755);
	return name;
}

async function spawn_driver(sandbox, kind, argv, cwd) {
	try {
		return await sandbox.spawn(argv, { cwd: cwd ?? undefined, tag: "context", wall_time: null, cpu_time: null, output: null });
	} catch (error) {
		throw error instanceof NotFoundError || error.errno === constants.errno.ENOENT
			? error_of(error.code, error.reason, { ...error, hint: `a context in ${kind.language} needs ${kind.package} in the sandbox` }) : error;
	}
}

export async function start(context) {
	const { sandbox, cwd, options, start_ms } = context, kind = await kind_of(context.language);
	const until = Date.now() + start_ms, argv = kind.relay ? [await put_program(sandbox, kind, content(kind.relay))] : [];
	let file = null;
	for (const [name, text] of Object.entries(kind.program))
		file = await put_program(sandbox, kind, text, name.slice(name.lastIndexOf(".")));
	argv.push(...kind.argv.map((word) => word === "{program}" ? file : word));
	const driver = new Driver(await spawn_driver(sandbox, kind, argv, cwd));
	try {
		const prelude = { ...kind.files, options: { language: kind.language, ...options } };
		if (!await driver.send(Buffer.from(JSON.stringify(prelude) + "\n"), until - Date.now()))
			throw error_of("timeout", "the context's interpreter did not start in time");
		return [driver, await driver.ready(kind, until)];
	} catch (error) {
		await driver.end().catch(() => {});
		throw error;
	}
}

// Has an idle interpreter fork (docs/contexts.md): the child gets the streams of a proxy.
export async function fork(context, id) {
	const { sandbox, start_ms } = context, kind = await kind_of(context.language), until = Date.now() + start_ms;
	const name = await put_program(sandbox, kind, content(kind.proxy)), socket = name + ".socket";
	const driver = new Driver(await spawn_driver(sandbox, kind, [name, socket]), true);
	try {
		if (String(await driver.line(until - Date.now()).then((line) => typeof line === "symbol" ? "" : line)) !== "listening")
			throw error_of("unavailable", "a context cannot branch: its proxy does not start");
		await ask(context.driver, { op: "branch", id, socket }, until);
		return [driver, await driver.ready(kind, until)];
	} catch (error) {
		await driver.end().catch(() => {});
		await sandbox.files.remove(socket).catch(() => {});
		throw error;
	}
}

// Has an idle interpreter write its state to a file in its sandbox (docs/contexts.md), within the memory that is left there.
export async function save(context, id) {
	const { sandbox, start_ms } = context, until = Date.now() + start_ms, file = `/tmp/.fumehood-${randomBytes(16).toString("hex")}.state`;
	const { memory, memory_limit } = await sandbox.usage();
	const request = { op: "save", id, file, ...(memory_limit && Number.isSafeInteger(memory_limit) ? { room: Math.max(memory_limit - memory, 0) } : {}) };
	try {
		await ask(context.driver, request, until);
		return file;
	} catch (error) {
		await sandbox.files.remove(file).catch(() => {});
		throw error;
	}
}

// Has an interpreter that has run nothing read such a file of another sandbox. Returns what it says of what is missing.
export async function load(driver, context, id, from, file) {
	const { sandbox, start_ms } = context;
	try {
		await sandbox.files.write(file, from.files.stream(file), { permissions: 0o600, mode: "x" });
		return (await ask(driver, { op: "load", id, file }, Date.now() + start_ms)).not_branched;
	} finally {
		await Promise.all([from, sandbox].map((one) => one.files.remove(file).catch(() => {})));
	}
}

async function ask(driver, request, until) {
	if (!await driver.send(Buffer.from(JSON.stringify(request) + "\n"), until - Date.now()))
		throw error_of("timeout", "the context did not branch in time");
	return answer(driver, request.id, until);
}

// The parent's answer. Lines before it are for the parent's next run.
async function answer(driver, id, until) {
	const others = [];
	try {
		for (let size = 0; size <= LINE_MAX;) {
			const line = await driver.line(until - Date.now());
			if (line === LATE)
				throw error_of("timeout", "the context did not branch in time");
			if (line === ENDED || line === ENDLESS)
				throw error_of("not_found", "the context's interpreter ended: there is no state to branch");
			const said = event_of(line);
			if (said?.type === "end" && said.id === id) {
				if (said.status !== "ok")
					throw error_of("unavailable", `the context cannot branch: ${text_of(said.why).slice(0, 200) || "its interpreter gave no reason"}`);
				return said;
			}
			others.push(line);
			size += line.length;
		}
		throw error_of("protocol", "the context's interpreter answers with too much");
	} finally {
		driver.lines.unshift(...others);
	}
}
