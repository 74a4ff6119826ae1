// SPDX-License-Identifier: MIT
// Finds the programs: those in the package, those of the checkout that it belongs to, or those on PATH.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { NotFoundError } from "./errors.js";

const PACKAGE = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

function executable(file) {
	try {
		fs.accessSync(file, fs.constants.X_OK);
		return fs.statSync(file).isFile();
	} catch {
		return false;
	}
}

function first(candidates, name, hint) {
	const found = candidates.find((file) => file && executable(file));
	if (!found)
		throw new NotFoundError(`cannot find the program ${name}`, { hint, code: "not_found" });
	return fs.realpathSync(found);
}

export function program() {
	const named = process.env.FUMEHOOD_PROGRAM;
	const folders = (process.env.PATH ?? "").split(":").filter(Boolean);
	return first(named ? [named] : [path.join(PACKAGE, "bundle/bin/fumehood"), path.join(PACKAGE, "../build/fumehood"),
		...folders.map((folder) => path.join(folder, "fumehood"))], "fumehood", "install fumehood, or name it in FUMEHOOD_PROGRAM");
}

export function engine() {
	if (process.env.FUMEHOOD_ENGINE)
		return first([process.env.FUMEHOOD_ENGINE], "fumehood-engine", "FUMEHOOD_ENGINE names none");
	const folder = path.dirname(program());
	return first([path.join(folder, "fumehood-engine"), path.join(folder, "../libexec/fumehood/fumehood-engine")], "fumehood-engine",
		"name it in FUMEHOOD_ENGINE");
}
