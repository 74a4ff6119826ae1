// SPDX-License-Identifier: MIT
// An eval as a table: only visible rows are in the page, and only rows near them are requested.
import { html, useState, useEffect, useLayoutEffect, useRef, useMemo, useUrl, useKeys, useAnswer, useChanges, useDelayed, get, ask, go, withQuery,
  Link, Trouble, Empty, Chip, Choice, Rate, count, percent, score, ms, money, when, copy, say } from "./base.js";
import { visible, plain } from "./text.js";
import { Cell } from "./cell.js";
import { interval } from "./numbers.js";

const PAGE = 100;       // rows of one request
const PAGES_KEPT = 40;
const METRICS_SHOWN = 4; // in a cell of the table
const HEIGHTS = { small: 34, middle: 102, large: 228 }; // paddings, a border, and whole lines of 18 px (app.css)
const MODES = [["all", "All"], ["passed", "Passed"], ["failed", "Failed"], ["errors", "Errors"], ["different", "Different"], ["rated", "Rated"]];
const FILTERS = ["mode", "q", "re", "metric", "min", "max", "status", "language", "tag", "column", "order", "desc"];

// The link to a cell that the tag "cell-of" names as ID/ROW.COLUMN.
const cellUrl = (tag) => { const at = tag.lastIndexOf("/"); return `/eval/${encodeURIComponent(tag.slice(0, at))}?cell=${encodeURIComponent(tag.slice(at + 1))}`; };
const LISTS = { eval: "/", judge: "/judgements", run: "/runs" };
const api = (id, rest = "") => `/api/view/evals/${encodeURIComponent(id)}${rest}`;

// The parameters of a request, from those of our own URL.
export const filterQuery = (q) => ({ mode: q.mode, search: q.q, regex: q.re && q.q ? 1 : "", metric: q.metric, min: q.min, max: q.max, status: q.status,
  language: q.language, tag: q.tag, column: q.column, order: q.order, desc: q.desc });

const exportUrl = (id, form, query) =>
  api(id, `/export?${new URLSearchParams(Object.entries({ form, ...filterQuery(query) }).filter(([, v]) => v !== undefined && v !== null && v !== ""))}`);

// Rows by their index in the filtered list. `version` counts arrivals, so that the table is drawn again.
class Rows {
  constructor(id, query, changed) {
    Object.assign(this, { named: false, id, query, changed, pages: new Map(), asked: new Set(), stale: new Set(), matched: null, total: null, failure: null, dead: false });
  }
  at(i) { return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE]; }
  async load(page, again = false) {
    if (this.dead || (!again && this.pages.has(page))) return;
    if (this.asked.has(page)) { // a pending answer may have been read before the change
      if (again) this.stale.add(page);
      return;
    }
    this.asked.add(page);
    try {
      const a = await get(api(this.id, "/rows"), { ...this.query, offset: page * PAGE, limit: PAGE });
      if (this.dead) return;
      this.pages.delete(page);
      this.pages.set(page, a.rows);
      this.named ||= a.rows.some((r) => r.description);
      while (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
      this.matched = a.matched;
      this.total = a.total;
      this.failure = null;
    } catch (e) {
      this.failure = e;
    } finally {
      this.asked.delete(page);
    }
    if (this.dead) return;
    this.changed();
    if (this.stale.delete(page)) this.load(page, true);
  }
  need(from, to) { for (let p = Math.floor(Math.max(0, from) / PAGE); p <= Math.floor(Math.max(0, to) / PAGE); p++) this.load(p); }
  renew(from, to) { for (let p = Math.floor(Math.max(0, from) / PAGE); p <= Math.floor(Math.max(0, to) / PAGE); p++) this.load(p, true); }
}

const MARK = { pass: ["✓", "Passed"], fail: ["✗", "Failed"], error: ["!", "Error"] };
export const kindOf = (c) => (c.pass ? "pass" : c.failure === 2 ? "error" : "fail");
export function Mark({ kind }) {
  const [sign, name] = MARK[kind];
  return html`<span class=${"mark-" + kind}><span aria-hidden="true">${sign}</span><span class="sr">${name}</span></span>`;
}

