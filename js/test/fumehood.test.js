// SPDX-License-Identifier: MIT
// Tests of the package against a built fumehood: node --test, run by tests/cli/packages/test_javascript.py.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import * as fumehood from "../index.js";
import { Incoming } from "../lib/connection.js";
import { plan_fields, plan_of } from "../lib/plan.js";
import { Fields, encode_fields } from "../lib/wire.js";

const problem = { task_id: "T/0", prompt: "def double(x):\n", entry_point: "double", canonical_solution: "    return 2 * x\n",
	test: "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n" };

test("a run has output, status, usage and the isolation that the kernel told", async () => {
	const result = await fumehood.run("import sys; print(6 * 7); print('ü', file=sys.stderr)");
	assert.deepEqual([result.status, result.ok, result.exit_code, result.signal, result.text], ["ok", true, 0, null, "42\n"]);
	assert.equal(result.stderr.toString(), "ü\n");
	assert.equal(result.isolation.pid, true);
	assert.ok(result.usage.wall_ms > 0);
	assert.equal(result.limits.wall_time.value, 30000);
});

test("stdin, arguments, environment and files go in, files come out", async () => {
	const code = "import os, sys\nprint(sys.stdin.read(), sys.argv[1], os.environ['A'], open('in').read())\nopen('out', 'wb').write(bytes([0, 255]))";
	const result = await fumehood.run(code, "python", { stdin: "typed", args: ["arg"], env: { A: "env" }, files: { in: ["file", 0o600] },
		outs: ["out", "none"] });
	assert.equal(result.text, "typed arg env file\n");
	assert.deepEqual([...result.files.out.data], [0, 255]);
	assert.ok(result.files.none.refused);
});

test("what a program does wrong is in the result", async () => {
	assert.equal((await fumehood.run("1 / 0")).status, "runtime_error");
	const killed = await fumehood.run("import os; os.kill(os.getpid(), 11)");
	assert.deepEqual([killed.exit_code, killed.signal], [null, "SIGSEGV"]);
	const loop = await fumehood.run("while True: pass", "python", { cpu_time: 0.3 });
	assert.deepEqual([loop.status, loop.fired], ["cpu_time_limit", ["cpu_time"]]);
	const loud = await fumehood.run("print('x' * 100000)", "python", { output: "4K" });
	assert.deepEqual([loud.status, loud.stdout.length, loud.stdout_truncated], ["output_limit", 4096, true]);
});

test("compiled languages are compiled first", async () => {
	assert.equal((await fumehood.run("#include <stdio.h>\nint main() { puts(\"c\"); }", "c")).text, "c\n");
	const broken = await fumehood.run("int main() {", "c");
	assert.equal(broken.status, "compile_error");
	assert.match(broken.stderr.toString(), /main\.c/);
});

test("who reads a stream that another client takes over gets what came before, and is told", async () => {
	const stream = new Incoming({ over: true, busy: (promise) => promise }, "id", 100, 0);
	stream.take_frame(0, Buffer.from("before"), 0);
	stream.take_frame(6, Buffer.alloc(0), 4);
	assert.equal((await stream.read()).toString(), "before");
	await assert.rejects(stream.read(), (error) => error instanceof fumehood.CancelledError && /somebody else has attached/.test(error.message));
});

test("who attaches to a process takes its output over from the same client, too, and the process runs on", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	try {
		const first = await sandbox.spawn(["sh", "-c", "echo begun; read line; echo $line"]);
		const told = first.communicate().catch((error) => error);
		while (!(await sandbox.processes()).some((p) => p.id === first.id))
			;
		const second = await sandbox.attach_process(first.id);
		const error = await told;
		assert.ok(error instanceof fumehood.CancelledError && /somebody else has attached/.test(error.message), String(error));
		await second.write("over\n");
		let text = "";
		for (let piece = await second.read(); piece.length; piece = await second.read())
			text += piece;
		assert.match(text, /over\n$/);
		assert.equal((await second.wait()).exit_code, 0);
	} finally {
		await sandbox.destroy();
	}
});

test("what is asked for wrongly is an exception that says what mends it", async () => {
	await assert.rejects(fumehood.run("1", "pyton"), (error) => error instanceof fumehood.NotFoundError && /python/.test(error.hint));
	for (const options of [{ memory: "lots" }, { cpu_time: -1 }, { cpu_tme: 1 }, { user: "admin" }, { mounts: [["/usr", "/x", "rx"]] }, { args: "a b" },
		{ env: { A: "a\0b" } }, { start: "soon" }, { require: ["magic"] }])
		await assert.rejects(fumehood.run("1", "python", options), fumehood.ArgumentError, JSON.stringify(options));
	await assert.rejects(fumehood.run(), fumehood.ArgumentError);
	await assert.rejects(fumehood.run("1", "python", { argv: ["true"] }), fumehood.ArgumentError);
});

