// SPDX-License-Identifier: MIT
// The driver of a JavaScript or TypeScript context in Node, behind the relay: requests on descriptor 3, events on 4.
//
// Code is evaluated in V8's mode for consoles (by the inspector, in this process): with `await` at the top level, with `let`,
// `const` and `class` that may be declared again, and with the value of the last statement.
'use strict';
const fs = require('fs');
const inspector = require('inspector');
const path = require('path');
const util = require('util');
const vm = require('vm');
const {createRequire} = require('module');

const EVENT_MAX = 24 << 20, ITEMS_MAX = 50000;
const MARK = Symbol.for('Jupyter.display');
const options = FILES.options || {};
const real = {writeSync: fs.writeSync, stringify: JSON.stringify, parse: JSON.parse};

function say(event) {
  let line = Buffer.from(real.stringify(event) + '\n');
  if (line.length > EVENT_MAX) {
    const data = event.data || {}, omitted = {};
    for (const mime of Object.keys(data)) {
      const size = Buffer.byteLength(real.stringify(data[mime]) || '');
      if (size >= EVENT_MAX / 16) {
        omitted[mime] = size;
        delete data[mime];
      }
    }
    line = Buffer.from(real.stringify({type: event.type, name: event.name, value: '', data, omitted}) + '\n');
  }
  for (let at = 0; at < line.length;) at += real.writeSync(4, line, at);
}

// ---- values

function plain(value, budget = {left: ITEMS_MAX}, depth = 0) {
  if (--budget.left < 0 || depth > 60) throw new RangeError('too much');
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  if (Array.isArray(value)) return value.map((item) => plain(item, budget, depth + 1));
  const prototype = typeof value === 'object' ? Object.getPrototypeOf(value) : 0;
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('no plain value');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, budget, depth + 1)]));
}

// The forms of a value by MIME type. Objects may define them themselves, as in Deno's notebooks.
async function bundle(value) {
  if (value !== null && typeof value === 'object' && typeof value[MARK] === 'function') {
    const data = await value[MARK]();
    if (data && typeof data === 'object') return portable(data);
  }
  const data = {'text/plain': util.inspect(value, {colors: false})};
  if (value !== null && typeof value === 'object') {
    try {
      data['application/json'] = plain(value);
    } catch {
      // not representable in JSON
    }
  }
  return data;
}

function portable(data) {
  const out = {};
  for (const [mime, item] of Object.entries(data))
    if (item !== undefined && item !== null) out[mime] = item instanceof Uint8Array ? Buffer.from(item).toString('base64') : item;
  return out;
}

let lastDisplay = 0;
async function display(value, more = {}) {
  const data = more.raw ? portable(value) : await bundle(value);
  const event = {type: 'display', data, metadata: more.metadata || {}};
  if (more.display_id !== undefined) event.display_id = String(more.display_id === true ? `display-${++lastDisplay}` : more.display_id);
  if (more.update) event.update = true;
  say(event);
}
const show = (mime) => (data) => say({type: 'display', data: portable({[mime]: data}), metadata: {}});
Object.assign(display, {html: show('text/html'), markdown: show('text/markdown'), svg: show('image/svg+xml'), png: show('image/png'),
  jpeg: show('image/jpeg'), latex: show('text/latex'), json: show('application/json'), text: show('text/plain'),
  clear: (wait = false) => say({type: 'clear', wait: Boolean(wait)})});

// An error that code prints, or gives as its value, has no frames of the driver's either.
Error.prepareStackTrace = (error, frames) => {
  const ours = frames.findIndex((frame) => frame.getFileName() === 'node:inspector' && frame.getFunctionName() === 'post');
  let head;
  try {
    head = Error.prototype.toString.call(error);
  } catch {
    head = 'an error that cannot be shown';
  }
  return [head, ...(ours > 0 ? frames.slice(0, ours) : frames)].join('\n    at ');
};

const isError = (value) => value !== null && typeof value === 'object' && 'stack' in value;

// The stack of an error, and of those that it names as its cause or holds, without frames of the driver's: these are from
// the inspector's call on.
function traceOf(error, depth = 0) {
  const lines = String(error.stack).split('\n');
  const ours = lines.findIndex((line) => /^ {4}at (Session\.post|new Script|wrapSafe|evaluate) /.test(line));
  const told = ours > 0 ? lines.slice(0, ours) : lines, inner = isError(error.cause) ? [['cause', error.cause]] : [];
  if (Array.isArray(error.errors)) error.errors.slice(0, 5).filter(isError).forEach((one, i) => inner.push([`errors ${i}`, one]));
  for (const [word, one] of depth < 3 ? inner : [])
    told.push(...`[${word}]: ${traceOf(one, depth + 1)}`.split('\n').map((line) => `  ${line}`));
  return told.join('\n');
}