function Answer({ c, tall }) {
  if (!c) return html`<span class="muted">–</span>`;
  const kind = kindOf(c);
  const said = c.rating && (c.rating.thumb > 0 ? "good" : c.rating.thumb < 0 ? "bad" : "rated");
  return html`<div class="answer-head"><${Mark} kind=${kind} /> <b>${score(c.score)}</b>
      ${c.status && c.status !== "ok" && c.status !== "passed" ? html`<span class="tag">${visible(c.status)}</span>` : null}
      ${said && html`<span class="tag said" title=${plain(c.rating.comment)}>${said}</span>`}
      ${c.named && html`<span class="metrics">${Object.entries(c.named).slice(0, METRICS_SHOWN).map(([n, v]) => html`<span class="tag" title="Metric">${visible(n)} ${score(v)}</span>`)}</span>`}<span class="grow"></span>
      ${tall && html`<span class="muted">${ms(c.latencyMs)}</span>`}</div>
    ${c.reason && tall && html`<div class="reason" dir="auto">${visible(c.reason)}</div>`}
    ${c.text === "" && c.reason && !tall ? html`<div class="answer reason" dir="auto">${visible(c.reason)}</div>` : html`<div class="answer" dir="auto">${c.text.startsWith("data:image/") ? html`<i>An image</i>` : visible(c.text)}</div>`}`;
}

function Row({ row, i, vars, columns, height, style, active, open, tall }) {
  if (!row) return html`<div role="row" aria-rowindex=${i + 2} class="row waiting" style=${style}><div role="gridcell" class="index">${count(i + 1)}</div></div>`;
  return html`<div role="row" aria-rowindex=${i + 2} class=${"row" + (active && active.i === i ? " active" : "")} style=${style}>
    <div role="rowheader" class="index" title=${plain(row.description)}><span>${row.row}</span>${tall && row.description && html`<small dir="auto">${visible(row.description)}</small>`}</div>
    ${vars.map((v) => html`<div role="gridcell" class="var" dir="auto">${visible(row.vars[v] || "")}</div>`)}
    ${columns.map((k) => html`<div role="gridcell" id=${`cell-${i}-${k}`} class=${"cell" + (row.cells[k] ? " " + kindOf(row.cells[k]) : "") + (active && active.i === i && active.k === k ? " active" : "")}
       aria-selected=${active && active.i === i && active.k === k ? "true" : "false"} onClick=${() => open(i, k, row)}><${Answer} c=${row.cells[k]} tall=${tall} /></div>`)}</div>`;
}

function Head({ head, k }) {
  const m = head.metrics || {};
  const passed = m.testPassCount || 0, done = passed + (m.testFailCount || 0) + (m.testErrorCount || 0);
  const [low, high] = interval(passed, done);
  const label = plain(head.label || head.raw || "");
  return html`<div role="columnheader" class="head"><div class="head-name"><b>${visible(head.provider || "")}</b></div>
    <div class="head-label" title=${label}>${visible(label.slice(0, 200))}</div>
    <div class="head-numbers"><${Rate} passed=${passed} done=${done} low=${low} high=${high} />
      <span class="muted" title="Mean score">⌀ ${done ? score((m.score || 0) / done) : "–"}</span>
      <span class="muted" title="Mean latency">${done ? ms((m.totalLatencyMs || 0) / done) : ""}</span>
      ${m.cost ? html`<span class="muted">${money(m.cost)}</span>` : null}</div></div>`;
}

