// SPDX-License-Identifier: MIT
// Sandboxes that live for more than one program.
import { Incoming, default_client } from "./connection.js";
import { Context, contexts_of } from "./context.js";
import { CancelledError, NotFoundError, wrong } from "./errors.js";
import { Files } from "./files.js";
import { Plan, bytes_of, check_list, check_signal, check_text, ms_of, plan, plan_fields, plan_of, size_of } from "./plan.js";
import { fired_of, usage_of } from "./result.js";
import { read_snapshot, write_snapshot } from "./snapshot.js";
import { FRAME, STARTS, STATUSES, TAG, UNLIMITED } from "./wire.js";

// How long to wait for output of background processes after a process has ended; how long silence has to last to stop
// waiting.
const DRAIN_MS = 2000, QUIET_MS = 100;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// How a process ended: `status` as of a run, `exit_code` (null: by a signal), `signal` (its number, or null), `fired`, `usage`.
export class Exit {
	constructor(exit) {
		this.status = STATUSES[exit.number(TAG.STATUS)] ?? "engine_error";
		this.exit_code = exit.has(TAG.EXIT_CODE) ? exit.number(TAG.EXIT_CODE) : null;
		this.signal = exit.number(TAG.SIGNAL) || null;
		this.fired = fired_of(exit.number(TAG.FIRED));
		this.usage = usage_of(exit);
	}

	get ok() {
		return this.status === "ok";
	}
}

// What `Sandbox.exec` returns: an Exit with the bytes of stdout and stderr.
export class Output {
	constructor(exit, stdout, stderr) {
		Object.assign(this, { exit, stdout, stderr, status: exit.status, exit_code: exit.exit_code, signal: exit.signal, fired: exit.fired,
			usage: exit.usage });
	}

	get ok() {
		return this.exit.ok;
	}

	get text() {
		return this.stdout.toString("utf8");
	}
}

// A process in a sandbox. If its streams are not read, only this program stalls.
export class Process {
	constructor(sandbox, id, fields, pty) {
		Object.assign(this, { sandbox, client: sandbox.client, id, pty });
		this.pid = fields.number(TAG.PID);
		this.streams = this.client.announce(fields);
	}

	// Up to `n` bytes of stdout (of the terminal, with pty) as soon as there are some; an empty buffer at the end.
	read(n = 256 << 10) {
		return this.streams.stdout ? this.streams.stdout.read(n) : Promise.resolve(Buffer.alloc(0));
	}

	read_stderr(n = 256 << 10) {
		return this.streams.stderr ? this.streams.stderr.read(n) : Promise.resolve(Buffer.alloc(0));
	}

	async *[Symbol.asyncIterator]() {
		for (let piece = await this.read(); piece.length; piece = await this.read())
			yield piece;
	}

	// Writes to its stdin; waits while the program does not read.
	async write(data) {
		await this.streams.stdin?.write(bytes_of(data, "data"));
	}

	close_stdin() {
		this.streams.stdin?.close();
	}

	async signal(number) {
		await this.client.reply(FRAME.SIGNAL, this.id, [[TAG.SIGNAL, number]]);
	}

	async kill() {
		await this.signal(9);
	}

	async kill_tree() {
		await this.client.reply(FRAME.SIGNAL, this.id, [[TAG.TREE, 1]]);
	}

	async resize(rows, columns) {
		await this.client.reply(FRAME.RESIZE, this.id, [[TAG.ROWS, rows], [TAG.COLUMNS, columns]]);
	}

	// Waits for its end. `timeout` in seconds: TimeoutError when it still runs.
	wait(timeout, signal) {
		const fields = timeout === undefined || timeout === null ? [] : [[TAG.TIMEOUT_MS, ms_of(timeout, "timeout")]];
		return this.client.ask(FRAME.WAIT, this.id, fields, (type, _id, found) =>
			type === FRAME.EXIT ? new Exit(found.message(TAG.EXIT)) : undefined, signal);
	}

