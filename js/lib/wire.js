// SPDX-License-Identifier: MIT
// Frames and fields of the protocol (docs/protocol.md).
import { FumehoodError } from "./errors.js";

export const MAGIC = Buffer.from("\nfumehood-frames/1\n");
export const PAYLOAD_MAX = 16 << 20, HEADER = 32, BANNER_MAX = 64 << 10, DATA_MAX = 64 << 10;

export const FRAME = {
	HELLO: 1, DATA: 2, CREDIT: 3, RUN: 16, CREATE: 17, DESTROY: 18, RENEW: 19, SPAWN: 20, WAIT: 21, SIGNAL: 22, RESIZE: 23, ATTACH: 24,
	PUT: 25, GET: 26, LIST: 27, CANCEL: 28, PROCESSES: 29, USAGE: 30, PAUSE: 31, RESUME: 32, DESCRIBE: 33, REPLY: 48, ERROR: 49, STARTED: 50,
	EXIT: 51, RESULT: 52, FILE: 53,
};
export const TAG = {
	VERSION: 1, PROGRAM: 2, PID: 3, OFFSET: 16, PLAN: 17, STDIN_OPEN: 18, WINDOW: 19, LEASE_MS: 20, ARGV: 21, ENV: 22, CWD: 23, PTY: 24,
	ROWS: 25, COLUMNS: 26, NO_STDIN: 27, WALL_MS: 28, CPU_MS: 29, OUTPUT: 30, TIMEOUT_MS: 31, SIGNAL: 32, FILE: 33, NAME: 34, MAX_BYTES: 35,
	MODE: 36, CONTENT: 37, USER: 45, TAG: 46, HELPER: 47, DROP: 48, TREE: 49, MORE_ENV: 50, WHOLE: 51, INTO: 52, ID: 64, STREAM: 65, KIND: 66, SANDBOX_ID: 67,
	CODE: 80, PHASE: 81, SYS: 82, RETRYABLE: 83, MESSAGE: 84, HINT: 85, EXIT: 96, STATUS: 97, EXIT_CODE: 98, FIRED: 99, CPU_USER_US: 100,
	CPU_SYS_US: 101, WALL_US: 102, MEMORY: 103, PROCESSES: 104, OUT: 105, SIZE: 106, REFUSED: 107, LAYERS: 108, LAYER_MISSING: 109,
	ENFORCED: 110, AGE_MS: 128, COMMAND: 131, COUNT: 132, PROCESS: 133, PAUSED: 134, HOW: 136, UID: 137, MEMORY_NOW: 138, MEMORY_LIMIT: 139,
	TASKS: 140, CPUS: 141, DISK_LIMIT: 142, START: 144, START_WHY: 145, MEMORY_BASELINE: 146,
};
export const UNLIMITED = 2n ** 64n - 1n;

export const STATUSES = ["ok", "runtime_error", "compile_error", "cpu_time_limit", "wall_time_limit", "memory_limit", "output_limit", "disk_limit",
	"process_limit", "blocked", "engine_error"];
export const LIMITS = ["cpu_time", "wall_time", "memory", "processes", "cpu_rate", "output", "file_size", "disk", "open_files"];
export const LIMIT_UNITS = ["ms", "ms", "bytes", "tasks", "milli-cpus", "bytes", "bytes", "bytes", "files"];
export const LAYERS = ["user", "pid", "mount", "network", "ipc", "uts", "cgroup", "no_new_privs", "capabilities", "seccomp", "landlock", "proc", "inodes"];
export const STARTS = [null, "fresh", "zygote", "parked"];
export const ENFORCED = ["none", "bounded", "exact"];

// A message is a list of [tag, value]; a value is a number, a bigint, text, bytes, or a message. Fields whose value is
// undefined or null are left out.
export function encode_fields(fields) {
	const parts = [];
	for (const [tag, value] of fields) {
		if (value === undefined || value === null)
			continue;
		const body = encode_value(value);
		const head = Buffer.alloc(8);
		head.writeUInt16LE(tag, 0);
		head.writeUInt32LE(body.length, 4);
		parts.push(head, body);
	}
	return Buffer.concat(parts);
}

function encode_value(value) {
	if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
		const body = Buffer.alloc(8);
		body.writeBigUInt64LE(BigInt(value));
		return body;
	}
	if (typeof value === "string")
		return Buffer.from(value, "utf8");
	return Array.isArray(value) ? encode_fields(value) : Buffer.from(value);
}

// The fields of a received message, by tag.
export class Fields {
	constructor(bytes) {
		this.list = [];
		for (let at = 0; at < bytes.length;) {
			const size = bytes.length - at >= 8 ? bytes.readUInt32LE(at + 4) : Infinity;
			if (size > bytes.length - at - 8)
				throw new FumehoodError("the engine sent a message that is cut off", { code: "protocol" });
			this.list.push([bytes.readUInt16LE(at), bytes.subarray(at + 8, at + 8 + size)]);
			at += 8 + size;
		}
	}

	bytes(tag) {
		return this.list.find(([found]) => found === tag)?.[1];
	}

	has(tag) {
		return this.bytes(tag) !== undefined;
	}

	// 2^64 - 1 means "no limit" and becomes null.
	number(tag, otherwise = 0) {
		const bytes = this.bytes(tag);
		if (bytes === undefined || bytes.length !== 8)
			return otherwise;
		const value = bytes.readBigUInt64LE();
		return value === UNLIMITED ? null : Number(value);
	}

	// A time: nanoseconds on the wire, here in seconds. Split, since today's date in nanoseconds is beyond what a number holds.
	seconds(tag) {
		const bytes = this.bytes(tag), time = bytes?.length === 8 ? bytes.readBigInt64LE() : 0n;
		return Number(time / 1000000000n) + Number(time % 1000000000n) / 1e9;
	}

	text(tag) {
		return this.bytes(tag)?.toString("utf8");
	}

	message(tag) {
		return new Fields(this.bytes(tag) ?? Buffer.alloc(0));
	}

	every(tag) {
		return this.list.filter(([found]) => found === tag).map(([, bytes]) => bytes);
	}

	messages(tag) {
		return this.every(tag).map((bytes) => new Fields(bytes));
	}
}

export function frame(type, request, id, payload, flags = 0) {
	const head = Buffer.alloc(HEADER);
	head.writeUInt32LE(payload.length, 0);
	head.writeUInt16LE(type, 4);
	head.writeUInt16LE(flags, 6);
	head.writeBigUInt64LE(BigInt(request), 8);
	if (id)
		Buffer.from(id, "hex").copy(head, 16);
	return Buffer.concat([head, payload]);
}