function Grid({ rows, head, vars, columns, height, active, setActive, openCell, version }) {
  const box = useRef(null), frame = useRef(0), top = useRef(null);
  const [view, setView] = useState({ from: 0, to: 30 });
  const n = rows.matched ?? 0;
  const tall = height > HEIGHTS.small;
  const look = () => {
    const b = box.current;
    if (!b) return;
    const from = Math.max(0, Math.floor(b.scrollTop / height) - 6), to = Math.min(Math.max(0, n - 1), Math.ceil((b.scrollTop + b.clientHeight) / height) + 6);
    setView((v) => (v.from === from && v.to === to ? v : { from, to }));
    rows.need(from, to);
  };
  useLayoutEffect(look, [rows, height, n]);
  useEffect(() => {
    const o = new ResizeObserver(look);
    o.observe(box.current);
    return () => o.disconnect();
  }, [rows, height, n]);
  useLayoutEffect(() => {              // the active row stays in sight
    const b = box.current;
    if (!active || active.i < 0 || !b) return;
    const y = active.i * height, headHeight = top.current.offsetHeight;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + height > b.scrollTop + b.clientHeight - headHeight) b.scrollTop = y + height - b.clientHeight + headHeight;
    const cell = document.getElementById(`cell-${active.i}-${active.k}`);
    if (cell && active.byKey) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [active]);
  const scroll = () => { cancelAnimationFrame(frame.current); frame.current = requestAnimationFrame(look); };
  // Wide enough for the largest number; wider where rows have names. It stays as it is while the table is scrolled.
  const first = head.kind !== "eval" ? (innerWidth > 560 ? 150 : 100) : rows.named && innerWidth > 560 ? 112 : 24 + 9 * Math.max(3, String(rows.total ?? 0).length);
  const widths = `${first}px ${vars.map(() => "minmax(140px, 1fr)").join(" ")} ${columns.map(() => "minmax(250px, 2fr)").join(" ")}`;
  const shown = [];
  for (let i = view.from; i <= view.to && i < n; i++)
    shown.push(html`<${Row} key=${i} row=${rows.at(i)} i=${i} vars=${vars} columns=${columns} height=${height} active=${active} open=${openCell} tall=${tall}
      style=${{ top: `${i * height}px`, height: `${height}px`, gridTemplateColumns: widths }} />`);
  return html`<div class="grid ${first < 100 ? "slim " : ""}${tall ? (height > 100 ? "large" : "middle") : "small"}" role="grid" aria-label="Results" aria-rowcount=${n + 1} tabindex="0" ref=${box} onScroll=${scroll}
      aria-activedescendant=${active && active.i >= 0 ? `cell-${active.i}-${active.k}` : undefined}>
    <div class="grid-inner" style=${{ minWidth: `${first + vars.length * 140 + columns.length * 250}px` }}>
    <div role="row" aria-rowindex="1" class="grid-head" ref=${top} style=${{ gridTemplateColumns: widths }}><div role="columnheader" class="index head">#</div>
      ${vars.map((v) => html`<div role="columnheader" class="head"><div class="head-name" dir="auto">${visible(head.vars[v])}</div></div>`)}
      ${columns.map((k) => html`<${Head} head=${head.columnHeads[k]} k=${k} />`)}</div>
    <div class="grid-body" role="rowgroup" style=${{ height: `${n * height}px` }}>${shown}</div></div></div>`;
}

const Pick = ({ label, name, query, options }) => options.length > 0 && html`<label class="pick-one">${label}
  <select value=${query[name] || ""} onChange=${(e) => go(withQuery({ [name]: e.target.value, cell: null }))}>
    <option value="">any</option>${options.map(([v, t]) => html`<option value=${v} selected=${query[name] === v}>${plain(t)}</option>`)}</select></label>`;

