// SPDX-License-Identifier: MIT
// Verdicts over lists of samples, by the program `fumehood judge`.
import { spawn } from "node:child_process";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { EngineError, NotFoundError, wrong } from "./errors.js";
import { program } from "./places.js";

// Exit statuses after which the results file is complete; the status for a wrong command line.
const DONE = [0, 3], USAGE = 2;

async function place(records, name, folder) {
	if (typeof records === "string") {
		await fs.access(records).catch(() => {
			throw new NotFoundError(`cannot open ${records}: No such file or directory`, { code: "not_found" });
		});
		return records;
	}
	if (typeof records?.[Symbol.iterator] !== "function")
		throw wrong(`${name} is neither a list nor the path of a file`, "give a list of objects");
	const file = path.join(folder, `${name}.jsonl`);
	await fs.writeFile(file, [...records].map((record) => JSON.stringify(record) + "\n").join(""));
	return file;
}

function judged(words, signal) {
	return new Promise((resolve, reject) => {
		const child = spawn(program(), words, { stdio: ["ignore", "ignore", "pipe"], signal, env: { ...process.env, FUMEHOOD_PARENT: String(process.pid) } });
		const said = [];
		child.stderr.on("data", (piece) => said.push(piece));
		child.on("error", reject);
		child.on("close", (status) => resolve([status, Buffer.concat(said).toString("utf8").trim()]));
	});
}

// Judges each sample ({ task_id, completion }) by its problem's tests, in sandboxes of their own. `problems` and
// `samples` are lists of records, or paths of JSONL files. Resolves to one object for each sample, in their order:
// task_id, index, passed, verdict, reason, … With `results` (a path) the rows are kept there and an interrupted
// judgement resumes; `options` are further options of the command.
export async function judge(problems, samples, { results, jobs, options = [], signal } = {}) {
	const folder = await fs.mkdtemp(path.join(os.tmpdir(), "fumehood-judge-"));
	try {
		const output = results ?? path.join(folder, "results.jsonl");
		const words = ["judge", "--problems", await place(problems, "problems", folder), await place(samples, "samples", folder), "-o", output, "--quiet",
			...options, ...(jobs ? ["-j", String(jobs)] : [])];
		const [status, said] = await judged(words, signal);
		if (!DONE.includes(status)) {
			const lines = said.split("\n"), hint = lines.filter((line) => line.startsWith("hint: ")).map((line) => line.slice(6)).join(" ");
			const message = lines.filter((line) => !line.startsWith("hint: ")).join("\n").replace(/^fumehood: /gm, "").replaceAll(folder + "/", "");
			throw status === USAGE || /^(problems|samples)\.jsonl:/.test(message) ? wrong(message, hint)
				: new EngineError(`fumehood judge: ${message || `ended with status ${status}`}`, { hint, code: "system" });
		}
		const rows = (await fs.readFile(output, "utf8")).split("\n").filter(Boolean).map((line) => JSON.parse(line));
		return rows.sort((a, b) => a.index - b.index);
	} finally {
		await fs.rm(folder, { recursive: true, force: true });
	}
}