test("every value of a wrong kind is an exception of ours", async () => {
	const { run, judge, Sandbox } = fumehood, sandbox = await Sandbox.create("python"), gone = AbortSignal.abort();
	const calls = [() => run("1", "python", "x"), () => run("1", "python", []), () => run("1", "python", { memory: 0 }), () => run("1", "python", { disk: 1 }),
		() => run("1", "python", { files: new Map([["a", "b"]]) }), () => run("1", "python", { files: ["a"] }), () => run("print('\ud800')"),
		() => run("1", "python", { args: ["\ud800"] }), () => run("1", "python", { on_output: 5 }), () => run("1", "python", { signal: 5 }),
		() => judge(), () => judge([problem]), () => sandbox.exec([]), () => sandbox.put("", "x"), () => sandbox.put(undefined, "x")];
	for (const call of calls)
		await assert.rejects(call, fumehood.ArgumentError, String(call));
	await assert.rejects(() => run("1", "python", { args: Array(1e6).fill("a") }), fumehood.LimitError);
	await assert.rejects(() => Sandbox.create("python", { signal: gone }), fumehood.CancelledError);
	await assert.rejects(() => run("print(1)", "python", { on_output: async () => { throw new Error("later"); } }), /later/);
	assert.equal((await run("print(1)", null, null)).text, "1\n");
	await sandbox.destroy();
});

test("output comes as it is written, and a callback that throws ends the run", async () => {
	const pieces = [];
	await fumehood.run("import time\nprint('a', flush=True); time.sleep(0.2); print('b')", { on_output: (stream, data) => pieces.push(`${stream}:${data}`) });
	assert.deepEqual(pieces, ["stdout:a\n", "stdout:b\n"]);
	await assert.rejects(fumehood.run("import time\nprint('a', flush=True); time.sleep(60)", { on_output: () => { throw new Error("enough"); } }), /enough/);
});

test("a run is cancelled by its signal", async () => {
	const stop = new AbortController();
	setTimeout(() => stop.abort(), 300);
	await assert.rejects(fumehood.run("import time; time.sleep(60)", { signal: stop.signal }), fumehood.CancelledError);
});

test("a plan is built once and runs many times, side by side", async () => {
	const made = await fumehood.plan("import os; print(os.getpid())", "python");
	const results = await Promise.all(Array.from({ length: 20 }, () => fumehood.run_plan(made)));
	assert.ok(results.every((result) => result.ok));
	assert.deepEqual((await fumehood.run_plan(fumehood.Plan.from_json(made.json()))).status, "ok");
	assert.throws(() => fumehood.Plan.from_json("{}"), fumehood.ArgumentError);
});

test("a sandbox keeps files; programs run in it side by side", async () => {
	const sandbox = await fumehood.Sandbox.create("python", { memory: "256M" });
	assert.deepEqual(await sandbox.files.list(), []);
	for (const program of [{ argv: ["true"] }, { args: ["x"] }])
		await assert.rejects(fumehood.Sandbox.create("python", program), fumehood.ArgumentError);
	await sandbox.put("data.csv", "1,2,3");
	assert.equal((await sandbox.exec(["cat", "data.csv"])).text, "1,2,3");
	assert.equal((await sandbox.exec(["cat"], { input: Buffer.alloc(1 << 20, "x") })).stdout.length, 1 << 20);
	const cat = await sandbox.spawn(["cat"], { tag: "cat" });
	await cat.write("typed later\n");
	assert.equal((await cat.read()).toString(), "typed later\n");
	assert.equal((await sandbox.processes()).find((p) => p.tag === "cat").pid, cat.pid);
	await assert.rejects(cat.wait(0.05), fumehood.TimeoutError);
	cat.close_stdin();
	assert.equal((await cat.wait()).exit_code, 0);
	await assert.rejects(sandbox.exec(["sleep", "60"], { timeout: 0.2 }), fumehood.TimeoutError);
	assert.equal((await sandbox.get("data.csv")).toString(), "1,2,3");
	await assert.rejects(sandbox.get("data.csv", 2), fumehood.LimitError);
	await sandbox.destroy();
	await sandbox.destroy();
	await assert.rejects(sandbox.exec(["true"]), fumehood.ArgumentError);
});

