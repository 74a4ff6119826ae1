// SPDX-License-Identifier: MIT
// All data of one cell, shown beside the table.
import { html, useState, useEffect, useRef, useKeys, useAnswer, ask, count, score, ms, bytes, money, copy, say, Trouble } from "./base.js";
import { visible, plain, asText, Pre, Code, Difference, Picture, isImage, Shown } from "./text.js";
import { Mark, kindOf } from "./table.js";
import { Again } from "./again.js";

// ------------------------------------------------------------------------------------- one form for the three kinds

const EQUALS = new Set(["equals", "is-equal", "contains", "icontains", "starts-with"]);
const EXPECTED_GOT = /expected (?:output |exit status )?([\s\S]+), got ([\s\S]+)$/;

// The expected and the actual value, if a check has both.
function expectation(check, answer) {
  const a = check.assertion || {}, m = check.metadata || {};
  if (check.pass) return null;
  if (typeof a.stdout === "string" && m.stdout !== undefined && !a.stdout.includes("{{")) return { expected: a.stdout, got: m.stdout };
  if (EQUALS.has(a.type) && a.value !== undefined) return { expected: check.renderedValue ?? a.value, got: answer };
  const said = String(check.reason || "").match(EXPECTED_GOT);
  return said ? { expected: said[1], got: said[2] } : null;
}

function ofEval(d, head) {
  const g = d.gradingResult || {}, answer = d.response?.output;
  const checks = (g.componentResults || []).map((c) => ({ ...c, expectation: expectation(c, answer) }));
  return {
    prompt: d.prompt?.raw, template: head?.raw, answer, checks, error: d.error, vars: d.vars, reason: g.reason,
    programs: checks.filter((c) => c.metadata?.code).map((c) => ({ code: c.metadata.code, language: c.metadata.language })),
    runs: checks.filter((c) => c.metadata?.usage || c.metadata?.status).map((c, i) => ({ title: `Run of ${c.assertion?.type || `check ${i + 1}`}`, ...c.metadata, limits: c.metadata.limits || c.assertion?.limits })),
    numbers: { latency: d.latencyMs, cost: d.cost, tokens: d.tokenUsage, cached: d.response?.cached, finish: d.response?.finishReason },
    description: d.testCase?.description, metadata: d.metadata, named: d.namedScores,
  };
}

function ofJudge(d) {
  const said = String(d.reason || "").match(EXPECTED_GOT);
  return {
    answer: undefined, checks: [{ pass: d.passed ?? d.verdict === "passed", score: d.passed ? 1 : 0, reason: d.reason, assertion: { type: d.verdict }, expectation: said && { expected: said[1], got: said[2] } }],
    programs: d.program ? [{ code: d.program, language: d.language }] : [], reason: d.reason, error: null, vars: { task: d.task_id, sample: d.index },
    runs: [{ title: "The program", ...d, status: d.status || d.verdict }, ...(d.judge_usage ? [{ title: "The judge", usage: d.judge_usage }] : [])],
    numbers: {}, metadata: { key: d.key, sample: d.sample, seed: d.seed },
  };
}

const ofRun = (d) => ({ checks: [], programs: d.code ? [{ code: d.code, language: d.language }] : [], runs: [{ title: "The run", ...d }], numbers: {}, error: d.error?.message, reason: d.status });

// --------------------------------------------------------------------------------------------------- parts of the page

const Section = ({ title, children, open = true, note }) => html`<details class="part" open=${open}><summary><h3>${title}</h3>${note && html`<span class="muted">${note}</span>`}</summary>${children}</details>`;

function Checks({ checks }) {
  return html`<div class="scroll-x"><table class="list checks"><thead><tr><th>Result</th><th>Check</th><th class="num">Score</th><th>Reason</th></tr></thead><tbody>
    ${checks.map((c) => {
      const a = c.assertion || {};
      const value = a.value === undefined ? "" : asText(a.value);
      return html`<tr><td><${Mark} kind=${c.pass ? "pass" : "fail"} /></td><td><b>${visible(a.type || "–")}</b>${a.metric && html` <span class="tag">${visible(a.metric)}</span>`}
        ${value && html`<div class="muted clip" dir="auto">${visible(value.slice(0, 400))}</div>`}</td><td class="num">${score(c.score)}</td><td class="why" dir="auto">${visible(String(c.reason || "").slice(0, 4000))}</td></tr>`;
    })}</tbody></table></div>`;
}

