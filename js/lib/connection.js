// SPDX-License-Identifier: MIT
// The connection to an engine: requests and their answers, streams and their credit (docs/protocol.md).
import { spawn } from "node:child_process";

import { CODES, CancelledError, EngineError, FumehoodError, PHASES, error_of, wrong } from "./errors.js";
import { engine } from "./places.js";
import { BANNER_MAX, DATA_MAX, FRAME, Fields, HEADER, MAGIC, PAYLOAD_MAX, TAG, encode_fields, frame } from "./wire.js";

const END = 1, TRUNCATED = 2, TAKEN_OVER = 4, WINDOW = 256 << 10;

// Bytes from the engine. A piece is credited when a reader takes it, so a slow reader stalls only its own stream.
export class Incoming {
	constructor(client, id, window, offset) {
		Object.assign(this, { client, id, window, next: offset, consumed: offset, ended: false, truncated: false });
		this.pieces = [];
		this.waiting = [];
	}

	take_frame(offset, bytes, flags) {
		if (offset !== this.next || this.ended || this.next + bytes.length - this.consumed > this.window)
			throw new FumehoodError("the engine sent bytes that do not belong to their stream", { code: "protocol" });
		this.next += bytes.length;
		if (bytes.length)
			this.pieces.push(bytes);
		this.ended ||= (flags & END) !== 0;
		this.truncated ||= (flags & TRUNCATED) !== 0;
		if (flags & TAKEN_OVER)
			this.take_over();
		this.wake();
	}

	// From here on somebody else reads: another client, or this one, which has attached again.
	take_over() {
		this.taken_over = true;
		this.fail(new CancelledError("somebody else has attached to this process and reads its output now",
			{ code: "cancelled", hint: "attach to it again to take it back: what was not read yet is kept" }));
	}

	wake() {
		const waiting = this.waiting;
		this.waiting = [];
		for (const go_on of waiting)
			go_on();
	}

	fail(error) {
		this.error ??= error;
		this.wake();
	}

	// The next bytes, at most `most` of them; an empty buffer at the end of the stream.
	async read(most = Infinity) {
		while (!this.pieces.length) {
			if (this.ended)
				return Buffer.alloc(0);
			if (this.error)
				throw this.error;
			await this.client.busy(new Promise((resolve) => this.waiting.push(resolve)));
		}
		let piece = this.pieces.shift();
		if (piece.length > most) {
			this.pieces.unshift(piece.subarray(most));
			piece = piece.subarray(0, most);
		}
		this.consumed += piece.length;
		if (!this.ended && !this.taken_over && !this.client.over)
			this.client.send(FRAME.CREDIT, 0, this.id, encode_fields([[TAG.OFFSET, this.consumed]]));
		return piece;
	}

	async collect(on_piece) {
		const pieces = [];
		for (let piece = await this.read(); piece.length; piece = await this.read()) {
			pieces.push(piece);
			on_piece?.(piece);
		}
		return Buffer.concat(pieces);
	}
}

// A program's stdin.
export class Outgoing {
	constructor(client, id, window, offset) {
		Object.assign(this, { client, id, window, sent: offset, credited: offset, ended: false });
		this.waiting = [];
	}

	credit(offset) {
		this.credited = Math.max(this.credited, Math.min(offset, this.sent));
		this.wake();
	}

	// The program has ended: later writes are dropped.
	end_by_engine() {
		this.ended = true;
		this.wake();
	}

	wake() {
		const waiting = this.waiting;
		this.waiting = [];
		for (const go_on of waiting)
			go_on();
	}

	fail() {
		this.end_by_engine();
	}

	async write(bytes) {
		for (let at = 0; at < bytes.length && !this.ended;) {
			const room = Math.min(this.window - (this.sent - this.credited), DATA_MAX, bytes.length - at);
			if (room <= 0) {
				await this.client.busy(new Promise((resolve) => this.waiting.push(resolve)));
				continue;
			}
			this.client.send_data(this, bytes.subarray(at, at + room), 0);
			at += room;
		}
	}

