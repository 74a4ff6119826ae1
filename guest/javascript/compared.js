// SPDX-License-Identifier: MIT
// The test of a `code` assertion whose calls are compared with literals: src/eval/assertions/code/code_comparison.c puts this text
// in front of a call of compared. `candidate` is the stand-in for the answer's function, so that each call is made in the
// program's sandbox, and each comparison here.
const compared = (name, candidate, cases) => {
	for (const [expression, wanted] of cases) {
		const got = new Function(name, `return (${expression}\n);`)(candidate);
		console.assert(got === wanted, `call ${expression.slice(0, 200)}: expected ${wanted}, got ${got}`);
	}
};
