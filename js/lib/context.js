// SPDX-License-Identifier: MIT
// Code contexts: interpreters in a sandbox that keep their state from one run to the next. docs/contexts.md has the protocol of
// their drivers. Nothing that comes from inside is trusted: lines, events and times are bounded.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants } from "node:os";

import { CancelledError, EngineError, NotFoundError, TimeoutError, error_of, wrong } from "./errors.js";
import { program } from "./places.js";
import { bytes_of, check_list, check_text, content, ms_of } from "./plan.js";

const START_MS = 60000, SEND_MS = 10000, SILENCE_MS = 1000, END_MS = 5000;
const LINE_MAX = 32 << 20, EVENTS_MAX = 64 << 20, EVENT_COST = 64, CODE_MAX = 2 << 20, NOT_BRANCHED_MAX = 64;
const SIGINT = constants.signals.SIGINT, SIGKILL = constants.signals.SIGKILL;
const SHELLS = ["auto", "ipython", "small"];
const EVENTS = new Set(["count", "stdout", "stderr", "result", "display", "clear", "error"]);
// Ends of a wait, beside a line.
const LATE = Symbol("late"), WOKEN = Symbol("woken"), ENDED = Symbol("ended"), ENDLESS = Symbol("endless");

// The names of results by MIME type, as in Display; other types are in `extra`.
const NAMES = {
	"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpeg",
	"application/pdf": "pdf", "text/latex": "latex", "application/json": "json", "application/javascript": "javascript",
	"application/vnd.fumehood.data+json": "data", "application/vnd.fumehood.chart+json": "chart",
};

const text_of = (value) => typeof value === "string" ? value : "";
const object_of = (value) => typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

// A value that the code showed, in each form that it has: `text`, `html`, `png` (base64), `json`, `data`, `chart` and the like; forms
// that it does not have are null. `main` says whether it is the value of the code itself; `mime` has all by their MIME type.
export class Display {
	constructor(mime, metadata, main, display_id) {
		Object.assign(this, { mime, metadata, main, display_id });
	}

	get extra() {
		return Object.fromEntries(Object.entries(this.mime).filter(([mime]) => !Object.hasOwn(NAMES, mime)));
	}

	// Names of the forms that it has.
	formats() {
		return Object.keys(this.mime).map((mime) => Object.hasOwn(NAMES, mime) ? NAMES[mime] : mime);
	}

	// The bytes of "png", "jpeg" or "pdf".
	image(kind = "png") {
		return typeof this[kind] === "string" ? Buffer.from(this[kind], "base64") : null;
	}
}
for (const [mime, name] of Object.entries(NAMES))
	Object.defineProperty(Display.prototype, name, { get() { return Object.hasOwn(this.mime, mime) ? this.mime[mime] : null; } });

// An exception of the code: three texts.
export class CodeError {
	constructor(name, value, traceback) {
		Object.assign(this, { name, value, traceback });
	}
}

// What became of a run. `status`: "ok", "failed" (the code raised: `error`), "timeout", "interrupted", "output_limit", "ended" (its
// interpreter ended). `state_lost`: the variables are gone, for the reason in `message`; the next run starts another
// interpreter, and says so by `restarted`.
export class Execution {
	constructor() {
		Object.assign(this, { status: "ended", count: 0, results: [], stdout: "", stderr: "", error: null, state_lost: false, restarted: false,
			message: "" });
	}

	get ok() {
		return this.status === "ok";
	}

	// The value of the code, or null.
	get result() {
		return this.results.findLast((display) => display.main) ?? null;
	}

	get text() {
		return this.result?.text ?? null;
	}
}

// Collects events into an Execution.
class Collector {
	constructor() {
		this.execution = new Execution();
		this.clearing = false;
	}

	take(event) {
		const { execution } = this;
		if (event.type === "stdout" || event.type === "stderr") {
			this.#clear_now();
			execution[event.type] += text_of(event.text);
		} else if (event.type === "result" || event.type === "display") {
			this.#clear_now();
			this.#display(event);
		} else if (event.type === "clear") {
			this.clearing = true;
			if (!event.wait)
				this.#clear_now();
		} else if (event.type === "error") {
			execution.error = new CodeError(text_of(event.name), text_of(event.value), text_of(event.traceback));
		}
	}