test("files are looked at, changed and watched inside", async () => {
	const { files, ...sandbox } = await fumehood.Sandbox.create("python");
	await files.write("sub/large", (async function* () { for (let i = 0; i < 40; i++) yield Buffer.alloc(100000, i); })());
	assert.equal((await files.stat("sub/large")).size, 4000000);
	assert.equal((await files.read("sub/large", { offset: 3900000, length: 5 })).toString("hex"), "27".repeat(5));
	await files.write("sub/large", "end", { mode: "a" });
	assert.equal((await files.stat("sub/large")).size, 4000003);
	await files.link("large", "sub/link");
	assert.equal((await files.stat("sub/link", { follow: false })).target, "large");
	await files.change("sub/large", { mode: 0o600, mtime: 1000 });
	assert.deepEqual([(await files.stat("sub/large")).mode, (await files.stat("sub/large")).mtime], [0o600, 1000]);
	await files.change("sub/large", { mtime: 1500000000.25 });
	assert.equal((await files.stat("sub/large")).mtime, 1500000000.25);
	assert.deepEqual((await files.list("sub")).map((info) => info.name), ["large", "link"]);
	const events = await files.watch("sub");
	await files.rename("sub/large", "sub/moved");
	assert.deepEqual((({ kind, name, arrived }) => [kind, name, arrived])((await events.next()).value), ["rename", "large", false]);
	await events.return();
	await files.remove("sub", { recursive: true });
	assert.equal(await files.exists("sub"), false);
	await assert.rejects(files.read("none"), fumehood.NotFoundError);
	await assert.rejects(files.write("/proc/version", "x"), fumehood.FumehoodError);
	assert.ok(sandbox.id);
});

test("a branch has its own copy; a paused sandbox stands still; a port is a stream", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	await sandbox.put("both", "1");
	const branch = await sandbox.branch();
	await sandbox.put("later", "1");
	assert.deepEqual([await branch.files.exists("both"), await branch.files.exists("later")], [true, false]);
	const server = await sandbox.spawn(["python3", "-c", "import socket\ns = socket.socket(); s.bind(('127.0.0.1', 9000)); s.listen()\nprint('up', flush=True)\n"
		+ "c, _ = s.accept(); c.sendall(c.recv(9)[::-1]); c.close()"]);
	await server.read();
	const page = await sandbox.connect(9000);
	await page.write("abc");
	assert.equal((await page.read()).toString(), "cba");
	await assert.rejects(sandbox.connect(9001), fumehood.FumehoodError);
	assert.notEqual(await sandbox.pause(), "none");
	assert.equal((await sandbox.usage()).paused, true);
	await sandbox.resume();
	await sandbox.put("large", Buffer.alloc(3 << 20, 1));
	const used = await sandbox.usage();
	assert.ok(used.disk >= 3 << 20 && used.disk < used.disk_limit, JSON.stringify(used));
	assert.ok(Math.abs(used.at - Date.now() / 1000) < 60);
	await Promise.all([sandbox.destroy(), branch.destroy()]);
});

test("a stream that is not read stalls its own program and nothing else", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	const loud = await sandbox.spawn(["sh", "-c", "yes | head -c 3000000; echo end >&2"]);
	assert.equal((await sandbox.exec(["echo", "still here"])).text, "still here\n");
	const done = await loud.communicate();
	assert.deepEqual([done.stdout.length, done.stderr.toString()], [3000000, "end\n"]);
	await sandbox.destroy();
});

