// SPDX-License-Identifier: MIT
// A cell that is run again, with its prompt or another: the editor, and the results so far. Each is an eval of its own
// with the tag "cell-of", so that the numbers of the eval that is looked at stay those of its own prompts.
import { html, useState, useEffect, useRef, useAnswer, useChanges, get, ask, score, ms, when, say, Link, Trouble } from "./base.js";
import { visible, plain, asText, Pre, Difference, Shown } from "./text.js";
import { Mark, kindOf } from "./table.js";

const WAIT = 400; // ms between looks at a run that is under way

function Try({ e, answer, open }) {
  const [diff, setDiff] = useState(false);
  const { value: c } = useAnswer(e.successes + e.failures + e.errors ? `/api/view/evals/${encodeURIComponent(e.id)}/cells/0/0` : null, {}, [e.id, e.state, e.successes + e.failures + e.errors]);
  const d = c?.data, now = asText(d?.response?.output), why = c && !c.pass && (d.error || d.gradingResult?.reason);
  return html`<details class="try" open=${open}><summary>${c ? html`<${Mark} kind=${kindOf(c)} /> <b>${score(c.score)}</b> <span class="muted">${ms(d.latencyMs)}</span>` : html`<span class="muted">${e.running ? "Running" : "No result"}</span>`}
      <span class="muted">${when(e.createdAt)}</span><span class="grow"></span><${Link} to=${`/eval/${encodeURIComponent(e.id)}?cell=0.0`}>Open<//></summary>
    ${c && html`${why && html`<div class=${"verdict " + kindOf(c)} dir="auto">${visible(String(why).slice(0, 4000))}</div>`}
      ${diff ? html`<${Difference} expected=${answer} got=${now} names=${["Before", "Now"]} />` : html`<${Shown} text=${now} label="Answer" />`}
      <p class="bar"><button class="quiet" aria-pressed=${diff} onClick=${() => setDiff(!diff)}>Difference to the answer before</button></p>
      <details><summary class="muted">Prompt as it was sent</summary><${Pre} text=${d.prompt?.raw} label="Prompt" /></details>`}</details>`;
}

// One for each cell (a key tells them apart): an effect that empties the editor for the next cell could run after a quick click.
export function Again({ id, row, column, template, sent, answer, possible }) {
  const [version, again] = useState(0);
  const [text, edit] = useState(null);         // null: the editor is closed
  const [job, setJob] = useState({});
  const { value } = useAnswer("/api/view/evals", { tag: `cell-of=${id}/${row}.${column}`, limit: 20 }, [id, row, column, version]);
  const area = useRef(null), mine = useRef(0);
  useEffect(() => () => { mine.current++; }, []);
  useEffect(() => { if (text !== null && document.activeElement !== area.current) area.current?.focus({ preventScroll: true }); }, [text === null]);
  useChanges(() => again((n) => n + 1));
  const tries = value?.evals || [];
  // A template whose variables this row fills in; a prompt that a function made has none.
  const start = template && (template === sent || template.includes("{{") || template.includes("{%")) ? template : sent;
  const run = async () => {
    if (job.busy) return;
    const turn = ++mine.current, prompt = text !== null && text !== start ? text : undefined;
    setJob({ busy: true });
    try {
      const started = await ask("POST", "/api/view/jobs", { body: { retry: id, cell: `${row}.${column}`, prompt } });
      for (let now = started; turn === mine.current; now = (await get("/api/view/jobs")).jobs.find((j) => j.number === started.number) || { state: "gone" }) {
        if (now.state !== "running") {
          setJob(now.state === "failed" ? { log: now.log } : {});
          again((n) => n + 1);
          if (now.state === "complete") say("The cell has run again");
          return;
        }
        await new Promise((go) => setTimeout(go, WAIT));
      }
    } catch (e) { if (turn === mine.current) setJob({ failure: e }); }
  };
  const key = (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); e.stopPropagation(); run(); }
    if (e.key === "Escape") { e.stopPropagation(); area.current.blur(); edit(null); }
  };
  return html`<div class="again">${text === null
      ? html`<p class="bar"><button onClick=${() => edit(start)} disabled=${!possible} title=${possible ? "" : "Only evals that `fumehood eval` made here can be run again"}>Edit and run again</button>
          ${job.busy && html`<span class="chip live">running</span>`}</p>`
      : html`<label class="field">${start === template && template !== sent ? "Template: {{name}} is filled in with the variable of this row" : "Prompt"}
          <textarea ref=${area} class="editor wrap" rows=${Math.min(20, Math.max(5, start.split("\n").length + 1))} value=${text} onInput=${(e) => edit(e.target.value)} onKeyDown=${key}></textarea></label>
        <p class="bar"><button class="primary" onClick=${run} disabled=${job.busy} title="Ctrl-Enter">${job.busy ? "Running" : "Run this cell"}</button>
          ${text !== start && html`<button onClick=${() => edit(start)}>Back to the prompt</button>`}<button onClick=${() => edit(null)}>Close</button>
          <span class="muted">Kept as an eval of its own; this one stays as it is.</span></p>`}
    <${Trouble} failure=${job.failure} />${job.log && html`<div class="trouble" role="alert"><strong>It did not run.</strong><${Pre} text=${job.log} label="What it printed" /></div>`}
    ${tries.length > 0 && html`<h4>Run again, the newest first</h4>${tries.map((e, i) => html`<${Try} key=${e.id} e=${e} answer=${answer} open=${i === 0} />`)}`}</div>`;
}
