// SPDX-License-Identifier: MIT
// The names of Deno that cells of its notebooks use, over Node's: no permissions are asked for, as the sandbox has them all.
'use strict';
const fs = require('fs'), os = require('os'), util = require('util');

const errors = {};
for (const [name, code] of Object.entries({NotFound: 'ENOENT', PermissionDenied: 'EACCES', AlreadyExists: 'EEXIST'}))
  errors[name] = class extends Error {
    static [Symbol.hasInstance](error) {
      return Boolean(error) && error.code === code;
    }
  };
const stat = (s) => ({isFile: s.isFile(), isDirectory: s.isDirectory(), isSymlink: s.isSymbolicLink(), size: s.size, mtime: s.mtime, mode: s.mode});
const entry = (e) => ({name: e.name, isFile: e.isFile(), isDirectory: e.isDirectory(), isSymlink: e.isSymbolicLink()});
const Deno = {
  args: [], pid: process.pid, version: {deno: '2.0.0', v8: process.versions.v8, typescript: '5.0.0'}, errors,
  build: {os: process.platform, arch: {x64: 'x86_64', arm64: 'aarch64'}[process.arch] || process.arch},
  cwd: () => process.cwd(), chdir: (to) => process.chdir(to), exit: (status) => process.exit(status), hostname: () => os.hostname(),
  inspect: (value, o = {}) => util.inspect(value, {colors: false, ...o}), noColor: true, execPath: () => process.execPath,
  env: {get: (name) => process.env[name], set: (name, value) => { process.env[name] = value; }, has: (name) => name in process.env,
    delete: (name) => { delete process.env[name]; }, toObject: () => ({...process.env})},
  readTextFileSync: (file) => fs.readFileSync(file, 'utf8'), readFileSync: (file) => new Uint8Array(fs.readFileSync(file)),
  writeTextFileSync: (file, content, o = {}) => fs.writeFileSync(file, content, {flag: o.append ? 'a' : 'w'}),
  writeFileSync: (file, content, o = {}) => fs.writeFileSync(file, content, {flag: o.append ? 'a' : 'w'}),
  mkdirSync: (folder, o = {}) => { fs.mkdirSync(folder, o); }, removeSync: (file, o = {}) => fs.rmSync(file, o),
  renameSync: (from, to) => fs.renameSync(from, to), copyFileSync: (from, to) => fs.copyFileSync(from, to),
  statSync: (file) => stat(fs.statSync(file)), lstatSync: (file) => stat(fs.lstatSync(file)),
  realPathSync: (file) => fs.realpathSync(file), makeTempDirSync: () => fs.mkdtempSync(os.tmpdir() + '/'),
  readDirSync: (folder) => fs.readdirSync(folder, {withFileTypes: true}).map(entry)[Symbol.iterator](),
  async *readDir(folder) {
    yield* Deno.readDirSync(folder);
  },
  stdout: {writeSync: (bytes) => fs.writeSync(1, bytes), write: async (bytes) => fs.writeSync(1, bytes)},
  stderr: {writeSync: (bytes) => fs.writeSync(2, bytes), write: async (bytes) => fs.writeSync(2, bytes)},
  jupyter: {$display: Symbol.for('Jupyter.display'), display: (value, o) => display(value, o), html: (parts, ...values) => form('text/html', parts, values),
    md: (parts, ...values) => form('text/markdown', parts, values), svg: (parts, ...values) => form('image/svg+xml', parts, values)},
};
const form = (mime, parts, values) => ({[Symbol.for('Jupyter.display')]: () => ({[mime]: String.raw({raw: parts}, ...values)})});
for (const name of Object.keys(Deno))
  if (name.endsWith('Sync') && name !== 'readDirSync') Deno[name.slice(0, -4)] = async (...a) => Deno[name](...a);
Object.defineProperty(globalThis, 'Deno', {configurable: true, enumerable: false, writable: true, value: Deno});
