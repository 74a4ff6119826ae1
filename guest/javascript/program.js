// SPDX-License-Identifier: MIT
// Loads a program's text for a caller of its functions (split_candidate.js, judge.js, call.js), in each of the forms in which
// people write a single file of JavaScript:
//
//   a script in sloppy mode, as `node FILE` runs it, with module.exports, exports and require available
//   with a return at the top level: the body of a function, as Node makes it of a CommonJS module
//   with import, export, or await at the top level: an ES module, from which Node's own modules can be imported
//   in TypeScript, where this Node can remove types (22.13 and later); otherwise the error says so
//
// Returns a function that looks up a name at the program's top level and otherwise among its exports. An anonymous function
// that is the only export is found under any name. For an ES module, a promise of that function is returned.
const loadProgram = (program, require, filename) => {
	const vm = require('vm');
	const module_ = { exports: {} };
	const { getOwnPropertyDescriptor, defineProperty, entries } = Object;
	const define = (key, value) => defineProperty(globalThis, key, { value, writable: true, configurable: true, enumerable: false });
	for (const [key, value] of entries({ require, module: module_, exports: module_.exports,
		__filename: filename, __dirname: filename.slice(0, filename.lastIndexOf('/')) || '/' })) define(key, value);

	// Code that runs after the program uses nothing that the program may have replaced: no iterator, no array method.
	const Missing = ReferenceError;
	const isNamed = (f, name) => {
		const own = typeof f === 'function' ? getOwnPropertyDescriptor(f, 'name') : undefined;
		return own !== undefined && (own.value === '' || own.value === 'default' || own.value === name);
	};
	const finder = (look, space) => (name) => {
		let found, error;
		try {
			found = look(name);
		} catch (e) {
			if (!(e instanceof Missing)) throw e;
			error = e;
		}
		const exporting = { 0: module_.exports, 1: space, 2: space === undefined ? undefined : space.default };
		for (let i = 0; found === undefined && i < 3; i++) {
			const from = exporting[i];
			if (from === null || (typeof from !== 'object' && typeof from !== 'function')) continue;
			found = from[name];
			if (found === undefined && isNamed(from, name)) found = from;
		}
		if (found === undefined && error !== undefined) throw error;
		return found;
	};

	const asModule = async (text, reason) => {
		// A module that comes as a data: URL is told where its file would be, so that it can make a require of it.
		const meta = JSON.stringify({ url: require('url').pathToFileURL(filename).href, filename, dirname: globalThis.__dirname });
		const module = `Object.assign(import.meta, ${meta});${text.replace(/^#!/, '//')}\n;export const fhProgramLook = (fhProgramName) => eval(fhProgramName);\n//# sourceURL=${filename}\n`;
		let space;
		try {
			space = await import(`data:text/javascript;base64,${Buffer.from(module).toString('base64')}`);
		} catch (e) {
			throw e instanceof SyntaxError && !/^\s*(import\s*[\w{*'"]|export\s)/m.test(text) ? reason : e;
		}
		return finder(space.fhProgramLook, space);
	};
	// import() in a script; older versions of Node cannot without an option.
	const importModuleDynamically = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
	const compiled = (text) => {
		try {
			const script = new vm.Script(text, { filename, importModuleDynamically });
			return () => {
				script.runInThisContext();
				return finder(vm.runInThisContext);
			};
		} catch (e) {
			if (e.message.includes('Illegal return')) {
				let look;
				const leak = `fhProgramLook((fhProgramName) => eval(fhProgramName));`;
				const f = vm.compileFunction(leak + text, ['fhProgramLook'], { filename, importModuleDynamically });
				return () => {
					f((found) => { look = found; });
					return finder(look);
				};
			}
			if (/\b(import|export|await)\b/.test(text)) return () => asModule(text, e);
			throw e;
		}
	};

	const typed = new RegExp('^\\s*(export\\s+)?(declare\\s+)?(interface|enum|namespace|abstract\\s+class|type)\\s+[\\w$]+\\s*([=<{]|extends\\b)|' +
		'[\\w$)\\]}?]\\s*:\\s*(readonly\\s+)?(number|string|boolean|any|void|unknown|never|object|bigint|[A-Z][\\w$.]*)\\b|\\bas\\s+(const|any|unknown|number|string)\\b', 'm');
	// The program without its types, if it may be TypeScript; throws the error that it met as JavaScript.
	const withoutTypes = (error) => {
		if (!(error instanceof SyntaxError) || !typed.test(program)) throw error;
		const { stripTypeScriptTypes } = require('module');
		if (stripTypeScriptTypes === undefined) {
			error.message += ` (it looks like TypeScript, which this Node, ${process.version}, does not run; 22.13 and later do)`;
			throw error;
		}
		try {
			return stripTypeScriptTypes(program, { mode: 'transform' });
		} catch {
			throw error;
		}
	};
	let run;
	try {
		run = compiled(program);
	} catch (e) {
		run = compiled(withoutTypes(e));
	}
	const found = run();
	return typeof found === 'function' ? found : found.catch((e) => compiled(withoutTypes(e))());
};

// Makes a program's names global, for a test or an expression outside of it, and returns them.
const publishProgram = (program, require, look) => {
	const { runInThisContext } = require('vm');
	const declared = /^[ \t]*(?:export[ \t]+(?:default[ \t]+)?)?(?:async[ \t]+)?(?:function[ \t]*\*?|class|const|let|var)[ \t]+([\w$]+)/gm;
	const names = new Set([...program.matchAll(declared)].map((match) => match[1]));
	const { exports } = globalThis.module;
	if (exports !== null && (typeof exports === 'object' || typeof exports === 'function'))
		for (const name of Object.keys(exports)) names.add(name);
	if (typeof exports === 'function') names.add(exports.name);
	const isGlobal = (name) => {
		if (!/^[A-Za-z_$][\w$]*$/.test(name)) return false;
		try {
			if (runInThisContext(`typeof ${name}`) !== 'undefined') return true;
			const value = look(name);
			if (value !== undefined) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
			return value !== undefined;
		} catch {
			return false; // the name is not declared at the program's top level
		}
	};
	return [...names].filter(isGlobal);
};
