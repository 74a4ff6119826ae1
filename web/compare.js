// SPDX-License-Identifier: MIT
// Compares two evals of the same tests; rows that got worse come first.
import { html, useEffect, useState, useUrl, useKeys, useAnswer, go, withQuery, Link, Trouble, Empty, Chip, Choice, count, percent, score, ms } from "./base.js";
import { visible, plain, Difference } from "./text.js";
import { Mark, kindOf } from "./table.js";

const PAGE = 50;
const KINDS = [["", "All"], ["regressed", "Regressed"], ["fixed", "Fixed"], ["neither", "Failed in both"], ["both", "Passed in both"], ["only-first", "Only in the first"], ["only-second", "Only in the second"]];
const signed = (x) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${(100 * Math.abs(x)).toFixed(1)}`;

function Side({ id, side, column }) {
  const c = side?.cell;
  if (!c) return html`<div class="muted">–</div>`;
  return html`<div class="answer-head"><${Mark} kind=${kindOf(c)} /> <b>${score(c.score)}</b><span class="muted">${ms(c.latencyMs)}</span><span class="grow"></span>
      <${Link} to=${`/eval/${encodeURIComponent(id)}?cell=${side.row}.${column}`}>Open<//></div>
    ${c.reason && html`<div class="reason" dir="auto">${visible(c.reason)}</div>`}<div class="answer" dir="auto">${visible(c.text)}</div>`;
}

function Row({ row, sides, open, toggle }) {
  const vars = row.first?.vars || row.second?.vars || [], description = row.first?.description || row.second?.description || "";
  const other = row.first && row.second && JSON.stringify(row.first.vars) !== JSON.stringify(row.second.vars);
  return html`<tr><td class="num"><span class="narrow">Row </span>${row.row}</td><td class="compare-test" dir="auto"><b>${visible(description)}</b><div class="muted">${visible(vars.join(" · ").slice(0, 300))}</div>
      ${other && html`<span class="chip warn">other variables in the second</span>`}</td>
    <td><span class=${"tag kind-" + row.kind}>${KINDS.find(([k]) => k === row.kind)?.[1]}</span></td>
    <td class="compare-side"><${Side} id=${sides[0].id} side=${row.first} column=${sides[0].column} /></td><td class="compare-side"><${Side} id=${sides[1].id} side=${row.second} column=${sides[1].column} /></td>
    <td><button class="quiet" aria-expanded=${open} onClick=${toggle}>Diff</button></td></tr>
  ${open && html`<tr><td colspan="6"><${Difference} expected=${row.first?.cell?.text ?? ""} got=${row.second?.cell?.text ?? ""} names=${["First", "Second"]} /></td></tr>`}`;
}

const Columns = ({ side, name, label }) => html`<label class="pick-one">${label} <select value=${String(side.column)} onChange=${(e) => go(withQuery({ [name]: e.target.value, from: null }))}>
  ${side.columnHeads.map((h, k) => html`<option value=${String(k)} selected=${k === side.column}>${plain(`${k + 1}: ${h.provider || ""} ${(h.label || "").slice(0, 60)}`)}</option>`)}</select></label>`;

export function Compare({ args: [first, second] }) {
  const { query } = useUrl();
  const from = Number(query.from) || 0;
  const [open, setOpen] = useState(new Set());
  const { value, failure, busy } = useAnswer(`/api/view/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}`,
    { kind: query.kind, first: query.first, second: query.second, offset: from, limit: PAGE }, [first, second, query.kind, query.first, query.second, from]);
  useEffect(() => { document.title = "Comparison · fumehood"; }, []);
  useKeys({ s: { run: () => go(`/compare/${encodeURIComponent(second)}/${encodeURIComponent(first)}`), help: "Swap the two" }, f: { run: () => go(withQuery({ kind: query.kind === "regressed" ? null : "regressed", from: null })), help: "Regressions only" } });
  if (!value) return html`<main id="main" class="page" aria-busy=${busy}><${Trouble} failure=${failure} /></main>`;
  const c = value.counts, paired = c.regressed + c.fixed + c.both + c.neither;
  const rate = (n) => percent(n, paired);
  return html`<main id="main" class="page" aria-busy=${busy}>
    <div class="bar"><h1>Comparison</h1>${value.sides.map((s, i) => html`${i ? html`<span class="muted">with</span>` : null}<${Link} class="chip" to=${`/eval/${encodeURIComponent(s.id)}`}>${visible(s.description || s.id)}<//>`)}
      <button class="quiet" onClick=${() => go(`/compare/${encodeURIComponent(second)}/${encodeURIComponent(first)}`)} title="Swap (s)">Swap</button></div>
    <${Trouble} failure=${failure} />
    <div class="bar"><${Columns} side=${value.sides[0]} name="first" label="First" /><${Columns} side=${value.sides[1]} name="second" label="Second" /></div>
    <div class="chips"><${Chip} label="first" value=${rate(c.both + c.regressed)} /><${Chip} label="second" value=${rate(c.both + c.fixed)} />
      <${Chip} label="difference" value=${paired ? `${signed(value.difference)} points (${signed(value.low)} to ${signed(value.high)})` : "–"} title="95 % interval of the paired difference" />
      <${Chip} label="p" value=${!paired ? "–" : value.p < 0.001 ? "< 0.001" : value.p.toFixed(3)} title="McNemar's exact test, two-sided: how likely such a difference is by chance" /><${Chip} label="pairs" value=${count(paired)} /></div>
    <${Choice} label="Which rows" value=${query.kind || ""} choose=${(k) => go(withQuery({ kind: k, from: null }))}
      options=${KINDS.filter(([k]) => !k || c[k] > 0 || k === query.kind || k === "regressed" || k === "fixed").map(([k, name]) => [k, `${name} ${k ? count(c[k]) : ""}`])} />
    ${value.rows.length === 0 ? html`<${Empty} title=${query.kind === "regressed" ? "Nothing got worse" : query.kind ? "No such rows" : "Neither has results"} />` : html`<div class="scroll-x"><table class="list compare"><thead><tr><th class="num">Row</th><th>Test</th><th>What</th>
      ${value.sides.map((s) => html`<th>${visible(s.columnHeads[s.column]?.provider || s.description || s.id)}</th>`)}<th><span class="sr">Difference of the answers</span></th></tr></thead>
      <tbody>${value.rows.map((r) => html`<${Row} key=${r.row} row=${r} sides=${value.sides} open=${open.has(r.row)} toggle=${() => setOpen((o) => { const n = new Set(o); if (!n.delete(r.row)) n.add(r.row); return n; })} />`)}</tbody></table></div>
    ${value.matched > PAGE && html`<nav class="pager" aria-label="Pages"><button disabled=${from === 0} onClick=${() => go(withQuery({ from: Math.max(0, from - PAGE) || null }))}>Before</button><span>${count(from + 1)} – ${count(Math.min(from + PAGE, value.matched))} of ${count(value.matched)}</span>
      <button disabled=${from + PAGE >= value.matched} onClick=${() => go(withQuery({ from: from + PAGE }))}>After</button></nav>`}`}
  </main>`;
}
