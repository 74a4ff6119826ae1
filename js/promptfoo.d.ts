// SPDX-License-Identifier: MIT
/** What promptfoo passes to an assertion, as far as it is read here. */
export interface AssertionContext {
	vars?: Record<string, unknown>;
	/** The fields of a `code` or `sandbox` assertion (docs/code-check.md), and its `type`; `code` when it says none. */
	config?: { type?: "code" | "sandbox"; [field: string]: unknown };
}

export interface GradingResult {
	pass: boolean;
	score: number;
	reason: string;
	metadata: Record<string, unknown>;
}

/** The assertion. It throws when the config is wrong, or no verdict is possible here. */
export default function check(output: unknown, context: AssertionContext): Promise<GradingResult>;