// The used share of a limit. A limit is {value, unit, enforced}, or has the form of the configuration.
const SUFFIX = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
function limitOf(limits, name, seconds) {
  const l = limits?.[name];
  if (l === undefined || l === null) return {};
  if (typeof l === "object") return { value: l.value, enforced: l.enforced };
  const m = String(l).match(/^([\d.]+)\s*([KMG])?/);
  return m ? { value: Number(m[1]) * (m[2] ? SUFFIX[m[2]] : seconds ? 1000 : 1) } : {};
}
function Bar({ name, used, limit, show, enforced }) {
  if (used === undefined || used === null) return null;
  const part = limit ? Math.min(100, 100 * used / limit) : 0;
  return html`<tr><th scope="row">${name}</th><td class="num">${show(used)}</td><td class="bar-cell">${limit ? html`<span class=${"meter" + (part >= 90 ? " full" : "")} role="meter" aria-label=${name} aria-valuemin="0" aria-valuemax=${limit} aria-valuenow=${used}><i style=${{ width: `${part}%` }}></i></span>` : null}</td>
    <td class="muted">${limit ? `of ${show(limit)}` : ""}${enforced ? html` <span class="tag">${visible(enforced)}</span>` : null}</td></tr>`;
}

export function Run({ run }) {
  const u = run.usage || {}, cpu = limitOf(run.limits, "cpu_time", true), wall = limitOf(run.limits, "wall_time", true), memory = limitOf(run.limits, "memory"), tasks = limitOf(run.limits, "processes");
  const isolation = Object.entries(run.isolation || {});
  return html`<${Section} title=${run.title || "The run"} note=${[run.status, run.exit_code !== undefined && run.exit_code !== null ? `exit ${run.exit_code}` : "", run.signal ? `signal ${run.signal}` : "", run.integrity ? `integrity: ${run.integrity}` : ""].filter(Boolean).map(plain).join(" · ")}>
    <table class="usage"><tbody>
      <${Bar} name="CPU time" used=${u.cpu_ms} limit=${cpu.value} enforced=${cpu.enforced} show=${ms} />
      <${Bar} name="Wall time" used=${u.wall_ms} limit=${wall.value} enforced=${wall.enforced} show=${ms} />
      <${Bar} name="Memory" used=${u.memory_peak_bytes} limit=${memory.value} enforced=${memory.enforced} show=${bytes} />
      <${Bar} name="Processes" used=${u.processes_peak} limit=${tasks.value} enforced=${tasks.enforced} show=${count} /></tbody></table>
    ${run.fired?.length > 0 && html`<p>Limits that were reached: ${run.fired.map((f) => html`<span class="tag">${visible(asText(f))}</span> `)}</p>`}
    ${isolation.length > 0 && html`<p class="isolation">Isolation: ${isolation.map(([n, on]) => html`<span class=${"tag " + (on === true ? "on" : "off")} title=${on === true ? "holds" : "does not hold"}>${on === true ? "✓" : "✗"} ${visible(n)}${typeof on === "string" ? html`: ${visible(on)}` : null}</span> `)}</p>`}
    ${run.start && html`<p class="muted">Started ${visible(run.start.path || "")}: ${visible(run.start.why || "")}</p>`}
    ${["stdout", "stderr"].map((s) => run[s] ? html`<h4>${s}${run[`${s}_truncated`] ? " (cut at the limit)" : ""}</h4>${isImage(run[s].trim()) ? html`<${Picture} src=${run[s].trim()} />` : html`<${Shown} text=${run[s]} label=${s} />`}` : null)}
    ${run.findings && html`<h4>Findings of the scanner</h4><${Pre} text=${run.findings} />`}
  <//>`;
}

function Rating({ id, row, column, rating, changed }) {
  const [now, set] = useState(rating);
  const [comment, type] = useState(rating?.comment || "");
  const [number, setNumber] = useState(rating?.score ?? "");
  useEffect(() => { set(rating); type(rating?.comment || ""); setNumber(rating?.score ?? ""); }, [row, column, JSON.stringify(rating)]);
  const save = async (change) => {
    const value = { thumb: now?.thumb || 0, score: number === "" ? null : Number(number), comment, ...change };
    try {
      await ask("PUT", `/api/view/evals/${encodeURIComponent(id)}/cells/${row}/${column}/rating`, { body: value });
      set(value);
      say("Rating saved");
      changed();
    } catch (e) { say(e.message); }
  };
  useKeys({ "+": { run: () => save({ thumb: now?.thumb === 1 ? 0 : 1 }), help: "Thumb up" }, "-": { run: () => save({ thumb: now?.thumb === -1 ? 0 : -1 }), help: "Thumb down" } });
  return html`<div class="rating"><button aria-pressed=${now?.thumb === 1} title="Good (+)" aria-label="Thumb up" onClick=${() => save({ thumb: now?.thumb === 1 ? 0 : 1 })}>Good</button>
    <button aria-pressed=${now?.thumb === -1} title="Bad (-)" aria-label="Thumb down" onClick=${() => save({ thumb: now?.thumb === -1 ? 0 : -1 })}>Bad</button>
    <label>Score <input class="short" type="number" step="any" value=${number} onInput=${(e) => setNumber(e.target.value)} onChange=${() => save({})} /></label>
    <label class="grow">Comment <input value=${comment} maxlength="4000" onInput=${(e) => type(e.target.value)} onChange=${() => save({})} /></label></div>`;
}

