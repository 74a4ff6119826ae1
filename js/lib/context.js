// SPDX-License-Identifier: MIT
// Code contexts: interpreters in a sandbox that keep their state from one run to the next. docs/contexts.md has the protocol of
// their drivers. Nothing that comes from inside is trusted: lines, events and times are bounded.
import { randomBytes } from "node:crypto";
import { constants } from "node:os";

import { ENDED, ENDLESS, EVENTS, WOKEN, event_of, fork, kind_of, load, save, start } from "./driver.js";
import { CancelledError, error_of, wrong } from "./errors.js";
import { Collector, text_of } from "./execution.js";
import { bytes_of, check_list, check_text, ms_of } from "./plan.js";

const START_MS = 60000, SEND_MS = 10000;
const EVENTS_MAX = 64 << 20, EVENT_COST = 64, CODE_MAX = 2 << 20, NOT_BRANCHED_MAX = 64;
const { SIGINT, SIGKILL } = constants.signals;
const SHELLS = ["auto", "ipython", "small"];
const ERREXIT = ". `set -e` was on, which ends the whole shell at a command that fails; ( set -e; … ) ends only what is in the brackets";

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
		this.#lacks(ready.not_branched);
	}

	#lacks(said) {
		const lacking = Array.isArray(said) ? said : [];
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
				execution.message = "the code ended its interpreter; the next run starts another" + (event.why === "set -e" ? ERREXIT : "");
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
		const hint = how === "exit code 1" && (await kind_of(this.language)).may_end;
		execution.message = `${what} (${how}); its state is lost, and the next run starts another${hint ? `. ${hint}` : ""}`;
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

	// Another context with the state that this one has now; python only. In the same sandbox by a fork of the interpreter; in another
	// `sandbox`, most often a branch of this one, by value. `not_branched` of the new one names what it lacks.
	branch({ sandbox = this.sandbox } = {}) {
		return this.#in_turn(async () => {
			const kind = await kind_of(this.language);
			if (kind.cannot_branch)
				throw error_of("unavailable", `a context in ${kind.language} cannot branch: ${kind.cannot_branch}`, { hint: "contexts in python can" });
			if (!this.driver)
				throw error_of("not_found", "the context's interpreter ended: there is no state to branch");
			const made = new Context(MADE, sandbox, { language: this.language, cwd: this.cwd, options: this.options, start_ms: this.start_ms });
			await (sandbox === this.sandbox ? this.#fork_into(made) : this.#carry_into(made));
			made.#count = this.#count;
			enlist(made);
			return made;
		});
	}

	async #fork_into(made) {
		made.#take(await fork(this, ++this.#runs));
	}

	async #carry_into(made) {
		const file = await save(this, ++this.#runs);
		try {
			await made.#launch();
			made.#lacks(await load(made.driver, made, ++made.#runs, this.sandbox, file));
		} catch (error) {
			await made.#drop().catch(() => {});
			await this.sandbox.files.remove(file).catch(() => {});
			throw error;
		}
	}

	async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
		if (!this.sandbox.destroyed)
			await this.remove();
	}
}
