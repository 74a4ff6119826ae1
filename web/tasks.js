// SPDX-License-Identifier: MIT
// The results of a judgement by task, with pass@k.
import { html, useState, useAnswer, Link, Trouble, Rate, count, percent, withQuery } from "./base.js";
import { visible, plain } from "./text.js";
import { interval } from "./numbers.js";
import { Plot, Chart } from "./charts.js";

const SHOWN = 300; // tasks shown at first, and added by each click

function Curve({ points }) {
  const rate = (x) => percent(x, 1);
  return html`<${Chart} title="pass@k, with 95 % intervals over tasks" names=${["pass@k"]} head=${["k", "Tasks", "pass@k", "From", "To"]}
      rows=${points.map((p) => [p.k, count(p.tasks), rate(p.value), p.low === undefined ? "–" : rate(p.low), p.high === undefined ? "–" : rate(p.high)])}>
    <${Plot} label=${points.map((p) => `pass@${p.k} ${rate(p.value)}`).join(", ")} deps=${[JSON.stringify(points)]} make=${(uPlot, axis) => ({
      options: {
        scales: { x: { time: false, distr: points.length > 1 ? 3 : 1, range: [points[0].k * 0.9, points[points.length - 1].k * 1.1] }, y: { range: [0, 1] } },
        axes: [axis({ splits: () => points.map((p) => p.k), filter: (u, v) => v, values: (u, v) => v.map(String) }), axis({ size: 62, values: (u, v) => v.map((x) => `${Math.round(100 * x)} %`) })],
        series: [{}, { stroke: "#2f7fb8", width: 2, points: { show: true, size: 7 } }, { stroke: "#2f7fb866", width: 1, points: { show: false } }, { stroke: "#2f7fb866", width: 1, points: { show: false } }],
        bands: [{ series: [3, 2], fill: "#2f7fb822" }],
      },
      data: [points.map((p) => p.k), points.map((p) => p.value), points.map((p) => p.low ?? null), points.map((p) => p.high ?? null)],
    })} /><//>`;
}

export function Tasks({ id, head }) {
  const { value, failure } = useAnswer(`/api/view/evals/${encodeURIComponent(id)}/tasks`, {}, [id, head.successes + head.failures + head.errors]);
  const [shown, set] = useState(SHOWN);
  if (!value) return html`<div class="part-page"><${Trouble} failure=${failure} /></div>`;
  const worst = [...value.tasks].sort((a, b) => a.passed / a.samples - b.passed / b.samples);
  return html`<div class="part-page tasks"><div class="chips">${value.passAtK.map((p) => html`<span class="chip" title=${p.low === undefined ? "" : `95 % interval ${percent(p.low, 1)} to ${percent(p.high, 1)}`}><span class="chip-label">pass@${p.k}</span> <b>${percent(p.value, 1)}</b></span>`)}</div>
    <div class="charts"><${Curve} points=${value.passAtK} /></div>
    <div class="scroll-x"><table class="list"><thead><tr><th>Task, worst first</th><th>Passed</th><th class="num">Samples</th><th>Each sample</th></tr></thead>
    <tbody>${worst.slice(0, shown).map((t) => { const [low, high] = interval(t.passed, t.samples); return html`<tr><td><b>${visible(t.task)}</b></td><td><${Rate} passed=${t.passed} done=${t.samples} low=${low} high=${high} /></td><td class="num">${count(t.samples)}</td>
      <td><div class="samples">${t.rows.slice(0, 200).map(([row, passed, status]) => html`<${Link} class=${"sample " + (passed ? "pass" : "fail")} to=${withQuery({ view: null, cell: `${row}.0` })} title=${plain(status)} aria-label=${`Sample ${row}: ${plain(status)}`}>${passed ? "✓" : "✗"}<//>`)}</div></td></tr>`; })}</tbody></table></div>
    ${shown < worst.length && html`<p><button onClick=${() => set(shown + SHOWN)}>Show more</button> <span class="muted">${count(shown)} of ${count(worst.length)} tasks</span></p>`}</div>`;
}
