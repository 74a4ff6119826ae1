// SPDX-License-Identifier: MIT
// One run: create, spawn, wait, destroy, in one request.
import { spawn } from "node:child_process";
import fs from "node:fs";

import { default_client } from "./connection.js";
import { wrong } from "./errors.js";
import { Incoming } from "./connection.js";
import { program } from "./places.js";
import { Plan, called, plan, plan_fields } from "./plan.js";
import { Result, limits_of } from "./result.js";
import { FRAME, TAG } from "./wire.js";

const PREPARED = "/opt/fumehood/prepared";

async function collected(stream, name, on_output) {
	if (!stream)
		return { bytes: Buffer.alloc(0), truncated: false };
	const bytes = await stream.collect(on_output && ((piece) => on_output(name, piece)));
	return { bytes, truncated: stream.truncated };
}

async function execute(client, data, { on_output, signal }, more) {
	const streams = [], files = new Map();
	let stdout = null, stderr = null, failed = null;
	// an exception of a callback ends the run, and is thrown afterwards
	const stop = new AbortController();
	const cancel = () => stop.abort();
	const later = [];
	const fail = (error) => {
		failed ??= { error };
		cancel();
	};
	const guarded = on_output && ((name, piece) => {
		if (failed)
			return;
		try {
			const answer = on_output(name, piece);
			if (typeof answer?.then === "function") // an async function fails by its promise
				later.push(answer.then(() => {}, fail));
		} catch (error) {
			fail(error);
		}
	});
	signal?.addEventListener("abort", cancel, { once: true });
	if (signal?.aborted)
		cancel();

	function on_frame(type, _id, fields) {
		if (type === FRAME.STARTED) {
			const found = client.announce(fields);
			streams.push(...Object.values(found));
			stdout = collected(found.stdout, "stdout", guarded);
			stderr = collected(found.stderr, "stderr", guarded);
			stdout.catch(() => {});
			stderr.catch(() => {});
		} else if (type === FRAME.FILE) {
			const stream = client.stream(Incoming, fields.bytes(TAG.STREAM));
			streams.push(stream);
			const content = stream.collect();
			content.catch(() => {});
			files.set(fields.number(TAG.COUNT), content);
		} else if (type === FRAME.RESULT) {
			return fields;
		}
		return undefined;
	}

	try {
		const fields = await client.ask(FRAME.RUN, null, [[TAG.PLAN, plan_fields(data, more)]], on_frame, stop.signal);
		const nothing = { bytes: Buffer.alloc(0), truncated: false };
		const outs = {};
		for (const [index, out] of fields.messages(TAG.OUT).entries()) {
			const name = data.outs[index] ?? out.text(TAG.NAME), refused = out.text(TAG.REFUSED);
			outs[name] = refused !== undefined ? { data: null, size: null, refused }
				: { data: await (files.get(index) ?? Buffer.alloc(0)), size: out.number(TAG.SIZE), refused: null };
		}
		const result = Result.of(fields, data, await (stdout ?? nothing), await (stderr ?? nothing), outs);
		await Promise.all(later);
		if (failed)
			throw failed.error;
		return result;
	} catch (error) {
		throw failed ? failed.error : error;
	} finally {
		client.forget(...streams);
		signal?.removeEventListener("abort", cancel);
	}
}

// Has the program fumehood compile something once: the first compilation prepares what all later ones use (a standard
// library).
async function prepare(data) {
	if (data.mounts.every((mount) => mount.target !== PREPARED || fs.existsSync(mount.source)))
		return;
	await new Promise((resolve) => {
		const child = spawn(program(), ["run", "--plan", "-"], { stdio: ["pipe", "ignore", "ignore"] });
		child.on("error", resolve);
		child.on("close", resolve);
		child.stdin.on("error", () => {});
		child.stdin.end(JSON.stringify(data));
	});
}

function compile_error(compiled, data) {
	const lines = compiled.fired.map((name) =>
		`the compiler reached its ${name} limit of ${compiled.limits[name].value} ${compiled.limits[name].unit}`);
	if (compiled.signal)
		lines.push(`the compiler was ended by ${compiled.signal}`);
	if (compiled.ok)
		lines.push(`the compiler left no program: ${Object.values(compiled.files)[0]?.refused ?? "?"}`);
	const said = compiled.stderr.length && compiled.stderr.at(-1) !== 10 ? "\n" : "";
	const stderr = Buffer.concat([compiled.stderr, Buffer.from(said + lines.map((line) => line + "\n").join(""))]);
	return new Result({ ...compiled, status: "compile_error", exit_code: null, signal: null, fired: [], stderr, files: {},
		limits: limits_of(data.limits, null) });
}

// Runs a plan.
export async function run_plan(made, { client, on_output, signal } = {}) {
	if (!(made instanceof Plan))
		throw wrong("run_plan takes a Plan", "from plan() or Plan.from_json()");
	const used = client ?? default_client(), data = made.data;
	if (!data.compile)
		return execute(used, data, { on_output, signal });
	await prepare(data);
	const compiled = await execute(used, data.compile, { signal });
	const artifact = compiled.files[data.artifact];
	if (!compiled.ok || !artifact?.data)
		return compile_error(compiled, data);
	return execute(used, data, { on_output, signal }, { name: data.artifact, data: artifact.data });
}

// Runs a program in a fresh sandbox. `run(code, language, options)`, or `run(undefined, { argv: [...] })`.
export async function run(code, language, options) {
	[language, options] = called(language, options);
	return run_plan(await plan(code, language, options), options);
}
