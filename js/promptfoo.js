// SPDX-License-Identifier: MIT
// The `code` and `sandbox` assertions of `fumehood eval` for promptfoo itself: `type: javascript`, `value: file://…/promptfoo.js`.
//
// The fields stand in the assertion's `config` (docs/code-check.md), with `type: sandbox` for that one. In their strings `{{name}}`
// and `{{name.member}}` stand for the test's variables. What fumehood/promptfoo.py does for Python.
import { spawn } from "node:child_process";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { EngineError, wrong } from "./lib/errors.js";
import { program } from "./lib/places.js";

const VARIABLE = /\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}/g, WHOLE = new RegExp(`^${VARIABLE.source}$`);
const TYPES = ["code", "sandbox"];

const isMapping = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const mapped = (value, each) => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, each(item)]));
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function valueOf(name, variables) {
	return name.split(".").reduce((found, part) => {
		if (!isMapping(found) || !Object.hasOwn(found, part)) throw wrong(`there is no variable {{${name}}}`, "it is one of the test's vars");
		return found[part];
	}, variables);
}

// The value as a template that renders as the value itself, whatever braces it contains.
function literal(value) {
	if (typeof value === "string") return value.replaceAll("{", '{{"{"}}');
	if (Array.isArray(value)) return value.map(literal);
	return isMapping(value) ? mapped(value, literal) : value;
}

// A field with its variables filled in; a string that is one variable takes its value with its type.
function filled(field, variables) {
	if (Array.isArray(field)) return field.map((item) => filled(item, variables));
	if (isMapping(field)) return mapped(field, (item) => filled(item, variables));
	if (typeof field !== "string") return field;
	const whole = WHOLE.exec(field);
	return whole ? valueOf(whole[1], variables) : field.replace(VARIABLE, (_, name) => textOf(valueOf(name, variables)));
}

function configOf(output, context) {
	const { type = "code", ...fields } = context.config ?? {};
	if (!TYPES.includes(type)) throw wrong(`config.type is ${JSON.stringify(type)}`, "it is code or sandbox");
	return {
		prompts: [{ raw: literal(textOf(output)), label: "answer" }],
		providers: ["echo"],
		tests: [{ assert: [{ type, value: literal(filled(fields, context.vars ?? {})) }] }],
	};
}

function evaluated(words) {
	return new Promise((resolve, reject) => {
		const child = spawn(program(), words, { stdio: ["ignore", "ignore", "pipe"] }), said = [];
		child.stderr.on("data", (piece) => said.push(piece));
		child.on("error", reject);
		child.on("close", (status) => resolve([status, Buffer.concat(said).toString("utf8").trim()]));
	});
}

// promptfoo calls this: { pass, score, reason, metadata }. It throws when the config is wrong, or no verdict is
// possible here.
export default async function check(output, context) {
	const folder = await fs.mkdtemp(path.join(os.tmpdir(), "fumehood-"));
	try {
		const config = path.join(folder, "config.json"), results = path.join(folder, "results.json");
		await fs.writeFile(config, JSON.stringify(configOf(output, context)));
		const [status, said] = await evaluated(["eval", "-c", config, "--no-write", "--no-cache", "--no-table", "--no-progress-bar", "-o", results]);
		const text = await fs.readFile(results, "utf8").catch(() => undefined);
		if (text === undefined) throw wrong(said.replaceAll(config, "config") || `fumehood eval ended with status ${status}`, "");
		const row = JSON.parse(text).results.results[0];
		if (!row.gradingResult) throw new EngineError(row.error ?? said, { code: "system" });
		const [{ pass, score, reason, metadata = {} }] = row.gradingResult.componentResults;
		return { pass, score, reason, metadata };
	} finally {
		await fs.rm(folder, { recursive: true, force: true });
	}
}
