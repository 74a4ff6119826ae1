// SPDX-License-Identifier: MIT
// The result of a run: the fields of `fumehood run --json`, with bytes where these can be any.
import os from "node:os";

import { ENFORCED, LAYERS, LIMITS, LIMIT_UNITS, STARTS, STATUSES, TAG } from "./wire.js";

const SIGNALS = Object.fromEntries(Object.entries(os.constants.signals).map(([name, number]) => [number, name]));

export function fired_of(bits) {
	return LIMITS.filter((_name, index) => bits >> index & 1);
}

export function usage_of(exit) {
	const user = exit.number(TAG.CPU_USER_US), system = exit.number(TAG.CPU_SYS_US);
	return { cpu_ms: (user + system) / 1000, cpu_user_ms: user / 1000, cpu_sys_ms: system / 1000, wall_ms: exit.number(TAG.WALL_US) / 1000,
		memory_peak_bytes: exit.number(TAG.MEMORY), processes_peak: exit.number(TAG.PROCESSES),
		memory_baseline_bytes: exit.number(TAG.MEMORY_BASELINE) };
}

function reasons(fields) {
	return Object.fromEntries(fields.messages(TAG.LAYER_MISSING).map((m) => [LAYERS[m.number(TAG.KIND)], m.text(TAG.MESSAGE)]));
}

function isolation_of(fields) {
	const bits = fields.number(TAG.LAYERS), missing = reasons(fields);
	return Object.fromEntries(LAYERS.map((name, index) => [name, bits >> index & 1 ? true : missing[name] ?? "not known: nothing ran"]));
}

export function limits_of(limits, fields) {
	const enforced = Object.fromEntries((fields?.messages(TAG.ENFORCED) ?? []).map((m) => [m.number(TAG.KIND), ENFORCED[m.number(TAG.STATUS)]]));
	return Object.fromEntries(LIMITS.map((name, index) => [name, {
		value: name === "cpu_rate" && !limits[name] ? null : limits[name] ?? null, unit: LIMIT_UNITS[index], enforced: enforced[index] ?? "none",
	}]));
}

// `status` is "ok", "runtime_error", "compile_error", "cpu_time_limit", … as everywhere. `exit_code` is null when a signal ended it
// (`signal`, by name). `stdout` and `stderr` are the exact bytes (Buffer); `text` is stdout as text.
export class Result {
	constructor(fields) {
		Object.assign(this, fields);
	}

	get ok() {
		return this.status === "ok";
	}

	get text() {
		return this.stdout.toString("utf8");
	}

	static of(fields, plan, stdout, stderr, files) {
		const exit = fields.message(TAG.EXIT), start = STARTS[fields.number(TAG.START)] ?? null, why = fields.text(TAG.START_WHY);
		return new Result({
			status: STATUSES[exit.number(TAG.STATUS)] ?? "engine_error",
			exit_code: exit.has(TAG.EXIT_CODE) ? exit.number(TAG.EXIT_CODE) : null,
			signal: exit.number(TAG.SIGNAL) ? SIGNALS[exit.number(TAG.SIGNAL)] ?? `SIG${exit.number(TAG.SIGNAL)}` : null,
			stdout: stdout.bytes, stdout_truncated: stdout.truncated, stderr: stderr.bytes, stderr_truncated: stderr.truncated,
			usage: usage_of(exit), isolation: isolation_of(fields), limits: limits_of(plan.limits, fields), fired: fired_of(exit.number(TAG.FIRED)),
			image: { kind: plan.image ? "directory" : "host", path: plan.image ?? null, identity: plan.image_identity ?? null },
			files, start: { path: start, ...(why ? { why } : {}) },
		});
	}
}