	close() {
		if (!this.ended)
			this.client.send_data(this, Buffer.alloc(0), END);
		this.ended = true;
	}
}

// A connection to an engine of its own. The engine ends with this process, even if that is killed, and ends all
// sandboxes.
export class Client {
	constructor() {
		this.over = null; // why the connection is unusable; null: it is usable
		this.next_request = 1;
		this.requests = new Map();
		this.streams = new Map();
		this.greeted = false;
		this.input = Buffer.alloc(0);
		this.pending = 0;
		const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
		for (const [name, value] of Object.entries(process.env))
			if (name.startsWith("FUMEHOOD_") || name === "XDG_RUNTIME_DIR")
				env[name] = value;
		// a session of its own, so that a terminal's Ctrl-C does not reach the engine: it ends when our pipe is closed
		this.child = spawn(engine(), [], { stdio: ["pipe", "pipe", "inherit"], env, cwd: "/", detached: true });
		this.child.on("error", (error) => this.lose(new EngineError(`cannot start the engine: ${error.message}`, { code: "system" })));
		this.child.stdout.on("data", (bytes) => this.take(bytes));
		this.child.stdout.on("close", () => this.lose(new EngineError("the engine has ended", { code: "system", retryable: true })));
		this.child.stdin.on("error", () => {}); // stdout tells when the engine has ended
		this.child.unref();
		this.idle();
		this.child.stdin.write(Buffer.concat([MAGIC, frame(FRAME.HELLO, 0, null, encode_fields([[TAG.VERSION, 1], [TAG.PROGRAM, "fumehood.js"],
			[TAG.PID, process.pid]]))]));
	}

	// Keeps Node's event loop alive while a promise is pending, and only then.
	async busy(promise) {
		if (this.pending++ === 0)
			this.child.stdout.ref?.();
		try {
			return await promise;
		} finally {
			if (--this.pending === 0)
				this.idle();
		}
	}

	idle() {
		this.child.stdout.unref?.();
		this.child.stdin.unref?.();
	}

	get usable() {
		return !this.over;
	}

	send(type, request, id, payload, flags = 0) {
		if (this.over)
			throw this.over;
		this.child.stdin.write(frame(type, request, id, payload, flags));
	}

	send_data(stream, bytes, flags) {
		const offset = Buffer.alloc(8);
		offset.writeBigUInt64LE(BigInt(stream.sent));
		stream.sent += bytes.length;
		this.send(FRAME.DATA, 0, stream.id, Buffer.concat([offset, bytes]), flags);
	}

	// Sends a request. `on_frame(type, id, fields)` gets every frame of the answer; the request is over when it returns
	// a value other than undefined. An ERROR rejects. `signal` (AbortSignal) cancels the request.
	async ask(type, id, fields, on_frame, signal) {
		if (signal?.aborted)
			throw new CancelledError("the call was cancelled", { code: "cancelled" });
		const payload = encode_fields(fields);
		if (payload.length > PAYLOAD_MAX)
			throw wrong("the request is larger than 16 MiB", "write large files with files.write");
		const request = this.next_request++;
		const stop = () => this.over || this.send(FRAME.CANCEL, request, null, Buffer.alloc(0));
		const answered = new Promise((resolve, reject) => this.requests.set(request, { on_frame, resolve, reject }));
		try {
			this.send(type, request, id, payload);
			signal?.addEventListener("abort", stop, { once: true });
			return await this.busy(answered);
		} finally {
			this.requests.delete(request);
			signal?.removeEventListener("abort", stop);
		}
	}

	// Sends a request that is answered by one REPLY; resolves to its fields.
	reply(type, id, fields = [], signal = undefined) {
		return this.ask(type, id, fields, (answer, _id, found) => answer === FRAME.REPLY ? found : undefined, signal);
	}

