// SPDX-License-Identifier: MIT
// Tests of the package against a built fumehood: node --test, run by tests/cli/packages/test_javascript.py.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

import * as fumehood from "../index.js";

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

test("what is asked for wrongly is an exception that says what mends it", async () => {
	await assert.rejects(fumehood.run("1", "pyton"), (error) => error instanceof fumehood.NotFoundError && /python/.test(error.hint));
	for (const options of [{ memory: "lots" }, { cpu_time: -1 }, { cpu_tme: 1 }, { user: "admin" }, { mounts: [["/usr", "/x", "rx"]] }, { args: "a b" },
		{ env: { A: "a\0b" } }, { start: "soon" }, { require: ["magic"] }])
		await assert.rejects(fumehood.run("1", "python", options), fumehood.ArgumentError, JSON.stringify(options));
	await assert.rejects(fumehood.run(), fumehood.ArgumentError);
	await assert.rejects(fumehood.run("1", "python", { argv: ["true"] }), fumehood.ArgumentError);
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