function Filters({ query, head, rows }) {
  const [typed, type] = useState(query.q || "");
  const q = useDelayed(typed, 150);
  const [more, setMore] = useState(["metric", "status", "language", "tag", "column", "order"].some((n) => query[n]));
  useEffect(() => { if ((query.q || "") !== q) go(withQuery({ q, cell: null }), { replace: true }); }, [q]);
  useEffect(() => { if ((query.q || "") !== typed && (query.q || "") !== q) type(query.q || ""); }, [query.q]);
  const { value: found } = useAnswer(more ? api(head.id, "/tags") : null, {}, [more, head.id]);
  const tags = Object.entries(found?.tags || {}).map(([v, n]) => [v, `${v} (${count(n)})`]);
  if (query.tag && !found?.tags?.[query.tag]) tags.unshift([query.tag, query.tag]);
  const facet = (o) => Object.entries(o || {}).map(([v, n]) => [v, `${v} (${count(n)})`]);
  const any = FILTERS.some((n) => query[n]);
  return html`<div class="filters" role="search">
    <${Choice} label="Which rows" options=${MODES} value=${query.mode || "all"} choose=${(mode) => go(withQuery({ mode: mode === "all" ? null : mode, cell: null }))} />
    <span class="search-box"><input id="search" type="search" placeholder=${query.re ? "Regular expression" : "Search answers and variables"} aria-label="Search rows" value=${typed} onInput=${(e) => type(e.target.value)} />
      <button class="toggle" aria-pressed=${query.re ? "true" : "false"} title="Regular expression (.)" aria-label="Regular expression" onClick=${() => go(withQuery({ re: query.re ? null : 1, cell: null }))}>.*</button></span>
    <button class="toggle" aria-expanded=${more} onClick=${() => setMore(!more)}>More</button>
    <span class="muted shown" role="status">${rows.matched === null ? "" : rows.matched === rows.total ? `${count(rows.total)} ${rows.total === 1 ? "row" : "rows"}` : `${count(rows.matched)} of ${count(rows.total)} rows`}</span>
    ${any && html`<button class="quiet" onClick=${() => { type(""); go(withQuery(Object.fromEntries(FILTERS.map((n) => [n, null])))); }}>Clear</button>`}
    ${more && html`<div class="more-filters">
      <${Pick} label="Metric" name="metric" query=${query} options=${(head.facets?.metrics || []).map((m) => [m, m])} />
      ${query.metric && html`<label class="pick-one">from <input class="short" inputmode="decimal" value=${query.min || ""} onChange=${(e) => go(withQuery({ min: e.target.value }))} /></label>
        <label class="pick-one">to <input class="short" inputmode="decimal" value=${query.max || ""} onChange=${(e) => go(withQuery({ max: e.target.value }))} /></label>`}
      <${Pick} label="Status" name="status" query=${query} options=${facet(head.facets?.status)} />
      <${Pick} label="Language" name="language" query=${query} options=${facet(head.facets?.language)} />
      ${(query.tag || tags.length > 0) && html`<${Pick} label="Tag or metadata" name="tag" query=${query} options=${tags} />`}
      ${head.columnHeads.length > 1 && html`<${Pick} label="Column" name="column" query=${query} options=${head.columnHeads.map((h, k) => [String(k), `${k + 1}: ${h.provider || h.label}`])} />`}
      <${Pick} label="Order" name="order" query=${query} options=${[["score", "score"], ["latency", "latency"], ["cost", "cost"], ["tokens", "tokens"]]} />
      ${query.order && html`<label class="pick-one"><input type="checkbox" checked=${!!query.desc} onChange=${(e) => go(withQuery({ desc: e.target.checked ? 1 : null }))} /> largest first</label>`}
    </div>`}
  </div>`;
}

function Title({ head, id, renew }) {
  const [edit, setEdit] = useState(null);
  const save = async () => {
    const text = edit;
    setEdit(null);
    try { await ask("PATCH", api(id), { body: { description: text } }); renew(); } catch (e) { say(e.message); }
  };
  return edit === null
    ? html`<h1 dir="auto">${visible(head.description || head.id)} <button class="quiet" title="Change the description" aria-label="Change the description" onClick=${() => setEdit(head.description)}>✎</button></h1>`
    : html`<form class="grow" onSubmit=${(e) => { e.preventDefault(); save(); }}><input class="title-field" aria-label="Description" value=${edit} maxlength="1000" autofocus onInput=${(e) => setEdit(e.target.value)}
        onKeyDown=${(e) => { if (e.key === "Escape") { e.stopPropagation(); setEdit(null); } }} /> <button>Save</button></form>`;
}

const EXPORTS = [["csv", "CSV", "Rows that the table shows, as a spreadsheet"], ["json", "JSON", "Rows that the table shows, all that is stored"],
  ["yaml", "Tests as YAML", "Tests of the rows that the table shows, for another eval"]];
const REPORTS = [["html", "Report, HTML", "The whole eval in one file, to read and to print"], ["md", "Report, Markdown", "The same as Markdown"]];