	// The streams that a STARTED announces, by kind: stdin, stdout, stderr.
	announce(fields) {
		const streams = {};
		for (const stream of fields.messages(TAG.STREAM)) {
			const name = ["stdin", "stdout", "stderr"][stream.number(TAG.KIND)];
			if (name)
				streams[name] = this.stream(name === "stdin" ? Outgoing : Incoming, stream.bytes(TAG.ID), stream.number(TAG.WINDOW, WINDOW),
					stream.number(TAG.OFFSET));
		}
		return streams;
	}

	stream(Kind, id, window = WINDOW, offset = 0) {
		const hex = (id ?? Buffer.alloc(16)).toString("hex");
		const made = new Kind(this, hex, window, offset);
		this.streams.get(hex)?.take_over?.();
		this.streams.set(hex, made);
		return made;
	}

	forget(...streams) {
		for (const stream of streams)
			if (stream && this.streams.get(stream.id) === stream)
				this.streams.delete(stream.id);
	}

	take(bytes) {
		this.input = this.input.length ? Buffer.concat([this.input, bytes]) : bytes;
		try {
			if (this.greeted || this.greeting())
				while (this.next_frame())
					;
		} catch (error) {
			this.lose(error);
			this.child.stdin.destroy();
		}
	}

	greeting() {
		const at = this.input.indexOf(MAGIC);
		if (at < 0) {
			if (this.input.length > BANNER_MAX)
				throw new EngineError("the engine did not greet", { code: "protocol" });
			return false;
		}
		this.input = this.input.subarray(at + MAGIC.length);
		return (this.greeted = true);
	}

	next_frame() {
		if (this.input.length < HEADER)
			return false;
		const size = this.input.readUInt32LE(0);
		if (size > PAYLOAD_MAX)
			throw new EngineError("the engine sent a frame that is too long", { code: "protocol" });
		if (this.input.length < HEADER + size)
			return false;
		const type = this.input.readUInt16LE(4), flags = this.input.readUInt16LE(6), request = Number(this.input.readBigUInt64LE(8));
		const id = this.input.toString("hex", 16, 32), payload = this.input.subarray(HEADER, HEADER + size);
		this.input = this.input.subarray(HEADER + size);
		this.dispatch(type, flags, request, id, payload);
		return true;
	}

	dispatch(type, flags, request, id, payload) {
		if (type === FRAME.DATA) {
			const stream = this.streams.get(id);
			if (stream instanceof Outgoing)
				stream.end_by_engine();
			else if (payload.length >= 8)
				stream?.take_frame(Number(payload.readBigUInt64LE()), payload.subarray(8), flags);
			return;
		}
		const fields = new Fields(payload);
		if (type === FRAME.CREDIT)
			return void this.streams.get(id)?.credit?.(fields.number(TAG.OFFSET));
		if (type === FRAME.ERROR) {
			const error = error_of(CODES[fields.number(TAG.CODE)] ?? "bug", fields.text(TAG.MESSAGE) ?? "", {
				hint: fields.text(TAG.HINT) ?? "", phase: PHASES[fields.number(TAG.PHASE)] ?? "none",
				retryable: fields.number(TAG.RETRYABLE) !== 0, errno: fields.number(TAG.SYS) || null,
			});
			if (!request)
				throw error;
			return void this.requests.get(request)?.reject(error);
		}
		const waiting = this.requests.get(request);
		const answer = waiting?.on_frame(type, id, fields);
		if (answer !== undefined)
			waiting.resolve(answer);
	}

	lose(error) {
		if (this.over)
			return;
		this.over = error;
		for (const { reject } of this.requests.values())
			reject(error);
		for (const stream of this.streams.values())
			stream.fail(error);
	}

	// Ends the engine and every sandbox of this client; pending calls are rejected. May be called twice.
	close() {
		this.lose(new CancelledError("the client was closed during the call", { code: "cancelled" }));
		this.child.stdin.end();
		this.child.stdout.destroy();
	}
}

let shared = null;

// The client of calls that name none; a new one is opened when its engine has ended.
export function default_client() {
	if (!shared?.usable)
		shared = new Client();
	return shared;
}