test("a context keeps its variables; a branch has its own", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	const context = await sandbox.context("py", { shell: "small", env: { A: "of the context" } });
	const events = [];
	const first = await context.run("import os\nx = 41\nprint(os.environ['A'], os.environ['B'])\nx + 1",
		{ env: { B: "of the run" }, on_event: (event) => events.push(event.type) });
	assert.deepEqual([first.status, first.ok, first.text, first.stdout, first.count], ["ok", true, "42", "of the context of the run\n", 1]);
	assert.deepEqual([events[0], events.at(-1)], ["count", "result"]);
	assert.deepEqual([context.language, context.interpreter.split(" ")[0]], ["python", "small"]);
	const failed = await context.run("1 / 0");
	assert.deepEqual([failed.status, failed.error.name, failed.error.value, failed.result], ["failed", "ZeroDivisionError", "division by zero", null]);
	const shown = await context.run("class Shown:\n    def _repr_png_(self): return b'\\x89PNG'\n    def _repr_mimebundle_(self, **kw): return {'a/b': 'c'}\nShown()");
	assert.deepEqual([shown.result.image().toString("latin1"), shown.result.extra["a/b"], shown.result.html], ["\x89PNG", "c", null]);
	const branch = await context.branch();
	await branch.run("x = 7");
	assert.deepEqual([(await branch.run("x")).text, (await context.run("x")).text], ["7", "41"]);
	assert.equal(sandbox.contexts().length, 2);
	await branch.remove();
	await branch.remove();
	await assert.rejects(branch.run("1"), fumehood.ArgumentError);
	assert.deepEqual(sandbox.contexts(), [context]);
	const runs = await Promise.all([context.run("x += 1; x"), context.run("x += 1; x")]);
	assert.deepEqual(runs.map((run) => run.text), ["42", "43"]);
	await context.restart();
	assert.equal((await context.run("'x' in globals()")).text, "False");
	const bash = await sandbox.context("bash");
	await bash.run("y=6");
	assert.equal((await bash.run("echo $((y * 7))")).stdout, "42\n");
	await assert.rejects(bash.branch(), fumehood.UnavailableError);
	await sandbox.destroy();
	await assert.rejects(context.run("1"), fumehood.ArgumentError);
});

test("a context branches into another sandbox by value", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	const context = await sandbox.context("python", { shell: "small" });
	await context.run("x = [1]\ny = x\ndef f(): return len(x)\nheld = (i for i in 'ab')");
	const other = await sandbox.branch();
	const branch = await context.branch({ sandbox: other });
	assert.deepEqual(branch.not_branched, ["variable held (generator): cannot pickle 'generator' object"]);
	assert.equal((await branch.run("x.append(2); f(), y is x")).text, "(2, True)");
	assert.equal((await context.run("f()")).text, "1");
	assert.deepEqual([sandbox.contexts().length, other.contexts().length], [1, 1]);
	assert.deepEqual([(await sandbox.files.list("/tmp")).length, (await other.files.list("/tmp")).length], [0, 0]);
	await context.run("import os\nclass Deadly:\n    def __reduce__(self): os._exit(0)\ndeadly = Deadly()");
	await assert.rejects(context.branch({ sandbox: other }), /the process that writes it was ended/);
	assert.equal((await context.run("f()")).text, "1");
	await Promise.all([sandbox.destroy(), other.destroy()]);
});

test("a context's run is stopped, and keeps or loses its variables", async () => {
	const sandbox = await fumehood.Sandbox.create("python");
	const context = await sandbox.context("python", { shell: "small" });
	await context.run("import os, signal, time\nx = 42");
	const late = await context.run("time.sleep(60)", { timeout: 0.3 });
	assert.deepEqual([late.status, late.error.name, late.state_lost], ["timeout", "KeyboardInterrupt", false]);
	let begun = () => {};
	const running = new Promise((resolve) => { begun = resolve; });
	const interrupted = context.run("print('begun')\ntime.sleep(60)", { on_event: (event) => event.type === "stdout" && begun() });
	await running;
	await context.interrupt();
	assert.equal((await interrupted).status, "interrupted");
	const stop = new AbortController();
	await assert.rejects(context.run("print('begun')\ntime.sleep(60)", { signal: stop.signal, on_event: (event) => event.type === "stdout" && stop.abort() }),
		fumehood.CancelledError);
	await assert.rejects(context.run("print('begun')\ntime.sleep(60)", { on_event: () => { throw new Error("enough"); } }), /enough/);
	const loud = await context.run("while True: print('y' * 1000)", { max_bytes: 100000 });
	assert.deepEqual([loud.status, loud.stdout.length < 100000], ["output_limit", true]);
	assert.equal((await context.run("x")).text, "42");
	const deaf = await context.run("signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", { timeout: 0.2, grace: 0.2 });
	assert.deepEqual([deaf.status, deaf.state_lost], ["timeout", true]);
	const next = await context.run("'x' in globals()");
	assert.deepEqual([next.text, next.restarted], ["False", true]);
	const ended = await context.run("import os\nos._exit(3)");
	assert.deepEqual([ended.status, ended.state_lost], ["ended", true]);
	assert.match(ended.message, /exit code 3/);
	await assert.rejects(sandbox.context("cobol"), (error) => error instanceof fumehood.NotFoundError && /python/.test(error.hint));
	await assert.rejects(sandbox.context("python", { shell: "zsh" }), fumehood.ArgumentError);
	await sandbox.destroy();
});