// Downloads, behind one button.
function Exports({ id, head, query }) {
  const box = useRef(null);
  useEffect(() => {
    const away = (e) => { if (box.current?.open && (e.key === "Escape" || (e.type === "click" && !box.current.contains(e.target)))) { box.current.open = false; e.stopPropagation(); } };
    addEventListener("click", away);
    addEventListener("keydown", away, true);
    return () => { removeEventListener("click", away); removeEventListener("keydown", away, true); };
  }, []);
  const forms = [...EXPORTS.filter(([form]) => form !== "yaml" || head.kind === "eval").map(([form, ...rest]) => [exportUrl(id, form, query), ...rest]),
    ...(head.kind === "run" ? [] : REPORTS.map(([form, ...rest]) => [api(id, `/report?form=${form}`), ...rest]))];
  return html`<details class="menu" ref=${box}><summary>Export</summary><div class="menu-list">${forms.map(([url, name, about]) =>
    html`<a href=${url} download onClick=${() => { box.current.open = false; }}><b>${name}</b><span class="muted">${about}</span></a>`)}</div></details>`;
}

// Pages of an eval that most visits do not need; loaded on demand.
const PARTS = { tasks: () => import("./tasks.js").then((m) => m.Tasks), charts: () => import("./charts.js").then((m) => m.Charts), config: () => import("./config.js").then((m) => m.Config) };
function Part({ name, ...props }) {
  const [Found, set] = useState(null);
  useEffect(() => { let gone = false; set(null); PARTS[name]?.().then((f) => { if (!gone) set(() => f); }); return () => { gone = true; }; }, [name]);
  return Found ? html`<${Found} ...${props} />` : null;
}

