// SPDX-License-Identifier: MIT
// Files of a living sandbox. Helpers, which have the rights of the sandbox's user, read and change them inside. Paths
// are absolute or relative to the working directory; names that come from there are untrusted text.
import os from "node:os";

import { EngineError, NotFoundError, error_of } from "./errors.js";
import { bytes_of, check_text } from "./plan.js";
import { Fields } from "./wire.js";

const DONE = 1, ENTRY = 2, DATA = 3, VALUE = 5, EVENT = 6;
const RECORD_MAX = 256 << 10;
const TYPES = ["regular", "folder", "link", "fifo", "socket", "character", "block"];
const WRITE = 1, CREATE = 2, TRUNCATE = 4, EXCLUSIVE = 8, APPEND = 16, PARENTS = 32, NOFOLLOW = 64;
const MODES = { w: WRITE | CREATE | TRUNCATE, x: WRITE | CREATE | EXCLUSIVE, a: WRITE | CREATE | APPEND, "r+": WRITE };
const ERRNO = Object.fromEntries(Object.entries(os.constants.errno).map(([name, number]) => [number, name]));
// bits of inotify(7)
const KINDS = [[0x4000, "overflow"], [0x8000, "gone"], [0x100, "create"], [0x8, "write"], [0x200, "remove"], [0x40, "rename"], [0x80, "rename"],
	[0x4, "chmod"]];
const FOLDER = 0x40000000, MOVED_TO = 0x80;

// `type`: "regular", "folder", "link", …; times in seconds; `target`: a link's text, or null.
export class FileInfo {
	constructor(fields) {
		this.name = fields.text(3) ?? "";
		this.type = TYPES[fields.number(4)] ?? "regular";
		for (const [tag, name] of [[5, "mode"], [6, "uid"], [7, "gid"], [8, "links"], [9, "size"], [10, "inode"]])
			this[name] = fields.number(tag);
		for (const [tag, name] of [[11, "mtime"], [12, "atime"], [13, "ctime"]])
			this[name] = fields.seconds(tag);
		this.target = fields.text(14) ?? null;
	}
}

// `kind`: "create", "write", "remove", "rename" (`arrived` under this name, or left it; the two share a `cookie`), "chmod",
// "overflow" (events were lost: look again), "gone" (the folder itself: the last).
export class WatchEvent {
	constructor(fields) {
		const mask = fields.number(18);
		this.kind = KINDS.find(([bit]) => mask & bit)?.[1] ?? "write";
		this.name = fields.text(3) ?? "";
		this.folder = (mask & FOLDER) !== 0;
		this.arrived = (mask & MOVED_TO) !== 0;
		this.cookie = fields.number(19);
	}
}

// The records that a helper writes, in order; ends when DONE reports success, with its count.
async function* records(process, what, path, { on_piece, on_done } = {}) {
	const client = process.client;
	let input = Buffer.alloc(0), over = false;
	try {
		for (let piece = await process.read(); piece.length; piece = await process.read()) {
			input = input.length ? Buffer.concat([input, piece]) : piece;
			on_piece?.(piece);
			while (input.length >= 8) {
				const kind = input.readUInt16LE(0), size = input.readUInt32LE(4);
				if (size > RECORD_MAX)
					throw new EngineError("a helper sent a record that is too long", { code: "protocol" });
				if (input.length < 8 + size)
					break;
				const bytes = input.subarray(8, 8 + size);
				input = input.subarray(8 + size);
				if (kind === DONE) {
					const done = new Fields(bytes), errno = done.number(1);
					if (errno)
						throw failure(what, path, errno);
					on_done?.(done.number(2));
					over = true;
				} else {
					yield [kind, bytes];
				}
			}
		}
		if (!over)
			throw new EngineError(`cannot ${what} ${path}: the helper was ended`, { code: "system", retryable: true });
	} finally {
		if (!over)
			process.kill().catch(() => {});
		client.forget(...Object.values(process.streams));
	}
}

function failure(what, path, errno) {
	const name = ERRNO[errno] ?? `errno ${errno}`;
	const code = ["ENOENT", "ENOTDIR"].includes(name) ? "not_found" : ["ENOSPC", "EFBIG", "EDQUOT"].includes(name) ? "limit" : "system";
	return error_of(code, `cannot ${what} ${JSON.stringify(path)}: ${name}`, { phase: "files", errno });
}