function sayError(error) {
  let name = 'Error', value, trace;
  try {
    if (isError(error)) {
      name = String(error.name || 'Error');
      value = String(error.message);
      trace = traceOf(error);
    } else {
      value = trace = util.inspect(error);
    }
  } catch {
    value = trace = 'an error that cannot be shown';
  }
  say({type: 'error', name, value, traceback: trace});
}

// ---- imports: a cell is a script, so `import` becomes `await import()`

const NAME = '[A-Za-z_$][\\w$]*';
const STATIC = new RegExp(`^([ \\t]*)import\\s+(?:(type\\s+)?(?:(${NAME})\\s*,?\\s*)?(?:\\*\\s*as\\s+(${NAME})|\\{([^}]*)\\})?\\s*from\\s*)?` +
  `(['"])([^'"\\n]+)\\6[ \\t]*(?:(?:with|assert)\\s*\\{[^}]*\\}[ \\t]*)?;?`, 'gm');

// Positions within strings, comments or template literals, where nothing is replaced.
function quoted(code) {
  const spans = [];
  let at = 0;
  const until = (end, from) => {
    const found = code.indexOf(end, from);
    return found < 0 ? code.length : found + end.length;
  };
  while (at < code.length) {
    const from = at, c = code[at];
    if (code.startsWith('//', at)) at = until('\n', at);
    else if (code.startsWith('/*', at)) at = until('*/', at + 2);
    else if (c === '"' || c === "'" || c === '`') {
      for (at++; at < code.length && code[at] !== c && (c === '`' || code[at] !== '\n');) at += code[at] === '\\' ? 2 : 1;
      at++;
    } else {
      at++;
      continue;
    }
    spans.push([from, at]);
  }
  return spans;
}

const EXPORT = new RegExp('^([ \\t]*)export\\s+(?:default\\s+(?!(?:async\\s+)?function\\s*\\*?\\s*\\(|class\\s*\\{)|' +
  '(?=(?:async|function|class|const|let|var)\\b)|\\{[^}]*\\}(?:\\s*from\\s*(["\'])[^"\'\\n]+\\2)?[ \\t]*;?)', 'gm');

// What a module exports is in a cell what it declares.
function withoutExports(code) {
  if (!code.includes('export')) return code;
  const spans = quoted(code), inside = (at) => spans.some(([from, to]) => at > from && at < to);
  return code.replace(EXPORT, (whole, indent, _quote, at) => inside(at + indent.length) ? whole : indent);
}

