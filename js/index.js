// SPDX-License-Identifier: MIT
// fumehood for JavaScript: the functions of the Python package, with the same names. See docs/javascript.md.
export { Client, default_client } from "./lib/connection.js";
export { Context } from "./lib/context.js";
export { CodeError, Display, Execution } from "./lib/execution.js";
export * from "./lib/errors.js";
export { FileInfo, Files, WatchEvent } from "./lib/files.js";
export { judge } from "./lib/judge.js";
export { Plan, plan } from "./lib/plan.js";
export { Result } from "./lib/result.js";
export { run, run_plan } from "./lib/run.js";
export { Exit, Output, Process, Sandbox } from "./lib/sandbox.js";