	// Writes stdin and closes it, reads both streams, and waits for the end. After `timeout` seconds, or when `signal`
	// is aborted, the process group is killed. Somebody who attaches ends it with a CancelledError; the process runs on.
	async communicate(stdin, { timeout, signal, on_output } = {}) {
		const pieces = { stdout: [], stderr: [] };
		let last = 0;
		const reading = ["stdout", "stderr"].filter((name) => this.streams[name]).map((name) => this.streams[name].collect((piece) => {
			last = Date.now();
			pieces[name].push(piece);
			on_output?.(name, piece);
		}));
		const all = Promise.all(reading);
		all.catch(() => {});
		if (stdin !== undefined && stdin !== null)
			this.write(stdin).then(() => this.close_stdin()).catch(() => {});
		try {
			const exit = await Promise.race([this.wait(timeout, signal), all.then(() => new Promise(() => {}))]);
			const until = Date.now() + DRAIN_MS;
			let done = false;
			all.then(() => { done = true; }, () => { done = true; });
			for (let ended = Date.now(); !done && Date.now() < until && Date.now() - Math.max(last, ended) < QUIET_MS;)
				await Promise.race([all, sleep(QUIET_MS / 4)]);
			return new Output(exit, Buffer.concat(pieces.stdout), Buffer.concat(pieces.stderr));
		} catch (error) {
			if (!Object.values(this.streams).some((stream) => stream.taken_over && stream.error === error))
				await this.kill().catch(() => {});
			throw error;
		} finally {
			this.client.forget(...Object.values(this.streams));
		}
	}
}

function limit(value, read, name) {
	return value === undefined ? undefined : value === null ? UNLIMITED : read(value, name);
}

const pairs = (tag, env) => env === undefined || env === null ? []
	: Object.entries(env).map(([name, value]) => [tag, `${check_text(name, "env")}=${check_text(value, "env")}`]);

const CREATED = Symbol("created");

// A sandbox for any number of processes, one after another or at once, with the files that they leave. Made by `await
// Sandbox.create(language, options)`; `await using` and `destroy()` end it.
export class Sandbox {
	constructor(token, client, id, start = { path: null }) {
		if (token !== CREATED)
			throw wrong("a Sandbox is made by await Sandbox.create()");
		Object.assign(this, { client, id, start, destroyed: false, files: new Files(this) });
	}

	// Takes the arguments of `run`. With `lease` (seconds) the sandbox outlives this process; `name` is shown in lists;
	// `plan` replaces all other arguments.
	static async create(language, { lease = 0, name, client, plan: made, ...options } = {}) {
		const used = client ?? default_client(), signal = check_signal(options.signal);
		if (signal?.aborted)
			throw new CancelledError("the call was cancelled", { code: "cancelled" });
		made ??= language === undefined || language === null ? await plan(undefined, { argv: ["true"], ...options })
			: await plan(null, language, { ...options, no_program: true });
		if (!(made instanceof Plan))
			throw wrong("plan is not a Plan");
		return Sandbox.#made(used, [[TAG.PLAN, plan_fields(made.data)], ...lease_fields(lease, name)]);
	}