export function Cell({ id, head, row, column, alone, close, next, previous, changed }) {
  const { value, failure } = useAnswer(`/api/view/evals/${encodeURIComponent(id)}/cells/${row}/${column}`, {}, [id, row, column, head.successes + head.failures + head.errors]);
  const box = useRef(null);
  useEffect(() => { box.current?.focus({ preventScroll: true }); }, []);
  useEffect(() => { if (box.current) box.current.scrollTop = 0; }, [row, column]);
  const fresh = value && value.row === row && value.column === column;
  const c = fresh ? value : null;
  const e = c && c.data && (head.kind === "judge" ? ofJudge(c.data) : head.kind === "run" ? ofRun(c.data) : ofEval(c.data, head.columnHeads[column]));
  const column_head = head.columnHeads[column];
  const failed = e ? e.checks.filter((x) => x.expectation) : [];
  const tokens = e?.numbers.tokens;
  return html`<aside class=${"cell-panel" + (alone ? " alone" : "")} ref=${box} tabindex="-1" aria-label=${`Row ${row}, column ${column + 1}`}>
    ${!alone && html`<div class="panel-head">${c && html`<${Mark} kind=${kindOf(c)} />`}<b>Row ${row}</b><span class="muted clip">${visible(column_head?.provider || "")}</span><span class="grow"></span>
      <button class="quiet" onClick=${() => copy(location.href)} title="Copy a link to this cell">Link</button>
      <button class="quiet" onClick=${previous} title="Previous (k)" aria-label="Previous row">↑</button><button class="quiet" onClick=${next} title="Next (j)" aria-label="Next row">↓</button>
      <button class="quiet" onClick=${close} title="Close (Esc)" aria-label="Close">✕</button></div>`}
    <${Trouble} failure=${failure} />
    ${e && html`<div class="panel-body">
      ${e.description && html`<p class="facts" dir="auto">${visible(e.description)}</p>`}
      ${!c.pass && (e.error || e.reason) && html`<div class=${"verdict " + kindOf(c)} dir="auto">${visible(String(e.error || e.reason).slice(0, 4000))}</div>`}
      <p class="facts">${[["score", score(c.score)], ["time", ms(e.numbers.latency ?? c.latencyMs)], ["tokens", tokens?.total ? `${count(tokens.total)} (${count(tokens.prompt)} + ${count(tokens.completion)})` : null],
        ["cost", e.numbers.cost ? money(e.numbers.cost) : null], ["ended", e.numbers.finish], ["cached", e.numbers.cached ? "yes" : null], ...Object.entries(e.named || {}).map(([n, v]) => [n, score(v)])].filter(([, v]) => v && v !== "–").map(([n, v]) => html`<span>${visible(n)} <b>${visible(String(v))}</b></span>`)}</p>
      <${Rating} id=${id} row=${row} column=${column} rating=${c.rating} changed=${changed} />
      ${failed.map((x) => html`<${Section} title="Expected beside got" note=${plain(x.assertion?.type || "")}><${Difference} ...${x.expectation} /><//>`)}
      ${e.answer !== undefined && html`<${Section} title="Answer">${isImage(e.answer) ? html`<${Picture} src=${e.answer} />` : typeof e.answer === "string" ? html`<${Shown} text=${e.answer} label="Answer" />` : html`<${Code} text=${e.answer} language="json" label="Answer" />`}<//>`}
      ${e.programs.map((p) => html`<${Section} title="Program"><${Code} text=${p.code} language=${p.language} label="Program" /><//>`)}
      ${e.checks.length > 0 && html`<${Section} title="Checks" note=${`${e.checks.filter((x) => x.pass).length} of ${e.checks.length} passed`}><${Checks} checks=${e.checks} /><//>`}
      ${e.runs.map((r) => html`<${Run} run=${r} />`)}
      ${e.vars && Object.keys(e.vars).length > 0 && html`<${Section} title="Variables"><dl class="vars">${Object.entries(e.vars).map(([n, v]) => html`<dt>${visible(n)}</dt><dd><${Pre} text=${v} label=${plain(n)} /></dd>`)}</dl><//>`}
      ${e.prompt !== undefined && html`<${Section} title="Prompt" note="as it was sent"><${Pre} text=${e.prompt} label="Prompt" />
        <${Again} key=${`${head.id}/${row}/${column}`} id=${head.id} row=${row} column=${column} template=${e.template} sent=${e.prompt} answer=${e.answer} possible=${head.again} /><//>`}
      ${e.template !== undefined && html`<${Section} title="Template" open=${false}><${Pre} text=${e.template} label="Template" /><//>`}
      ${e.metadata && Object.keys(e.metadata).length > 0 && html`<${Section} title="Metadata" open=${false}><${Code} text=${e.metadata} language="json" label="Metadata" /><//>`}
      <${Section} title="All that is stored" open=${false}><${Code} text=${c.data} language="json" label="All that is stored" /><//>
    </div>`}
  </aside>`;
}