function withImports(code) {
  if (!code.includes('import')) return code;
  let spans = quoted(code);
  const inside = (at) => spans.some(([from, to]) => at > from && at < to);
  code = code.replace(STATIC, (whole, indent, type, main, all, some, _quote, from, at) => {
    if (inside(at + indent.length + 1)) return whole;
    if (type) return indent;
    const call = `await __import(${JSON.stringify(from)})`, names = [];
    if (main) names.push(`default: ${main}`);
    if (some) for (const one of some.split(',')) if (one.trim()) names.push(one.trim().replace(/\s+as\s+/, ': '));
    if (all) return `${indent}var ${all} = ${call};${main ? ` var {default: ${main}} = ${all};` : ''}`;
    return names.length ? `${indent}var {${names.join(', ')}} = ${call};` : `${indent}${call};`;
  });
  spans = quoted(code);
  return code.replace(/(^|[^\w$.])import(\s*\()/g, (whole, before, open, at) =>
    inside(at + before.length) ? whole : `${before}__import${open}`);
}

const from = () => createRequire(path.join(process.cwd(), 'cell.js'));
const GLOBAL = ['/usr/local/lib/node_modules', '/usr/lib/node_modules', '/usr/share/nodejs',
  path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules')]; // where packages are that were installed for all
function resolve(name) {
  try {
    return from().resolve(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    for (const root of GLOBAL) {
      try {
        return from().resolve(path.join(root, name));
      } catch {
        // not there either
      }
    }
    throw error;
  }
}
async function importHere(name) {
  const {pathToFileURL} = require('url');
  name = name.replace(/^npm:((?:@[^/@]+\/)?[^/@]+)(?:@[^/]+)?/, '$1'); // as Deno writes a package's name, with its version
  if (/^(\.{0,2}\/)/.test(name)) return import(pathToFileURL(path.resolve(process.cwd(), name)).href);
  try {
    return await import(name.startsWith('node:') || require('module').builtinModules.includes(name) || /^\w+:/.test(name) ? name :
      pathToFileURL(resolve(name)).href);
  } catch (error) {
    if (error && error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return import(name);
    throw error;
  }
}

// ---- TypeScript: by Node's own removal of types, else by a compiler in the sandbox

function typescript() {
  const {stripTypeScriptTypes} = require('module');
  if (stripTypeScriptTypes) {
    const warn = process.emitWarning;
    return ['node', (code) => {
      process.emitWarning = () => {};
      try {
        return stripTypeScriptTypes(code, {mode: 'transform'});
      } finally {
        process.emitWarning = warn;
      }
    }];
  }
  const roots = [process.cwd(), ...(process.env.NODE_PATH || '').split(':').filter(Boolean), ...GLOBAL];
  const find = (name) => {
    try {
      return from()(from().resolve(name, {paths: roots.flatMap((root) => [root, path.join(root, 'x')])}));
    } catch {
      for (const root of roots) {
        try {
          return require(path.join(root, name));
        } catch {
          // not installed either
        }
      }
      return null;
    }
  };
  const esbuild = find('esbuild');
  if (esbuild) return ['esbuild', (code) => esbuild.transformSync(code, {loader: 'ts', target: 'esnext',
    tsconfigRaw: {compilerOptions: {verbatimModuleSyntax: true}}}).code];
  const ts = find('typescript');
  if (ts) {
    return ['typescript', (code) => ts.transpileModule(code, {compilerOptions: {target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, isolatedModules: true}}).outputText.replace(/^export \{\};\s*$/m, '')];
  }
  return null;
}

// ---- runs

const session = new inspector.Session();
session.connect();
let current = null; // rejects the current run
let early = false;  // an interrupt came while nothing ran: late for the last run, or early for the next
let taken;

function evaluate(code, name) {
  return new Promise((resolve, reject) => {
    current = reject;
    const finish = (error, answer) => {
      if (error) return reject(Object.assign(new Error(error.message || String(error)), {name: 'InternalError'}));
      const value = (remote) => {
        if (remote.unserializableValue !== undefined || remote.objectId === undefined) {
          if (remote.type === 'undefined') return undefined;
          if (remote.type === 'bigint') return BigInt(remote.unserializableValue.slice(0, -1));
          return remote.unserializableValue !== undefined ? Number(remote.unserializableValue) : remote.value;
        }
        session.post('Runtime.callFunctionOn', {objectId: remote.objectId, arguments: [{objectId: remote.objectId}],
          functionDeclaration: 'function(value) { process.__fumehood(value) }'}, () => {});
        const got = taken;
        taken = undefined;
        return got;
      };
      if (answer.exceptionDetails) reject(value(answer.exceptionDetails.exception || {type: 'undefined'}));
      else resolve({value: value(answer.result)});
    };
    process.__evaluate = () => session.post('Runtime.evaluate', {expression: `${code}\n//# sourceURL=${name}`, replMode: true,
      awaitPromise: true, objectGroup: 'cell'}, finish);
    try {
      go.runInThisContext({breakOnSigint: true});
    } catch (error) {
      reject(error);
    }
  });
}
const go = new vm.Script('process.__evaluate()');
for (const name of ['__evaluate', '__fumehood'])
  Object.defineProperty(process, name, {enumerable: false, configurable: true, writable: true, value: (value) => { taken = value; }});

function interrupted() {
  return Object.assign(new Error(''), {name: 'KeyboardInterrupt', stack: 'KeyboardInterrupt'});
}
process.on('SIGINT', () => {
  if (current) current(interrupted());
  else early = true;
});
process.on('uncaughtException', (error) => {
  if (error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') return;
  process.stderr.write(`Uncaught ${util.inspect(error)}\n`);
});
process.on('unhandledRejection', (error) => process.stderr.write(`Uncaught (in promise) ${util.inspect(error)}\n`));

// A cell that is an object and nothing else is a value, not a block, as in Node's own prompt.
function asObject(code) {
  const text = String(code).trim();
  if (!text.startsWith('{') || !text.endsWith('}')) return code;
  try {
    new vm.Script(`(${text}\n)`);
    return `(${text}\n)`;
  } catch {
    return code;
  }
}

let strip = null;
async function run(request) {
  const before = {}, env = request.env || {};
  let status = 'ok';
  for (const name of Object.keys(env)) {
    before[name] = process.env[name];
    process.env[name] = env[name];
  }
  try {
    if (early && !request.late_interrupt) throw interrupted();
    const cell = asObject(request.code), code = strip ? strip(cell) : cell;
    const {value} = await evaluate(withImports(withoutExports(code)), `Cell[${request.count || 0}]`);
    current = null;
    if (value !== undefined && !request.silent && !/;\s*$/.test('')) {
      globalThis._ = value;
      say({type: 'result', count: request.count, data: await bundle(value), metadata: {}});
    }
  } catch (error) {
    status = 'error';
    sayError(error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? interrupted() : error);
  }
  current = null;
  early = false;
  session.post('Runtime.releaseObjectGroup', {objectGroup: 'cell'});
  for (const name of Object.keys(env)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  say({type: 'end', id: request.id, status});
}

function complete(request) {
  const match = /([\w$.]*)$/.exec(request.code || '');
  const parts = match[1].split('.'), last = parts.pop();
  let names = Object.getOwnPropertyNames(globalThis);
  try {
    if (parts.length) {
      const value = vm.runInThisContext(parts.join('.'));
      for (names = []; value; ) {
        for (let o = Object(value); o; o = Object.getPrototypeOf(o)) names.push(...Object.getOwnPropertyNames(o));
        break;
      }
    }
  } catch {
    names = [];
  }
  const matches = [...new Set(names)].filter((name) => name.startsWith(last)).slice(0, 500)
    .map((name) => [...parts, name].join('.'));
  say({type: 'end', id: request.id, status: 'ok', matches});
}

Object.assign(process.env, options.env || {});
let version = process.version;
if (options.language === 'typescript' || options.language === 'deno') {
  const found = typescript() || (options.language === 'deno' && ['nothing', (code) => code]);
  if (!found) {
    process.stderr.write('');
    say({type: 'refused', why: `TypeScript needs Node 22.13 or later (this is ${version}), or the package typescript or esbuild in the sandbox`});
    process.exit(3);
  }
  strip = found[1];
  version += `, types by ${found[0]}`;
}
Object.assign(globalThis, {display, __import: importHere});
for (const name of ['display', '__import']) Object.defineProperty(globalThis, name, {enumerable: false, configurable: true, writable: true});
Object.defineProperty(globalThis, 'require', {configurable: true, enumerable: false, writable: true,
  value: Object.assign((name) => from()(name), {resolve: (...a) => from().resolve(...a), cache: require.cache})});
for (const [name, value] of Object.entries({module: {exports: {}}, exports: {}, __filename: 'cell.js', __dirname: process.cwd()}))
  Object.defineProperty(globalThis, name, {configurable: true, enumerable: false, writable: true, value});
for (const name of require('module').builtinModules) {
  if (/^_|\//.test(name) || name in globalThis) continue;
  Object.defineProperty(globalThis, name, {configurable: true, enumerable: false, get: () => require(name),
    set: (value) => Object.defineProperty(globalThis, name, {configurable: true, writable: true, enumerable: true, value})});
}
if (options.language === 'deno') new Function('require', 'display', FILES['javascript_deno.js'])(require, display);

let unread = '', last = Promise.resolve();
const {StringDecoder} = require('string_decoder');
const decoder = new StringDecoder('utf8');
const net = require('net');
let requests;
try {
  requests = new net.Socket({fd: 3, readable: true, writable: false});
} catch {
  requests = fs.createReadStream(null, {fd: 3});
}
requests.on('data', (data) => {
  unread += decoder.write(data);
  for (let end; (end = unread.indexOf('\n')) >= 0;) {
    const request = real.parse(unread.slice(0, end));
    unread = unread.slice(end + 1);
    last = last.then(() => (request.op === 'run' ? run(request) : request.op === 'complete' ? complete(request) :
      say({type: 'end', id: request.id, status: 'refused'})));
  }
});
requests.on('end', () => process.exit(0));
requests.on('error', () => process.exit(0));
say({type: 'ready', protocol: 1, pid: process.pid, shell: options.language in {typescript: 1, deno: 1} ? options.language : 'node', version});