	static async #made(client, fields) {
		const reply = await client.reply(FRAME.CREATE, null, fields);
		const path = STARTS[reply.number(TAG.START)] ?? null, why = reply.text(TAG.START_WHY);
		return new Sandbox(CREATED, client, reply.bytes(TAG.ID).toString("hex"), { path, ...(why ? { why } : {}) });
	}

	#ask(type, fields = []) {
		if (this.destroyed)
			throw wrong("the sandbox is destroyed", "create another one");
		return this.client.reply(type, this.id, fields);
	}

	// Starts a program and returns at once. The limits are those of a run, for the program and its descendants; null:
	// no limit.
	async spawn(argv, { env, more_env, cwd, pty = false, rows = 24, columns = 80, stdin = true, cpu_time, wall_time, output, memory, user, tag,
		drop_unread = false } = {}) {
		if (this.destroyed)
			throw wrong("the sandbox is destroyed", "create another one");
		const flag = (value) => value ? 1 : undefined;
		if (Array.isArray(argv) && argv.length === 0)
			throw wrong("argv is empty", "such as [\"sh\", \"-c\", command]");
		const fields = [...(argv === null ? [] : check_list(argv, "argv")).map((word) => [TAG.ARGV, word]), ...pairs(TAG.ENV, env),
			...pairs(TAG.MORE_ENV, more_env), [TAG.CWD, cwd], [TAG.PTY, flag(pty)], [TAG.ROWS, pty ? rows : undefined],
			[TAG.COLUMNS, pty ? columns : undefined], [TAG.NO_STDIN, flag(!stdin)], [TAG.CPU_MS, limit(cpu_time, ms_of, "cpu_time")],
			[TAG.WALL_MS, limit(wall_time, ms_of, "wall_time")], [TAG.OUTPUT, limit(output, size_of, "output")],
			[TAG.MEMORY, limit(memory ?? undefined, size_of, "memory")], [TAG.USER, user], [TAG.TAG, tag], [TAG.DROP, flag(drop_unread)]];
		return this.client.ask(FRAME.SPAWN, this.id, fields, (type, id, found) =>
			type === FRAME.STARTED ? new Process(this, id, found, pty) : undefined);
	}

	// Starts a helper: one of the functions that docs/protocol.md lists, carried out inside by fumehood's own code.
	async helper(words, user) {
		if (this.destroyed)
			throw wrong("the sandbox is destroyed", "create another one");
		return this.client.ask(FRAME.SPAWN, this.id, [[TAG.HELPER, 1], ...words.map((word) => [TAG.ARGV, word]), [TAG.USER, user]],
			(type, id, found) => type === FRAME.STARTED ? new Process(this, id, found, false) : undefined);
	}

	// Runs a program to its end and collects its output.
	async exec(argv, { input, timeout, signal, on_output, ...options } = {}) {
		if (signal?.aborted)
			throw new CancelledError("the call was cancelled", { code: "cancelled" });
		const process = await this.spawn(argv, { ...options, stdin: input !== undefined && input !== null });
		return process.communicate(input, { timeout, signal, on_output });
	}

	// Writes a small file; `files` writes larger ones, and to other folders.
	async put(name, content, mode = 0o644) {
		const data = bytes_of(content, check_text(name, "name"));
		if (name === "")
			throw wrong("name is empty");
		if (data.length > 8 << 20)
			return this.files.write(name, data, { permissions: mode });
		await this.#ask(FRAME.PUT, [[TAG.FILE, [[TAG.NAME, name], [TAG.MODE, mode], [TAG.CONTENT, data]]]]);
	}

	// A regular file's bytes, reached without following links; a larger one is a LimitError.
	async get(name, max_bytes = 64 << 20) {
		let stream = null, content = null;
		const on_frame = (type, _id, fields) => {
			if (type === FRAME.FILE) {
				stream = this.client.stream(Incoming, fields.bytes(TAG.STREAM));
				content = stream.collect();
				content.catch(() => {});
			}
			return type === FRAME.REPLY ? fields : undefined;
		};
		try {
			await this.client.ask(FRAME.GET, this.id, [[TAG.NAME, check_text(name, "name")], [TAG.MAX_BYTES, max_bytes]], on_frame);
			return await (content ?? Buffer.alloc(0));
		} finally {
			this.client.forget(stream);
		}
	}

	// The processes that are running or ended in the last 30 seconds, the oldest first.
	async processes() {
		return (await this.#ask(FRAME.PROCESSES)).messages(TAG.PROCESS).map((p) => ({ id: p.bytes(TAG.ID).toString("hex"), pid: p.number(TAG.PID),
			uid: p.number(TAG.UID), age: p.number(TAG.AGE_MS) / 1000, tag: p.text(TAG.TAG) ?? "", command: p.text(TAG.COMMAND) ?? "",
			exit: p.has(TAG.EXIT) ? new Exit(p.message(TAG.EXIT)) : null }));
	}

	// A process of this sandbox by its id; its unread output can be read here.
	async attach_process(id) {
		return this.client.ask(FRAME.ATTACH, check_id(id), [], (type, found, fields) =>
			type === FRAME.STARTED ? new Process(this, found, fields, false) : undefined);
	}

	// A TCP connection to a port inside: `read` and `write` are its two directions.
	async connect(port) {
		if (!Number.isInteger(port) || port < 1 || port > 65535)
			throw wrong(`${port} is not a port`);
		return this.files.connect(port);
	}

	async usage() {
		const u = await this.#ask(FRAME.USAGE), paused = u.number(TAG.PAUSED) !== 0;
		// a sandbox that is paused, or full, cannot tell
		const disk = paused ? 0 : await this.files.used_space().catch(() => 0);
		return { at: Date.now() / 1000, age: u.number(TAG.AGE_MS) / 1000, cpu_user_ms: u.number(TAG.CPU_USER_US) / 1000, cpu_sys_ms: u.number(TAG.CPU_SYS_US) / 1000,
			memory: u.number(TAG.MEMORY_NOW), memory_peak: u.number(TAG.MEMORY), memory_limit: u.number(TAG.MEMORY_LIMIT), tasks: u.number(TAG.TASKS),
			disk, disk_limit: u.number(TAG.DISK_LIMIT), cpus: u.number(TAG.CPUS), paused };
	}

	// Stops all processes. Resolves to how: "freezer" or "signals".
	async pause() {
		return ["none", "freezer", "signals"][(await this.#ask(FRAME.PAUSE)).number(TAG.HOW)];
	}

	async resume() {
		await this.#ask(FRAME.RESUME);
	}

	async renew(lease) {
		await this.#ask(FRAME.RENEW, [[TAG.LEASE_MS, ms_of(lease, "lease") || undefined]]);
	}

	// A new sandbox with a copy of all files as they are now, without the processes.
	async branch({ lease = 0, name } = {}) {
		if (this.destroyed)
			throw wrong("the sandbox is destroyed", "create another one");
		const made = await Sandbox.#made(this.client, [[TAG.SANDBOX_ID, Buffer.from(this.id, "hex")], ...lease_fields(lease, name)]);
		try {
			const { folders, user } = await this.#kept();
			if (folders.length)
				await made.files.import_all(this.files.export_all(folders, user), user);
			return made;
		} catch (error) {
			await made.destroy();
			throw error;
		}
	}

	// What a copy of it consists of: its plan, its writable folders, and the user who can read and make all of their files.
	async #kept() {
		const plan = plan_of((await this.#ask(FRAME.DESCRIBE)).message(TAG.PLAN));
		const folders = plan.mounts.filter((mount) => mount.kind === "writable").map((mount) => mount.target);
		return { plan, folders, user: plan.root_capabilities ? "root" : undefined };
	}

	// Writes its plan and all its files to a file (a name or a FileHandle), from which `restore` starts sandboxes. Resolves to how many
	// entries were left out: sockets and what cannot be read.
	async snapshot(file) {
		const { plan, folders, user } = await this.#kept();
		let left_out = 0;
		await write_snapshot(file, plan, this.files.export_all(folders, user, (count) => { left_out = count; }));
		return left_out;
	}

	// A sandbox from a file that `snapshot` wrote, here or in Python.
	static async restore(file, { lease = 0, name, client } = {}) {
		return read_snapshot(file, async (made_from, pieces) => {
			const made = await Sandbox.create(null, { plan: made_from, lease, name, client });
			try {
				await made.files.import_all(pieces, (await made.#kept()).user);
				return made;
			} catch (error) {
				await made.destroy();
				throw error;
			}
		});
	}

	// An interpreter that keeps its state between runs of code: Context. `env` is added to the sandbox's. `shell` (Python): "ipython",
	// "small" (what we bring), or "auto". `preload` (Python) names modules to import first. `start_timeout` in seconds.
	async context(language = "python", options = {}) {
		return Context.make(this, language, options);
	}

	// The contexts that this object made and that still exist, the oldest first.
	contexts() {
		return contexts_of(this);
	}

	// A living sandbox of the client's engine.
	static async attach(id, client) {
		const used = client ?? default_client();
		await used.reply(FRAME.ATTACH, check_id(id));
		return new Sandbox(CREATED, used, id);
	}

	// Kills all processes and resolves when the sandbox is gone. May be called twice.
	async destroy() {
		if (this.destroyed)
			return;
		this.destroyed = true;
		if (!this.client.usable)
			return;
		try {
			await this.client.reply(FRAME.DESTROY, this.id);
		} catch (error) {
			if (!(error instanceof NotFoundError) && this.client.usable)
				throw error;
		}
	}

	async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
		await this.destroy();
	}
}

function lease_fields(lease, name) {
	return [[TAG.LEASE_MS, ms_of(lease, "lease") || undefined], [TAG.NAME, name === undefined ? undefined : check_text(name, "name")]];
}

function check_id(id) {
	if (typeof id !== "string" || !/^[0-9a-f]{32}$/.test(id))
		throw wrong("an id has 32 hexadecimal digits");
	return id;
}

