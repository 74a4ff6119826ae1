// SPDX-License-Identifier: MIT
// The official TypeScript SDK (package @modelcontextprotocol/sdk) as a client of `fumehood mcp`. Argument: the program, or the address.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const where = process.argv[2];
const transport = where.startsWith("http") ? new StreamableHTTPClientTransport(new URL(where))
	: new StdioClientTransport({ command: where, args: ["mcp"], env: process.env });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
assert((await client.listTools()).tools.some((tool) => tool.name === "run_code"));
assert.strictEqual((await call("run_code", { code: "print(6 * 7)" })).content[0].text, "42");
await assert.rejects(call("no such tool", {}), (error) => error.code === -32602);
const said = [];
await call("run_code", { code: "import time\nprint('half', flush=True); time.sleep(0.5)" }, { onprogress: (p) => said.push(p.message) });
assert.strictEqual(said[0], "half");
await call("session_run", { code: "1" });
const stop = new AbortController();
setTimeout(() => stop.abort("enough"), 500);
await assert.rejects(call("session_run", { code: "x = 42\nimport time; time.sleep(60)" }, { signal: stop.signal }));
assert.strictEqual((await call("session_run", { code: "6 * 7" })).content[0].text, "42");
assert.strictEqual(JSON.parse((await client.readResource({ uri: "fumehood://limits" })).contents[0].text).network, "none");
await client.close();
console.log("ok");