export function Table({ args: [id] }) {
  const { query } = useUrl();
  const [version, bump] = useState(0);
  const [renewed, renewHead] = useState(0);
  const { value: head, failure } = useAnswer(api(id), {}, [id, renewed]);
  const [size, setSize] = useState(() => { try { return localStorage.getItem("rows") || "middle"; } catch { return "middle"; } });
  const [showVars, setShowVars] = useState(() => innerWidth > 800);
  const [active, setActive] = useState(null);
  const key = JSON.stringify(FILTERS.map((n) => query[n] || ""));
  const rows = useMemo(() => new Rows(id, filterQuery(query), () => bump((n) => n + 1)), [id, key]);
  useEffect(() => { rows.load(0); setActive((a) => (a ? { ...a, i: -1 } : a)); return () => { rows.dead = true; }; }, [rows]);
  useEffect(() => { try { localStorage.setItem("rows", size); } catch { /* the browser does not allow storage */ } }, [size]);
  useEffect(() => { if (head) document.title = `${plain(head.description || head.id)} · fumehood`; }, [head]);
  useChanges((c) => {
    if (c.evalId !== id && c.evalId !== head?.id) return;
    renewHead((n) => n + 1);
    const y = document.querySelector(".grid");
    const from = y ? Math.floor(y.scrollTop / HEIGHTS[size]) : 0;
    rows.renew(from, from + 40);
  });

  const columns = useMemo(() => (head ? head.columnHeads.map((_, k) => k) : []), [head?.columnHeads.length]);
  const at = (query.cell || (query.rowId ? `${query.rowId - 1}.0` : "")).match(/^(\d+)\.(\d+)$/);
  const alone = head?.kind === "run"; // a single cell needs no table
  const open = alone ? { row: 0, column: 0 } : at ? { row: Number(at[1]), column: Number(at[2]) } : null;
  // With an open cell beside it, the table only has room for the answers.
  const vars = useMemo(() => (head && showVars && !open ? head.vars.map((_, v) => v) : []), [head?.vars.length, showVars, !open]);
  const openCell = (i, k, row) => { setActive({ i, k }); go(withQuery({ cell: `${row.row}.${k}`, rowId: null }), { replace: !!open }); };
  const close = () => { go(withQuery({ cell: null, rowId: null })); document.querySelector(".grid")?.focus(); };

  // A permalink has the number of a row, not its index in the list: search for it near that index.
  useEffect(() => {
    if (!open || (active && active.i >= 0) || rows.matched === null) return;
    for (const [p, list] of rows.pages) {
      const n = list.findIndex((r) => r.row === open.row);
      if (n >= 0) { setActive({ i: p * PAGE + n, k: open.column }); return; }
    }
    if (rows.matched === rows.total && open.row < rows.total && !query.order) setActive({ i: open.row, k: open.column });
  }, [rows, version, query.cell]);

  const move = async (by, sideways) => {
    if (!rows.matched) return;
    const i = Math.max(0, Math.min(rows.matched - 1, (active && active.i >= 0 ? active.i : -by > 0 ? 0 : -1) + by));
    const k = Math.max(0, Math.min(columns.length - 1, (active ? active.k : 0) + sideways));
    const to = { i: sideways && !(active && active.i >= 0) ? 0 : i, k, byKey: true };
    setActive(to);
    if (!open) return;
    if (!rows.at(to.i)) await rows.load(Math.floor(to.i / PAGE));
    const row = rows.at(to.i);
    if (row) go(withQuery({ cell: `${row.row}.${to.k}` }), { replace: true });
  };
  const hope = async (wish) => {
    try { await ask("POST", api(id, "/wish"), { body: { wish } }); say({ pause: "It pauses within a second", "go-on": "It goes on", cancel: "It stops within a second" }[wish]); renewHead((n) => n + 1); } catch (e) { say(e.message); }
  };
  const retry = async () => {
    try { await ask("POST", "/api/view/jobs", { body: { retry: head.id } }); say("Started: results appear here as they come"); } catch (e) { say(e.message); }
  };
  const mode = (m) => () => go(withQuery({ mode: m === "all" || query.mode === m ? null : m, cell: null }));
  useKeys({
    j: { run: () => move(1, 0), help: "Next row" }, k: { run: () => move(-1, 0), help: "Previous row" },
    h: { run: () => move(0, -1), help: "Column to the left" }, l: { run: () => move(0, 1), help: "Column to the right" },
    ArrowDown: { run: (e) => (e.target.closest("pre, .cell-panel, dialog") ? false : move(1, 0)) }, ArrowUp: { run: (e) => (e.target.closest("pre, .cell-panel, dialog") ? false : move(-1, 0)) },
    ArrowRight: { run: (e) => (e.target.closest("pre, dialog, [role=radiogroup]") ? false : move(0, 1)) }, ArrowLeft: { run: (e) => (e.target.closest("pre, dialog, [role=radiogroup]") ? false : move(0, -1)) },
    Enter: { run: (e) => { if (e.target.closest("a, button, summary") || !active || active.i < 0 || !rows.at(active.i)) return false; openCell(active.i, active.k, rows.at(active.i)); return true; }, help: "Open the cell" },
    Escape: { run: () => (open && !alone ? close() : query.view ? go(withQuery({ view: null })) : false), help: "Close" },
    f: { run: mode("failed"), help: "Failed rows only" }, e: { run: mode("errors"), help: "Errors only" }, d: { run: mode("different"), help: "Rows whose columns differ" },
    a: { run: mode("all"), help: "All rows" },
    "/": { run: () => document.getElementById("search")?.focus(), help: "Search" },
    ".": { run: () => go(withQuery({ re: query.re ? null : 1 })), help: "Search by regular expression" },
    r: { run: () => setSize((s) => Object.keys(HEIGHTS)[(Object.keys(HEIGHTS).indexOf(s) + 1) % 3]), help: "Row height" },
    v: { run: () => setShowVars(!showVars), help: "Show or hide variables" },
    c: { run: () => go(withQuery({ view: query.view === "charts" ? null : "charts" })), help: "Charts" },
  });

  if (failure && !head) return html`<main id="main" class="page"><h1 class="sr">Not found</h1><${Trouble} failure=${failure} /><p><${Link} to="/">All evals<//></p></main>`;
  if (!head) return html`<main id="main" class="page" aria-busy="true"></main>`;
  const done = head.successes + head.failures + head.errors;
  const tab = (name, text) => html`<${Link} class="tab" to=${withQuery({ view: name, cell: null })} aria-current=${(query.view || null) === name ? "page" : undefined}>${text}<//>`;
  return html`<main id="main" class="page table-page">
    <div class="bar title"><${Title} head=${head} id=${id} renew=${() => renewHead((n) => n + 1)} />
      <span class="chips"><button class="chip" title="Copy the id" onClick=${() => copy(head.id)}><code>${visible(head.id)}</code></button>
      <span class="chip">${when(head.createdAt)}</span>
      ${head.running ? html`<span class="chip live">running ${count(done)} of ${count(head.total)}</span>
        ${head.wish === "pause" ? html`<span class="chip warn">pause asked for</span>` : null}
        ${[head.wish === "pause" ? ["go-on", "Go on"] : ["pause", "Pause"], ["cancel", "Stop"]].map(([wish, name]) => html`<button onClick=${() => hope(wish)}>${name}</button>`)}` : null}
      ${head.state === "interrupted" ? html`<span class="chip warn">interrupted at ${count(done)} of ${count(head.total)}</span>` : null}
      ${head.kind !== "run" && html`<${Chip} label="passed" value=${percent(head.successes, done)} /><${Chip} label="results" value=${count(done)} />`}
      ${head.errors > 0 && html`<${Chip} label="errors" value=${count(head.errors)} kind="error" />`}
      ${head.durationMs > 0 && html`<${Chip} label="took" value=${ms(head.durationMs)} />`}${head.tokens > 0 && html`<${Chip} label="tokens" value=${count(head.tokens)} />`}${head.cost > 0 && html`<${Chip} label="cost" value=${money(head.cost)} />`}
      ${Object.entries(head.tags || {}).map(([n, v]) => n === "cell-of" ? html`<${Link} class="chip" title="The cell that was run again here" to=${cellUrl(v)}>again: ${visible(v)}<//>`
        : html`<${Link} class="chip" title="Evals with this tag" to=${`${LISTS[head.kind]}?tag=${encodeURIComponent(v ? `${n}=${v}` : n)}`}>${visible(v ? `${n}=${v}` : n)}<//>`)}
      ${!head.running && head.again && (head.errors > 0 || head.state === "interrupted") ? html`<button title="Run again what met an error, and what is missing" onClick=${retry}>${head.errors > 0 ? "Run the errors again" : "Go on"}</button>` : null}</span></div>
    <nav class="tabs" aria-label="Parts of the eval">${tab(null, "Results")}${head.kind === "judge" && tab("tasks", "Tasks")}${!alone && tab("charts", "Charts")}${tab("config", "Configuration")}<span class="grow"></span>
      ${!query.view && head.vars.length > 0 && html`<button class="quiet wide" onClick=${() => setShowVars(!showVars)} aria-pressed=${showVars && !open} disabled=${!!open} title=${open ? "The table has no room for them beside an open cell" : "Show or hide variables (v)"}>Variables</button>`}
      ${!query.view && !alone && html`<label class="pick-one wide">Rows <select value=${size} onChange=${(e) => setSize(e.target.value)}>${Object.keys(HEIGHTS).map((s) => html`<option value=${s} selected=${s === size}>${s}</option>`)}</select></label>`}
      <${Exports} id=${id} head=${head} query=${query} /></nav>
    ${query.view ? html`<${Part} name=${query.view} id=${id} head=${head} />` : html`
      ${!alone && html`<${Filters} query=${query} head=${head} rows=${rows} />`}
      <${Trouble} failure=${rows.failure} />
      <div class=${"split" + (open ? " opened" : "")}>
        ${alone ? null : rows.matched === 0 ? html`<${Empty} title=${rows.total ? "No row fits the filter" : head.running ? "No results yet" : "This eval has no results"}>${rows.total ? html`<button onClick=${() => go(withQuery(Object.fromEntries(FILTERS.map((n) => [n, null]))))}>Show all rows</button>` : null}<//>`
          : html`<${Grid} rows=${rows} head=${head} vars=${vars} columns=${columns} height=${HEIGHTS[size]} active=${active} setActive=${setActive} openCell=${openCell} version=${version} />`}
        ${open && html`<${Cell} id=${id} head=${head} row=${open.row} column=${open.column} alone=${alone} close=${close} next=${() => move(1, 0)} previous=${() => move(-1, 0)} changed=${() => rows.renew(active?.i ?? 0, active?.i ?? 0)} />`}
      </div>`}
  </main>`;
}
