// SPDX-License-Identifier: MIT
// What became of a run in a code context: its values, its error, its output, collected from the events of the driver.

// The names of results by MIME type, as in Display; other types are in `extra`.
const NAMES = {
	"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpeg",
	"application/pdf": "pdf", "text/latex": "latex", "application/json": "json", "application/javascript": "javascript",
	"application/vnd.fumehood.data+json": "data", "application/vnd.fumehood.chart+json": "chart",
};

export const text_of = (value) => typeof value === "string" ? value : "";
export const object_of = (value) => typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

// A value that the code showed, in each form that it has: `text`, `html`, `png` (base64), `json`, `data`, `chart` and the like; forms
// that it does not have are null. `main` says whether it is the value of the code itself; `mime` has all by their MIME type.
export class Display {
	constructor(mime, metadata, main, display_id) {
		Object.assign(this, { mime, metadata, main, display_id });
	}

	get extra() {
		return Object.fromEntries(Object.entries(this.mime).filter(([mime]) => !Object.hasOwn(NAMES, mime)));
	}

	// Names of the forms that it has.
	formats() {
		return Object.keys(this.mime).map((mime) => Object.hasOwn(NAMES, mime) ? NAMES[mime] : mime);
	}

	// The bytes of "png", "jpeg" or "pdf".
	image(kind = "png") {
		return typeof this[kind] === "string" ? Buffer.from(this[kind], "base64") : null;
	}
}
for (const [mime, name] of Object.entries(NAMES))
	Object.defineProperty(Display.prototype, name, { get() { return Object.hasOwn(this.mime, mime) ? this.mime[mime] : null; } });

// An exception of the code: three texts.
export class CodeError {
	constructor(name, value, traceback) {
		Object.assign(this, { name, value, traceback });
	}
}

// What became of a run. `status`: "ok", "failed" (the code raised: `error`), "timeout", "interrupted", "output_limit", "ended" (its
// interpreter ended). `state_lost`: the variables are gone, for the reason in `message`; the next run starts another
// interpreter, and says so by `restarted`.
export class Execution {
	constructor() {
		Object.assign(this, { status: "ended", count: 0, results: [], stdout: "", stderr: "", error: null, state_lost: false, restarted: false,
			message: "" });
	}

	get ok() {
		return this.status === "ok";
	}

	// The value of the code, or null.
	get result() {
		return this.results.findLast((display) => display.main) ?? null;
	}

	get text() {
		return this.result?.text ?? null;
	}
}

// Collects events into an Execution.
export class Collector {
	constructor() {
		this.execution = new Execution();
		this.clearing = false;
	}

	take(event) {
		const { execution } = this;
		if (event.type === "stdout" || event.type === "stderr") {
			this.#clear_now();
			execution[event.type] += text_of(event.text);
		} else if (event.type === "result" || event.type === "display") {
			this.#clear_now();
			this.#display(event);
		} else if (event.type === "clear") {
			this.clearing = true;
			if (!event.wait)
				this.#clear_now();
		} else if (event.type === "error") {
			execution.error = new CodeError(text_of(event.name), text_of(event.value), text_of(event.traceback));
		}
	}

	#display(event) {
		const { results } = this.execution;
		const display = new Display(object_of(event.data), object_of(event.metadata), event.type === "result",
			typeof event.display_id === "string" ? event.display_id : null);
		if (event.update !== true)
			results.push(display);
		else
			for (const [place, shown] of results.entries())
				if (shown.display_id === display.display_id)
					results[place] = display;
	}

	#clear_now() {
		if (this.clearing)
			Object.assign(this.execution, { results: [], stdout: "", stderr: "" });
		this.clearing = false;
	}
}