	#display(event) {
		const { results } = this.execution;
		const display = new Display(object_of(event.data), object_of(event.metadata), event.type === "result",
			typeof event.display_id === "string" ? event.display_id : null);
		if (event.update !== true)
			results.push(display);
		else
			for (const [place, shown] of results.entries())
				if (shown.display_id === display.display_id)
					results[place] = display;
	}

	#clear_now() {
		if (this.clearing)
			Object.assign(this.execution, { results: [], stdout: "", stderr: "" });
		this.clearing = false;
	}
}

// ------------------------------------------------------------------------------------------------------------- drivers
const kinds = new Map();

// How a context in a language is started: what `fumehood session driver` prints.
function kind_of(language) {
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
function event_of(line) {
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

async function start(context) {
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
async function fork(context, id) {
	const { sandbox, start_ms } = context, kind = await kind_of(context.language), until = Date.now() + start_ms;
	const name = await put_program(sandbox, kind, content(kind.proxy)), socket = name + ".socket";
	const driver = new Driver(await spawn_driver(sandbox, kind, [name, socket]), true);
	try {
		if (String(await driver.line(until - Date.now()).then((line) => typeof line === "symbol" ? "" : line)) !== "listening")
			throw error_of("unavailable", "a context cannot branch: its proxy does not start");
		if (!await context.driver.send(Buffer.from(JSON.stringify({ op: "branch", id, socket }) + "\n"), until - Date.now()))
			throw error_of("timeout", "the context did not branch in time");
		await answer(context.driver, id, until);
		return [driver, await driver.ready(kind, until)];
	} catch (error) {
		await driver.end().catch(() => {});
		await sandbox.files.remove(socket).catch(() => {});
		throw error;
	}
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
				return;
			}
			others.push(line);
			size += line.length;
		}
		throw error_of("protocol", "the context's interpreter answers with too much");
	} finally {
		driver.lines.unshift(...others);
	}
}

// ------------------------------------------------------------------------------------------------------------ contexts
const variables = (env) => Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [check_text(name, "env"), check_text(value, "env")]));
const MADE = Symbol("made");
const lists = new WeakMap(); // contexts by their sandbox, the oldest first

function enlist(context) {
	lists.set(context.sandbox, [...contexts_of(context.sandbox), context]);
}

// The contexts of a sandbox that still exist.
export function contexts_of(sandbox) {
	return (lists.get(sandbox) ?? []).filter((context) => !context.removed);
}

// An interpreter in a sandbox, from `await sandbox.context()`. Runs are done one after the other.
export class Context {
	#turn = Promise.resolve();
	#runs = 0;
	#count = 0;
	#running = null;
	#signalled = false;

	constructor(token, sandbox, fields) {
		if (token !== MADE)
			throw wrong("a Context is made by await sandbox.context()");
		Object.assign(this, { sandbox, id: randomBytes(16).toString("hex"), interpreter: "", not_branched: [], removed: false, ...fields });
	}

	static async make(sandbox, language, { cwd, env, shell = "auto", preload = [], start_timeout } = {}) {
		if (!SHELLS.includes(shell))
			throw wrong(`there is no shell ${shell}`, SHELLS.join(", "));
		const options = { shell, preload: check_list(preload, "preload"), ...(env ? { env: variables(env) } : {}) };
		const kind = await kind_of(language);
		const made = new Context(MADE, sandbox, { language: kind.language, cwd: cwd ?? null, options,
			start_ms: start_timeout === undefined ? START_MS : Math.max(ms_of(start_timeout, "start_timeout"), 1) });
		await made.#launch();
		enlist(made);
		return made;
	}