const octal = (mode) => String(mode & 0o7777);
const kept = (value) => value === undefined || value === null ? "-" : String(value);
const kept_time = (seconds) => seconds === undefined || seconds === null ? "-" : String(BigInt(Math.round(seconds * 1e6)) * 1000n);

export class Files {
	#sandbox;

	constructor(sandbox) {
		this.#sandbox = sandbox;
	}

	async #do(what, path, words, user, input) {
		for (const word of words)
			check_text(word, what);
		const process = await this.#sandbox.helper(words, user);
		const found = [];
		const reading = (async () => {
			for await (const record of records(process, what, path))
				found.push(record);
		})();
		reading.catch(() => {});
		if (input) {
			await process.write(input);
		}
		process.close_stdin();
		await reading;
		return found;
	}

	async stat(path, { follow = true, user } = {}) {
		const found = await this.#do("look at", path, ["stat", follow ? "0" : "1", path], user);
		const entry = found.find(([kind]) => kind === ENTRY);
		return new FileInfo(new Fields(entry?.[1] ?? Buffer.alloc(0)));
	}

	async exists(path, options = {}) {
		try {
			await this.stat(path, options);
			return true;
		} catch (error) {
			if (error instanceof NotFoundError)
				return false;
			throw error;
		}
	}

	// The entries of a folder, sorted by name; `depth` 0: at all depths.
	async list(path = ".", { depth = 1, user } = {}) {
		const found = await this.#do("list", path, ["list", String(depth), path], user);
		return found.filter(([kind]) => kind === ENTRY).map(([, bytes]) => new FileInfo(new Fields(bytes)))
			.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
	}

	async make_folder(path, { mode = 0o755, parents = true, user } = {}) {
		await this.#do("make the folder", path, ["mkdir", parents ? "1" : "0", octal(mode), path], user);
	}

	async rename(source, target, { user } = {}) {
		await this.#do("rename", source, ["rename", source, target], user);
	}

	// Removes a file. `recursive`: or a folder with its contents; a missing one is then no error.
	async remove(path, { recursive = false, user } = {}) {
		await this.#do("remove", path, ["remove", recursive ? "1" : "0", path], user);
	}

	async link(target, path, { symbolic = true, user } = {}) {
		await this.#do("make the link", path, ["link", symbolic ? "1" : "0", target, path], user);
	}

	async change(path, { mode, uid, gid, size, mtime, atime, follow = true, user } = {}) {
		await this.#do("change", path, ["change", follow ? "0" : "1", mode === undefined ? "-" : octal(mode), kept(uid), kept(gid), kept(size),
			kept_time(mtime), kept_time(atime), path], user);
	}

	async read(path, { offset = 0, length = 0, follow = true, user } = {}) {
		const pieces = [];
		for await (const piece of this.stream(path, { offset, length, follow, user }))
			pieces.push(piece);
		return Buffer.concat(pieces);
	}

	async read_text(path, options) {
		return (await this.read(path, options)).toString("utf8");
	}

	// Reads a file in pieces: `for await (const piece of sandbox.files.stream("large"))`.
	async *stream(path, { offset = 0, length = 0, follow = true, user } = {}) {
		const words = ["read", follow ? "0" : String(NOFOLLOW), String(offset), String(length), check_text(path, "path")];
		const process = await this.#sandbox.helper(words, user);
		process.close_stdin();
		for await (const [kind, bytes] of records(process, "read", path))
			if (kind === DATA)
				yield bytes;
	}

	// Writes a file; missing folders are made, and an existing file is replaced. `mode` is "w", "a", "x" or "r+".
	// `data` may be an (async) iterable of pieces.
	async write(path, data, { permissions = 0o644, mode = "w", offset = 0, follow = true, user } = {}) {
		if (!MODES[mode])
			throw error_of("argument", `a file is written with one of w, a, x and r+, not ${JSON.stringify(mode)}`);
		const flags = MODES[mode] | PARENTS | (follow ? 0 : NOFOLLOW);
		const words = ["write", String(flags), octal(permissions), String(offset), check_text(path, "path")];
		const pieces = typeof data === "string" || data instanceof Uint8Array ? [bytes_of(data, "data")] : data;
		const process = await this.#sandbox.helper(words, user);
		const answered = (async () => {
			for await (const _record of records(process, "write", path))
				;
		})();
		answered.catch(() => {});
		try {
			for await (const piece of pieces)
				await process.write(bytes_of(piece, "data"));
		} catch (error) {
			await process.kill().catch(() => {}); // an error of its source must not leave an incomplete file
			throw error;
		}
		process.close_stdin();
		await answered;
	}

	// The extended attributes of a file, by name.
	async attributes(path, { user } = {}) {
		const values = async (words) => Buffer.concat((await this.#do("look at", path, words, user)).filter(([kind]) => kind === VALUE || kind === DATA)
			.map(([, bytes]) => bytes));
		const names = (await values(["xlist", path])).toString("utf8").split("\0").filter(Boolean);
		const found = {};
		for (const name of names)
			found[name] = await values(["xget", name, path]);
		return found;
	}

	// Sets an extended attribute; null removes it.
	async set_attribute(path, name, value, { user } = {}) {
		if (value === null)
			await this.#do("change", path, ["xremove", name, path], user);
		else
			await this.#do("change", path, ["xset", name, path], user, bytes_of(value, "value"));
	}

	// Watches a folder: `for await (const event of await sandbox.files.watch("."))`. All events after the promise is
	// fulfilled are reported; `return()` (which leaving the loop calls) ends the watch.
	async watch(path = ".", { recursive = false, user } = {}) {
		const process = await this.#sandbox.helper(["watch", recursive ? "1" : "0", check_text(path, "path")], user);
		const found = records(process, "watch", path);
		const first = await found.next(); // an ENTRY that says that the watch has begun
		if (first.done)
			throw new EngineError(`cannot watch ${path}`);
		return (async function* events() {
			try {
				for await (const [kind, bytes] of found)
					if (kind === EVENT)
						yield new WatchEvent(new Fields(bytes));
			} finally {
				process.close_stdin();
			}
		})();
	}

	// Used by Sandbox.usage: the bytes used in the writable folders, which share one file system.
	async used_space() {
		const found = await this.#do("look at", ".", ["space", "."]);
		const fields = new Fields(found.find(([kind]) => kind === ENTRY)?.[1] ?? Buffer.alloc(0));
		return Math.max((fields.number(20) ?? 0) - (fields.number(21) ?? 0), 0);
	}

	// Used by Sandbox.connect.
	async connect(port) {
		const process = await this.#sandbox.helper(["connect", String(port)]);
		let head = Buffer.alloc(0);
		while (head.length < 8 || head.length < 8 + head.readUInt32LE(4)) {
			const piece = await process.read();
			if (!piece.length)
				throw new EngineError(`cannot connect to port ${port}: the helper was ended`, { code: "system", retryable: true });
			head = Buffer.concat([head, piece]);
			if (head.length >= 8 && head.readUInt32LE(4) > RECORD_MAX)
				throw new EngineError("a helper sent a record that is too long", { code: "protocol" });
		}
		const size = head.readUInt32LE(4), errno = new Fields(head.subarray(8, 8 + size)).number(1);
		if (errno)
			throw failure("connect to port", String(port), errno);
		if (head.length > 8 + size)
			process.streams.stdout.pieces.unshift(head.subarray(8 + size));
		return process;
	}

	// All files below folders, as the helper `export` says them. `on_left_out` is called with the number of entries that are not
	// among them.
	async *export_all(folders, user, on_left_out) {
		const out = await this.#sandbox.helper(["export", ...folders], user), pieces = [];
		out.close_stdin();
		for await (const _record of records(out, "export", folders[0], { on_piece: (piece) => pieces.push(piece), on_done: on_left_out }))
			yield* pieces.splice(0);
		yield* pieces;
	}

	// Takes what export_all of another sandbox yields.
	async import_all(pieces, user) {
		const into = await this.#sandbox.helper(["import"], user);
		const imported = (async () => {
			for await (const _record of records(into, "import", "."))
				;
		})();
		imported.catch(() => {});
		for await (const piece of pieces)
			await into.write(piece);
		into.close_stdin();
		await imported;
	}
}
