// SPDX-License-Identifier: MIT
// Starts evals of the configurations in the viewer's folder.
import { html, useState, useEffect, useAnswer, ask, say, when, Link, Trouble, Empty } from "./base.js";
import { visible, plain, Pre } from "./text.js";

const STATES = { running: "live", failed: "error", complete: "" };

export function Start() {
  const [version, again] = useState(0);
  const { value: folder, failure } = useAnswer("/api/view/configs", {}, []);
  const { value } = useAnswer("/api/view/jobs", {}, [version]);
  const jobs = value?.jobs || [];
  const running = jobs.some((j) => j.state === "running");
  useEffect(() => { document.title = "Start · fumehood"; }, []);
  useEffect(() => {
    if (!running) return undefined;
    const t = setTimeout(() => again((n) => n + 1), 1000);
    return () => clearTimeout(t);
  }, [running, version]);
  const run = async (config) => {
    try { await ask("POST", "/api/view/jobs", { body: { config } }); } catch (e) { say(e.message); }
    again((n) => n + 1);
  };
  const stop = async (number) => {
    try { await ask("DELETE", `/api/view/jobs/${number}`); say("It stops and keeps what is done"); } catch (e) { say(e.message); }
  };
  return html`<main id="main" class="page"><div class="bar"><h1>Start an eval</h1>${folder && html`<code class="muted">${visible(folder.folder)}</code>`}</div>
    <${Trouble} failure=${failure} />
    ${folder && (folder.configs.length === 0 ? html`<${Empty} title="No configuration in this folder"><p>A file such as promptfooconfig.yaml is looked for where the viewer was started.</p><//>`
      : html`<p class="muted">Configurations in the folder where the viewer was started. Each runs as ${html`<code>fumehood eval</code>`} would, and goes on when this page is closed.</p><ul class="configs">${[...folder.configs].sort().map((c) => html`<li><code>${visible(c)}</code> <button class="primary" onClick=${() => run(c)} aria-label=${`Run ${plain(c)}`}>Run</button></li>`)}</ul>`)}
    ${jobs.length > 0 && html`<h2>Started here</h2>${[...jobs].reverse().map((j) => html`<section class="chart" aria-label=${plain(j.what)}><div class="bar"><b>${visible(j.what)}</b><span class=${"chip " + STATES[j.state]}>${j.state}</span><span class="muted">${when(j.began)}</span>
      ${j.exitCode !== null && html`<span class="muted">exit ${j.exitCode}</span>`}<span class="grow"></span>${j.state === "running" && html`<button onClick=${() => stop(j.number)}>Stop</button>`}<${Link} to="/">All evals<//></div>
      ${j.log && html`<${Pre} text=${j.log} label="What it printed" />`}</section>`)}`}
  </main>`;
}