	async #launch() {
		this.#take(await start(this));
		this.#signalled = false;
		this.#count = 0;
	}

	#take([driver, ready]) {
		this.driver = driver;
		this.interpreter ||= `${text_of(ready.shell).slice(0, 64)} ${text_of(ready.version).slice(0, 64)}`;
		const lacking = Array.isArray(ready.not_branched) ? ready.not_branched : [];
		this.not_branched = lacking.slice(0, NOT_BRANCHED_MAX).filter((item) => typeof item === "string").map((item) => item.slice(0, 200));
	}

	// Calls `work` when the calls before it are over.
	#in_turn(work, signal) {
		const before = this.#turn;
		const mine = before.then(() => {
			if (signal?.aborted)
				throw new CancelledError("the call was cancelled", { code: "cancelled" });
			if (this.removed)
				throw wrong("the context is removed", "make another one");
			if (this.sandbox.destroyed)
				throw wrong("the sandbox is destroyed", "create another one");
			return work();
		});
		this.#turn = mine.catch(() => {});
		return mine;
	}

	// Runs code with the state of the runs before. `timeout` in seconds: the code is interrupted, as by Ctrl-C, and killed if it
	// does not end within `grace` seconds; only then its variables are lost. `on_event` is called with each event as it comes; what it
	// throws interrupts the run, and is thrown. An aborted `signal` interrupts the run: CancelledError.
	run(code, { timeout, env, silent = false, on_event, grace = 5, max_bytes = 0, signal } = {}) {
		const source = bytes_of(code, "code");
		if (source.length > CODE_MAX)
			throw error_of("limit", `the code has ${source.length} bytes; at most ${CODE_MAX}`);
		const run = { source, env: env ? variables(env) : undefined, silent, on_event, signal, max_bytes: max_bytes || EVENTS_MAX,
			timeout_ms: timeout === undefined || timeout === null ? 0 : Math.max(ms_of(timeout, "timeout"), 1), grace_ms: Math.max(ms_of(grace, "grace"), 1) };
		return this.#in_turn(() => this.#run(run), signal);
	}

	async #run(run) {
		Object.assign(run, { collector: new Collector(), why: null, failed: null, bytes: 0, timeout_at: Infinity, grace_at: Infinity });
		const { execution } = run.collector;
		if (!this.driver) {
			await this.#launch();
			execution.restarted = true;
		}
		run.id = ++this.#runs;
		this.#count += run.silent ? 0 : 1;
		execution.count = this.#count;
		const request = { op: "run", id: run.id, count: this.#count, ...(run.silent ? { silent: true } : {}),
			...(this.#signalled ? { late_interrupt: true } : {}), ...(run.env ? { env: run.env } : {}), code: run.source.toString("utf8") };
		this.#signalled = false;
		const cancel = () => this.#stop(run, "interrupted");
		this.#running = run;
		run.signal?.addEventListener("abort", cancel, { once: true });
		try {
			await this.#follow(run, Buffer.from(JSON.stringify(request) + "\n"));
		} finally {
			this.#running = null;
			run.signal?.removeEventListener("abort", cancel);
		}
		if (run.failed)
			throw run.failed.error;
		if (run.signal?.aborted && run.why === "interrupted")
			throw new CancelledError("the call was cancelled", { code: "cancelled" });
		return execution;
	}

	async #follow(run, request) {
		if (run.timeout_ms)
			run.timeout_at = Date.now() + run.timeout_ms;
		if (!await this.driver.send(request, run.timeout_ms ? run.timeout_ms + run.grace_ms : SEND_MS))
			return this.#lost(run, "the context's interpreter takes no code");
		if (!run.silent)
			this.#tell(run, { type: "count", count: this.#count });
		for (;;) {
			if (Date.now() >= run.timeout_at) {
				run.timeout_at = Infinity;
				if (run.grace_at === Infinity) // code that went on after interrupt()
					run.why = null;
				this.#stop(run, "timeout");
			}
			if (Date.now() >= run.grace_at)
				return this.#lost(run, "the code did not end when it was interrupted");
			const line = await this.#line(run);
			if (line === ENDED)
				return this.#lost(run, "the code's interpreter ended");
			if (line === ENDLESS)
				return this.#lost(run, "the code wrote an endless line to its context's own channel");
			if (typeof line !== "symbol" && await this.#event(run, line))
				return undefined;
		}
	}

	// The next line; LATE also when the run is to be looked at again, since it was told to stop.
	#line(run) {
		const woken = new Promise((resolve) => { run.wake = () => resolve(WOKEN); });
		return this.driver.line(Math.min(run.timeout_at, run.grace_at) - Date.now(), woken);
	}

	// Handles one line. True: the run is over.
	async #event(run, line) {
		const event = event_of(line), { execution } = run.collector;
		run.bytes += line.length + EVENT_COST;
		if (!event) {
			await this.#lost(run, "the code wrote what is not an event to its context's own channel");
			return true;
		}
		if (event.type === "end" && event.id === run.id) {
			execution.status = run.why ?? (event.status === "ok" ? "ok" : "failed");
			if (event.exiting === true) {
				await this.#drop();
				execution.state_lost = true;
				execution.message = "the code ended its interpreter; the next run starts another";
			}
			return true;
		}
		if (run.bytes > run.max_bytes)
			this.#stop(run, "output_limit");
		else if (EVENTS.has(event.type))
			this.#tell(run, event);
		return false;
	}

	#tell(run, event) {
		if (event.type === "error" && event.name === "KeyboardInterrupt")
			this.#signalled = false;
		if (run.why === "output_limit")
			return;
		run.collector.take(event);
		if (!run.on_event || run.failed)
			return;
		try {
			run.on_event(event);
		} catch (error) {
			run.failed = { error };
			this.#stop(run, "interrupted");
		}
	}

	// Asks the code to stop, once, and gives it the grace period to do so.
	#stop(run, why) {
		if (run.why || this.#running !== run)
			return;
		run.why = why;
		run.grace_at = Date.now() + run.grace_ms;
		this.#signalled = true;
		this.driver?.signal(SIGINT).catch(() => {});
		run.wake?.();
	}

	async #drop() {
		const driver = this.driver;
		this.driver = null;
		return driver ? driver.end() : "";
	}

	async #lost(run, what) {
		const how = await this.#drop(), { execution } = run.collector;
		execution.status = run.why ?? "ended";
		execution.state_lost = true;
		execution.message = `${what} (${how}); its state is lost, and the next run starts another`;
	}

	// Interrupts the running code, as Ctrl-C does; its variables stay. Code that goes on nevertheless is allowed to.
	async interrupt() {
		const run = this.#running;
		if (!run || !this.driver)
			return;
		run.why ??= "interrupted";
		this.#signalled = true;
		await this.driver.signal(SIGINT);
	}

	// Kills the running code, and calls `work` when it is over.
	async #end_then(work) {
		if (this.#running)
			await this.driver?.signal(SIGKILL);
		return this.#in_turn(async () => {
			await this.#drop();
			return work();
		});
	}

	// Starts a new interpreter, without variables; running code is ended.
	async restart() {
		await this.#end_then(() => this.#launch());
	}

	// Kills the interpreter. May be called twice.
	async remove() {
		if (this.removed)
			return;
		await this.#end_then(() => { this.removed = true; }).catch((error) => {
			if (!this.removed)
				throw error;
		});
	}

	// Another context in the same sandbox with the state that this one has now, by a fork of its interpreter. Python only.
	// `not_branched` of the new one names what a fork leaves behind.
	branch() {
		return this.#in_turn(async () => {
			const kind = await kind_of(this.language);
			if (kind.cannot_branch)
				throw error_of("unavailable", `a context in ${kind.language} cannot branch: ${kind.cannot_branch}`, { hint: "contexts in python can" });
			if (!this.driver)
				throw error_of("not_found", "the context's interpreter ended: there is no state to branch");
			const made = new Context(MADE, this.sandbox, { language: this.language, cwd: this.cwd, options: this.options, start_ms: this.start_ms });
			made.#take(await fork(this, ++this.#runs));
			made.#count = this.#count;
			enlist(made);
			return made;
		});
	}

	async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
		if (!this.sandbox.destroyed)
			await this.remove();
	}
}