test("a snapshot starts other sandboxes, here and in Python", async (t) => {
	const folder = await fs.mkdtemp(path.join(os.tmpdir(), "fumehood-js-"));
	t.after(() => fs.rm(folder, { recursive: true }));
	const file = path.join(folder, "snapshot"), sandbox = await fumehood.Sandbox.create("python", { env: { A: "kept" } });
	await sandbox.put("data", "hello");
	await sandbox.files.write("large", Buffer.alloc(3 << 20, 7));
	await sandbox.exec(["python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('socket')"]);
	assert.equal(await sandbox.snapshot(file), 1);
	await sandbox.destroy();
	const again = await fumehood.Sandbox.restore(file);
	assert.equal((await again.exec(["sh", "-c", "cat data; echo $A"])).text, "hellokept\n");
	assert.equal((await again.get("large")).compare(Buffer.alloc(3 << 20, 7)), 0);
	await again.destroy();
	// written by the one and read by the other: by the program, which writes and reads what the Python package does
	const variables = { ...process.env, XDG_RUNTIME_DIR: folder }, run = (...words) => promisify(execFile)(program, ["session", ...words], { env: variables });
	const program = process.env.FUMEHOOD_PROGRAM;
	await promisify(execFile)(program, ["engine", "start"], { env: variables });
	try {
		await run("new", "--from", file, "--name", "one");
		assert.equal((await run("exec", "one", "--", "cat", "data")).stdout, "hello");
		await run("snapshot", "one", path.join(folder, "theirs"));
	} finally {
		await promisify(execFile)(program, ["engine", "stop"], { env: variables });
	}
	const theirs = await fumehood.Sandbox.restore(path.join(folder, "theirs"));
	assert.equal((await theirs.get("data")).toString(), "hello");
	await theirs.destroy();
	await fs.writeFile(file, "no snapshot");
	await assert.rejects(fumehood.Sandbox.restore(file), fumehood.ArgumentError);
});

test("a plan on the wire is the same plan", async () => {
	const made = await fumehood.plan("print(1)", "python", { stdin: Buffer.from([0, 255]), files: { a: ["b", 0o600] }, cpu_time: null, outs: ["c"] });
	const again = plan_of(new Fields(encode_fields(plan_fields(made.data))));
	const plain = (value) => value?.base64 !== undefined ? Buffer.from(value.base64, "base64").toString("latin1") : value;
	assert.deepEqual({ ...again, stdin: plain(again.stdin), files: again.files.map((f) => ({ ...f, content: plain(f.content) })) },
		{ ...made.data, stdin: plain(made.data.stdin), files: made.data.files.map((f) => ({ ...f, content: plain(f.content) })) });
});

test("a client that is closed rejects what is under way", async () => {
	const client = new fumehood.Client();
	const running = fumehood.run("import time; time.sleep(60)", { client });
	setTimeout(() => client.close(), 300);
	await assert.rejects(running, fumehood.CancelledError);
	await assert.rejects(fumehood.run("1", { client }), fumehood.FumehoodError);
});

test("an engine that is killed rejects what is under way, and the next run has another", async () => {
	const running = fumehood.run("import time; time.sleep(60)");
	running.catch(() => {});
	await new Promise((resolve) => setTimeout(resolve, 500));
	process.kill(fumehood.default_client().child.pid, "SIGKILL");
	await assert.rejects(running, fumehood.EngineError);
	assert.equal((await fumehood.run("print(1)")).text, "1\n");
});

test("samples are judged", async () => {
	const rows = await fumehood.judge([problem], [{ task_id: "T/0", completion: "    return x + x\n" }, { task_id: "T/0", completion: "    return x * x\n" }]);
	assert.deepEqual(rows.map((row) => [row.index, row.passed, row.verdict]), [[0, true, "passed"], [1, false, "failed"]]);
	await assert.rejects(fumehood.judge("/no/such.jsonl", []), fumehood.NotFoundError);
	await assert.rejects(fumehood.judge([{}], [{ task_id: "T/0" }]), fumehood.ArgumentError);
});

test("a program that is done ends, though its client was not closed", async () => {
	const url = new URL("../index.js", import.meta.url).href;
	const child = spawn(process.execPath, ["--input-type=module", "-e", `import { run } from "${url}"; console.log((await run("print(1)")).text);`],
		{ stdio: ["ignore", "pipe", "inherit"] });
	let out = "";
	child.stdout.on("data", (piece) => { out += piece; });
	assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
	assert.equal(out, "1\n\n");
});
