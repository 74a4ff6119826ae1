// SPDX-License-Identifier: MIT
// Charts of an eval, each with a table of its values.
import { html, useEffect, useRef, useAnswer, Trouble, Empty, count, percent, score, ms, money } from "./base.js";
import { visible, plain } from "./text.js";
import { interval } from "./numbers.js";

const COLOURS = ["#2f7fb8", "#c2703d", "#3f9f6b", "#9a5fb0", "#b8543f", "#7f8f2f", "#4f6fd0", "#a0527f"];
const colour = (k) => COLOURS[k % COLOURS.length];

let library = null;
function load() {
  if (!library) {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = "/web/vendor/uplot.css";
    document.head.append(style);
    library = import("./vendor/uplot.js").then((m) => m.default);
  }
  return library;
}

// `make` returns uPlot's options and data; the chart has the width of its container.
export function Plot({ make, label, deps }) {
  const box = useRef(null);
  useEffect(() => {
    let chart = null, gone = false;
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--muted").trim(), line = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
    const axis = (a) => ({ stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui", ...a });
    const resize = new ResizeObserver(() => chart?.setSize({ width: box.current.clientWidth, height: 240 }));
    load().then((uPlot) => {
      if (gone) return;
      const { options, data } = make(uPlot, axis, ink);
      chart = new uPlot({ width: box.current.clientWidth, height: 240, legend: { show: false }, cursor: { y: false }, ...options }, data, box.current);
      resize.observe(box.current);
    });
    return () => { gone = true; resize.disconnect(); chart?.destroy(); };
  }, deps);
  return html`<div class="plot" ref=${box} role="img" aria-label=${label}></div>`;
}

export function Chart({ title, children, head, rows, names }) {
  return html`<section class="chart" aria-label=${title}><h3>${title}</h3>${children}
    ${names.length > 1 && html`<p class="legend">${names.map((n, k) => html`<span><i style=${{ background: colour(k) }}></i>${visible(n)}</span>`)}</p>`}
    <details><summary>Table</summary><div class="scroll-x"><table class="list"><thead><tr>${head.map((h) => html`<th>${visible(h)}</th>`)}</tr></thead>
      <tbody>${rows.map((r) => html`<tr>${r.map((c) => html`<td>${visible(String(c))}</td>`)}</tr>`)}</tbody></table></div></details></section>`;
}

// Rates with their intervals: a bar for each column, drawn by the library's own bars, and whiskers over them.
function Rates({ names, columns }) {
  const rates = columns.map((c) => { const n = c.passed + c.failed + c.errors; return { n, passed: c.passed, rate: n ? c.passed / n : 0, range: interval(c.passed, n) }; });
  return html`<${Chart} title="Pass rate, with 95 % intervals" names=${names} head=${["Column", "Passed", "Results", "Rate", "From", "To"]}
      rows=${rates.map((r, k) => [names[k], count(r.passed), count(r.n), percent(r.passed, r.n), percent(r.range[0], 1), percent(r.range[1], 1)])}>
    <${Plot} label=${`Pass rates: ${rates.map((r, k) => `${plain(names[k])} ${percent(r.passed, r.n)}`).join(", ")}`} deps=${[JSON.stringify(rates)]} make=${(uPlot, axis, ink) => ({
      options: {
        scales: { x: { time: false, range: [-0.6, names.length - 0.4] }, y: { range: [0, 1] } },
        axes: [axis({ splits: () => names.map((_, k) => k), values: (u, v) => v.map((k) => String(k + 1)), grid: { show: false } }), axis({ size: 62, values: (u, v) => v.map((x) => `${Math.round(100 * x)} %`) })],
        series: [{}, ...names.map((_, k) => ({ fill: colour(k) + "bb", stroke: colour(k), width: 1, points: { show: false }, paths: uPlot.paths.bars({ size: [0.5, 70] }) }))],
        hooks: { draw: [(u) => {
          const c = u.ctx;
          c.save();
          c.strokeStyle = ink;
          c.lineWidth = 2 * devicePixelRatio;
          rates.forEach((r, k) => {
            const x = u.valToPos(k, "x", true), a = u.valToPos(r.range[0], "y", true), b = u.valToPos(r.range[1], "y", true), w = 6 * devicePixelRatio;
            c.beginPath();
            c.moveTo(x, a); c.lineTo(x, b); c.moveTo(x - w, a); c.lineTo(x + w, a); c.moveTo(x - w, b); c.lineTo(x + w, b);
            c.stroke();
          });
          c.restore();
        }] },
      },
      data: [names.map((_, k) => k), ...names.map((_, k) => names.map((_, i) => (i === k ? rates[k].rate : null)))],
    })} /><//>`;
}

const WIDTH = 0.86; // of a bin, taken by its bars

function Bins({ title, names, edges, series, show, label }) {
  const used = edges.map((_, i) => i).filter((i) => series.some((s) => s[i] > 0));
  const from = used.length ? used[0] : 0, to = used.length ? used[used.length - 1] + 1 : edges.length;
  const cut = edges.slice(from, to), cuts = series.map((s) => s.slice(from, to));
  return html`<${Chart} title=${title} names=${names} head=${["From", ...names]} rows=${cut.map((e, i) => [show(e), ...cuts.map((s) => count(s[i]))])}>
    <${Plot} label=${label} deps=${[JSON.stringify(cuts)]} make=${(uPlot, axis) => ({
      options: {
        scales: { x: { time: false, range: [-0.1, cut.length + 0.1] }, y: { range: (u, min, max) => [0, Math.max(1, max)] } },
        axes: [axis({ splits: () => cut.map((_, i) => i).filter((i) => cut.length < 9 || i % 4 === 0), values: (u, v) => v.map((i) => show(cut[i])), grid: { show: false } }), axis({ size: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1e6] })],
        series: [{}, ...names.map((_, k) => ({ stroke: colour(k), fill: colour(k) + "bb", width: 1, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 60] }) }))],
      },
      // In each bin the columns stand beside each other, each at an x of its own; a bin without results has no bar.
      data: [cut.flatMap((_, i) => names.map((_, k) => i + WIDTH * (k + 0.5) / names.length + (1 - WIDTH) / 2)),
        ...cuts.map((s, k) => cut.flatMap((_, i) => names.map((_, j) => (j === k && s[i] ? s[i] : null))))],
    })} /><//>`;
}

// Of the values along a logarithmic axis only the powers of ten.
const powers = (u, splits) => splits.map((v) => (Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6 ? v : null));

function Cloud({ title, names, points, x, xName, showX, every }) {
  const sorted = points.filter((p) => p[x] > 0).sort((a, b) => a[x] - b[x]);
  if (!sorted.length) return null;
  return html`<${Chart} title=${title} names=${names} head=${["Column", "Row", xName, "Score"]} rows=${sorted.slice(0, 200).map((p) => [names[p[0]], p[4], showX(p[x]), score(p[1])])}>
    <${Plot} label=${title} deps=${[sorted.length, x]} make=${(uPlot, axis) => ({
      options: {
        scales: { x: { time: false, distr: 3 }, y: { range: [-0.05, 1.05] } },
        axes: [axis({ filter: powers, grid: { stroke: axis({}).grid.stroke, width: 1, filter: powers }, values: (u, v) => v.map((n) => (n === null ? "" : showX(n))) }), axis({})],
        series: [{}, ...names.map((_, k) => ({ stroke: colour(k), paths: () => null, points: { show: true, size: 5, fill: colour(k) + "88", stroke: colour(k) } }))],
      },
      data: [sorted.map((p) => p[x]), ...names.map((_, k) => sorted.map((p) => (p[0] === k ? p[1] : null)))],
    })} />${every > 1 && html`<p class="muted">One in ${count(every)} results is drawn.</p>`}<//>`;
}

export function Charts({ id, head }) {
  const done = head.successes + head.failures + head.errors;
  const { value, failure } = useAnswer(`/api/view/evals/${encodeURIComponent(id)}/numbers`, {}, [id, done]);
  if (!value) return html`<div class="part-page"><${Trouble} failure=${failure} /></div>`;
  const names = value.columns.map((_, k) => { const h = head.columnHeads[k] || {}; return `${k + 1}: ${h.provider || ""} ${(h.label || "").slice(0, 40)}`; });
  if (!done) return html`<div class="part-page"><${Empty} title=${head.running ? "No results yet" : "This eval has no results"} /></div>`;
  const scoreEdges = Array.from({ length: 20 }, (_, i) => i / 20), latencyEdges = Array.from({ length: 24 }, (_, i) => 2 ** i / 8);
  return html`<div class="part-page charts">
    <${Rates} names=${names} columns=${value.columns} />
    <${Bins} title="Scores, number of results" names=${names} edges=${scoreEdges} series=${value.columns.map((c) => c.scores)} show=${(n) => score(n)} label="Histogram of scores" />
    <${Bins} title="Latency, number of results" names=${names} edges=${latencyEdges} series=${value.columns.map((c) => c.latencies)} show=${(n) => ms(n)} label=${`Histogram of latency; median ${value.columns.map((c) => ms(c.latency.p50)).join(", ")}`} />
    <${Cloud} title="Score against cost" names=${names} points=${value.points} x=${3} xName="Cost" showX=${money} every=${value.every} />
    <${Cloud} title="Score against latency" names=${names} points=${value.points} x=${2} xName="Latency" showX=${ms} every=${value.every} />
    <section class="chart"><h3>Latency and cost</h3><div class="scroll-x"><table class="list"><thead><tr><th>Column</th><th class="num">Median</th><th class="num">90 %</th><th class="num">99 %</th><th class="num">Longest</th><th class="num">Cost</th></tr></thead>
      <tbody>${value.columns.map((c, k) => html`<tr><td>${visible(names[k])}</td><td class="num">${ms(c.latency.p50)}</td><td class="num">${ms(c.latency.p90)}</td><td class="num">${ms(c.latency.p99)}</td><td class="num">${ms(c.latency.max)}</td><td class="num">${money(head.columnHeads[k]?.metrics?.cost)}</td></tr>`)}</tbody></table></div></section>
  </div>`;
}
