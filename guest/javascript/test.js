// SPDX-License-Identifier: MIT
// Compiles the test of a problem, for both ways of judging JavaScript. The names that it tests are global already.
//
// A test is the body of a function with `console` and `require`, or, if it has import, export or await at its top level, an ES
// module. A file beside it that it names is the program, whatever the file's name: `require('./solution')`, `from '../add.js'`.
//
// Returns a function that takes the console and runs the test; of a module it returns a promise.
const compileTest = (() => {
	const { compileFunction, runInThisContext } = require('vm');
	const bytes = Buffer.from.bind(Buffer);
	const isBeside = (name) => /^\.{1,2}\//.test(name);
	// One that exports its first function, and all by their names.
	const programOf = (names) => {
		const exported = (...values) => runInThisContext(names[0])(...values);
		for (const name of names)
			Object.defineProperty(exported, name, { value: runInThisContext(name), enumerable: true });
		return exported;
	};
	const url = (text) => `data:text/javascript;base64,${bytes(text).toString('base64')}`;
	const moduleOf = (names) => {
		const exports = names.map((name, i) => `const value${i} = ${name};\nexport { value${i} as ${name} };\n`);
		return url(`${exports.join('')}export default value0;\n`);
	};
	return (test, names, require) => {
		try {
			const run = compileFunction(test, ['console', 'require'], { filename: 'test.js' });
			const found = Object.assign((name) => (isBeside(name) ? programOf(names) : require(name)), require);
			return (testConsole) => {
				run(testConsole, found);
			};
		} catch (e) {
			if (!(e instanceof SyntaxError) || !/\b(import|export|await)\b/.test(test)) throw e;
		}
		const imports = /(\bfrom\s*|^\s*import\s*)(['"])\.{1,2}\/[^'"\n]*\2/gm;
		const text = url(`${test.replace(imports, (_, before) => `${before}'${moduleOf(names)}'`)}\n//# sourceURL=test.js\n`);
		return (testConsole) => {
			Object.defineProperty(globalThis, 'console', { value: testConsole, writable: false, configurable: false });
			return import(text);
		};
	};
})();
