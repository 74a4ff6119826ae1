// SPDX-License-Identifier: MIT
// Compiles the test of a problem, for both ways of judging JavaScript. The names that it tests are global already.
//
// A test is the body of a function with `console` and `require`, or, if it has import, export or await at its top level, an ES
// module. A file beside it that it names is the program, whatever the file's name: `require('./solution')`, `from '../add.js'`.
//
// A test that uses expect() or describe() as those for Jest do gets what it counts on (expect.js), where it defines none itself.
//
// Returns a function that takes the console and runs the test; of a module it returns a promise.
const compileTest = (() => {
	const { compileFunction, runInThisContext } = require('vm');
	const bytes = Buffer.from.bind(Buffer);
	const isBeside = (name) => /^\.{1,2}\//.test(name);
	const isRunner = (name) => /^(vitest|@jest\/globals)$/.test(name);
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
	const runnerModule = () => moduleOf(Object.keys(testGlobals.get()));
	const offerGlobals = (test, names) => {
		if (!/(?<![.\w$])(expect|describe|it|test)(\.\w+)?\s*\(/.test(test)) return;
		for (const [name, value] of Object.entries(testGlobals.get()))
			if (!names.includes(name) && !(name in globalThis))
				Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
	};
	return (test, names, require) => {
		offerGlobals(test, names);
		try {
			const run = compileFunction(test, ['console', 'require'], { filename: 'test.js' });
			const found = Object.assign((name) =>
				(isBeside(name) ? programOf(names) : isRunner(name) ? testGlobals.get() : require(name)), require);
			return (testConsole) => {
				run(testConsole, found);
			};
		} catch (e) {
			if (!(e instanceof SyntaxError) || !/\b(import|export|await)\b/.test(test)) throw e;
		}
		const imports = /(\bfrom\s*|^\s*import\s*)(['"])([^'"\n]*)\2/gm;
		const found = (all, before, _, name) =>
			(isBeside(name) ? `${before}'${moduleOf(names)}'` : isRunner(name) ? `${before}'${runnerModule()}'` : all);
		const text = url(`${test.replace(imports, found)}\n//# sourceURL=test.js\n`);
		return (testConsole) => {
			Object.defineProperty(globalThis, 'console', { value: testConsole, writable: false, configurable: false });
			return import(text);
		};
	};
})();
