// SPDX-License-Identifier: MIT
// Snapshots: a sandbox's plan and files in a file, from which others are started. The file is the magic, the size of the plan's
// JSON, the JSON, and what the helper `export` says; the Python package and `fumehood session snapshot` write the same.
import fs from "node:fs/promises";

import { error_of } from "./errors.js";
import { Plan } from "./plan.js";

const MAGIC = Buffer.from("fumehood-snap/1\n"), PLAN_MAX = 16 << 20, PIECE = 256 << 10;

// Calls `work` with an open file: `file` itself, a FileHandle, or the one of that name.
async function opened(file, flags, work) {
	if (typeof file?.write === "function")
		return work(file);
	const handle = await fs.open(file, flags, 0o600);
	try {
		return await work(handle);
	} finally {
		await handle.close();
	}
}

async function write_all(handle, bytes) {
	for (let at = 0; at < bytes.length;)
		at += (await handle.write(bytes, at)).bytesWritten;
}

export function write_snapshot(file, plan, pieces) {
	return opened(file, "w", async (handle) => {
		const json = Buffer.from(JSON.stringify(plan)), size = Buffer.alloc(8);
		size.writeBigUInt64LE(BigInt(json.length));
		await write_all(handle, Buffer.concat([MAGIC, size, json]));
		for await (const piece of pieces)
			await write_all(handle, piece);
	});
}

async function read_exactly(handle, n) {
	const bytes = Buffer.alloc(n);
	for (let have = 0; have < n;) {
		const { bytesRead } = await handle.read(bytes, have, n - have);
		if (!bytesRead)
			throw error_of("config", "this is not a snapshot of fumehood, or only the beginning of one");
		have += bytesRead;
	}
	return bytes;
}

async function* rest(handle) {
	const next = () => handle.read(Buffer.alloc(PIECE), 0, PIECE); // Node 18 reads nothing without a length
	for (let piece = await next(); piece.bytesRead; piece = await next())
		yield piece.buffer.subarray(0, piece.bytesRead);
}

// Calls `make` with the plan and the exported bytes.
export function read_snapshot(file, make) {
	return opened(file, "r", async (handle) => {
		const head = await read_exactly(handle, MAGIC.length + 8), size = Number(head.readBigUInt64LE(MAGIC.length));
		if (!head.subarray(0, MAGIC.length).equals(MAGIC) || size > PLAN_MAX)
			throw error_of("config", "this is not a snapshot of fumehood, or only the beginning of one");
		return make(Plan.from_json((await read_exactly(handle, size)).toString("utf8")), rest(handle));
	});
}
