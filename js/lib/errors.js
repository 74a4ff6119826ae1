// SPDX-License-Identifier: MIT
// Exceptions. What the code in a sandbox does is never an exception but a result; an exception means that the run did
// not take place as asked.

// The base class: `message` says what happened, `hint` how to mend it (may be empty), `code` is the class of error in
// the words of C and JSON, `phase` the step of a request in which it happened, `retryable` whether the same request may
// succeed later.
export class FumehoodError extends Error {
	constructor(message, { hint = "", code = "bug", phase = "none", retryable = false, errno = null } = {}) {
		super(hint ? `${message} (${hint})` : message);
		this.name = this.constructor.name;
		Object.assign(this, { reason: message, hint, code, phase, retryable, errno });
	}
}
export class ArgumentError extends FumehoodError {}
export class NotFoundError extends FumehoodError {}
export class LimitError extends FumehoodError {}
export class TimeoutError extends FumehoodError {}
export class CancelledError extends FumehoodError {}
export class UnavailableError extends FumehoodError {}
export class EngineError extends FumehoodError {}

// Indexed by the numbers in docs/protocol.md.
export const CODES = ["ok", "argument", "config", "not_found", "system", "limit", "protocol", "timeout", "cancelled", "unavailable", "bug"];
export const PHASES = ["none", "connect", "plan", "create", "files", "spawn", "run", "destroy"];
const CLASSES = {
	argument: ArgumentError, config: ArgumentError, not_found: NotFoundError, limit: LimitError, timeout: TimeoutError,
	cancelled: CancelledError, unavailable: UnavailableError,
};

export function error_of(code, message, options = {}) {
	return new (CLASSES[code] ?? EngineError)(message, { code, ...options });
}

export function wrong(message, hint = "") {
	return new ArgumentError(message, { hint, code: "argument" });
}
