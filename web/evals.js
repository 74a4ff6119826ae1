// SPDX-License-Identifier: MIT
// The list of evals.
import { html, useState, useEffect, useRef, useUrl, useKeys, useAnswer, useChanges, useDelayed, ask, go, withQuery, Link, Trouble, Empty, Rate,
  count, ms, money, when, say } from "./base.js";
import { visible, plain } from "./text.js";

const PAGE = 100;

function Row({ e, at, active, focus, chosen, choose }) {
  const link = useRef(null);
  useEffect(() => { if (active && focus) link.current?.base?.focus?.(); }, [active, focus]);
  return html`<tr class=${active ? "active" : ""}>
    <td class="pick"><input type="checkbox" checked=${chosen} onChange=${() => choose(e.id)} aria-label=${`Choose ${plain(e.description || e.id)}`} /></td>
    <td class="name"><${Link} ref=${link} to=${`/eval/${encodeURIComponent(e.id)}`}>${visible(e.description || e.id)}<//>
      <span class="sub">${e.description && html`<code>${visible(e.id)}</code>`}<span class="narrow">${when(e.createdAt)}</span>${e.running && html` <span class="chip live">running</span>`}${
        e.state === "interrupted" && html` <span class="chip warn">interrupted</span>`}${
        Object.entries(e.tags || {}).map(([n, v]) => html` <${Link} class="chip" title=${`Only those with the tag ${plain(tagText(n, v))}`} to=${withQuery({ tag: tagText(n, v), from: null })}>${visible(tagText(n, v))}<//>`)}</span></td>
    <td class="num not-narrow">${when(e.createdAt)}</td>
    <td><${Rate} passed=${e.successes} done=${e.successes + e.failures + e.errors} /></td>
    <td class="num">${count(e.successes + e.failures + e.errors)}</td>
    <td class="num not-narrow">${e.errors ? html`<b class="error">${count(e.errors)}</b>` : "0"}</td>
    <td class="num wide">${ms(e.durationMs || null)}</td>
    <td class="num wide">${money(e.cost)}</td>
  </tr>`;
}

// A tag as the filter takes it: its name, or name=value.
const tagText = (name, value) => (value ? `${name}=${value}` : name);

// The kinds of entries in the store, each with a list.
const KINDS = {
  "": { kind: "eval", title: "Evals", one: "eval", many: "evals", how: "fumehood eval -c promptfooconfig.yaml" },
  judgements: { kind: "judge", title: "Judgements", one: "judgement", many: "judgements", how: "fumehood judge --problems problems.jsonl samples.jsonl -o results.jsonl" },
  runs: { kind: "run", title: "Runs", one: "run", many: "runs", how: "fumehood run --keep program.py" },
};

export function Evals({ args: [list] }) {
  const about = KINDS[list];
  const { query } = useUrl();
  const [typed, type] = useState(query.q || "");
  const q = useDelayed(typed, 120);
  const from = Number(query.from) || 0;
  const [version, again] = useState(0);
  const [active, setActive] = useState(-1);
  const [chosen, setChosen] = useState(new Set());
  const { value, failure, busy } = useAnswer("/api/view/evals", { kind: about.kind, search: q, tag: query.tag, offset: from, limit: PAGE }, [q, query.tag, from, version, list]);
  useEffect(() => { document.title = `${about.title} · fumehood`; }, [list]);
  useEffect(() => { if ((query.q || "") !== q) go(withQuery({ q, from: null }), { replace: true }); }, [q]);
  useEffect(() => { if (query.q !== undefined && query.q !== q) type(query.q); }, [query.q]);
  useChanges(() => again((n) => n + 1));
  const evals = value?.evals || [];
  const tags = [...new Set([...(query.tag ? [query.tag] : []), ...(value?.tags || []).map((t) => tagText(t.name, t.value))])];
  const choose = (id) => setChosen((s) => { const n = new Set(s); if (!n.delete(id)) n.add(id); return n; });
  const two = [...chosen];
  const compare = () => { if (two.length === 2) go(`/compare/${encodeURIComponent(two[0])}/${encodeURIComponent(two[1])}`); else say("Choose two evals to compare"); };
  const remove = async () => {
    if (!chosen.size || !confirm(`Delete ${chosen.size === 1 ? "this eval" : `these ${chosen.size} evals`}? It cannot be undone.`)) return;
    try {
      await ask("DELETE", "/api/eval", { body: { ids: two } });
      setChosen(new Set());
      say("Deleted");
    } catch (e) { say(e.message); }
    again((n) => n + 1);
  };
  const move = (by) => setActive((a) => Math.max(0, Math.min(evals.length - 1, a + by)));
  useKeys({
    j: { run: () => move(1), help: "Next eval" }, k: { run: () => move(-1), help: "Previous eval" },
    ArrowDown: { run: () => move(1) }, ArrowUp: { run: () => move(-1) },
    x: { run: () => evals[active] && choose(evals[active].id), help: "Choose the eval" },
    c: { run: compare, help: "Compare the two chosen evals" },
    "/": { run: () => document.getElementById("search").focus(), help: "Search" },
    Enter: { run: (e) => { if (e.target.closest("a, button") || !evals[active]) return false; go(`/eval/${encodeURIComponent(evals[active].id)}`); return true; }, help: "Open" },
  });
  return html`<main id="main" class="page" aria-busy=${busy}>
    <div class="bar"><h1>${about.title}</h1>
      <input id="search" type="search" placeholder="Search description, id, tag" aria-label=${`Search ${about.many}`} value=${typed} onInput=${(e) => type(e.target.value)} />
      ${(query.tag || value?.tags?.length > 0) && html`<label class="pick-one">Tag <select value=${query.tag || ""} onChange=${(e) => go(withQuery({ tag: e.target.value, from: null }))}>
        <option value="">any</option>${tags.map((t) => html`<option value=${t} selected=${t === query.tag}>${plain(t)}</option>`)}</select></label>`}
      <span class="muted" role="status">${value ? `${count(value.total)} ${value.total === 1 ? about.one : about.many}` : ""}</span>
      <span class="grow"></span>
      ${chosen.size > 0 && html`<button onClick=${compare} disabled=${two.length !== 2}>Compare</button><button class="danger" onClick=${remove}>Delete ${chosen.size}</button>`}
    </div>
    <${Trouble} failure=${failure} />
    ${value && evals.length === 0 && (q || query.tag ? html`<${Empty} title=${`No ${about.one} fits the search`}><button onClick=${() => { type(""); go(withQuery({ q: null, tag: null, from: null })); }}>Show all</button><//>`
      : html`<${Empty} title=${`No ${about.many} yet`}><p>What the store keeps appears here, while it runs:</p><pre class="text">${about.how}</pre><//>`)}
    ${evals.length > 0 && html`<div class="scroll-x"><table class="list"><thead><tr><th class="pick"><span class="sr">Chosen</span></th><th>${about.title.slice(0, -1)}</th><th class="num not-narrow">When</th><th>Passed</th>
      <th class="num">Results</th><th class="num not-narrow">Errors</th><th class="num wide">Took</th><th class="num wide">Cost</th></tr></thead>
      <tbody>${evals.map((e, i) => html`<${Row} key=${e.id} e=${e} at=${i} active=${i === active} focus=${i === active} chosen=${chosen.has(e.id)} choose=${choose} />`)}</tbody></table></div>
      ${value.total > PAGE && html`<nav class="pager" aria-label="Pages of the list">
        <button disabled=${from === 0} onClick=${() => go(withQuery({ from: Math.max(0, from - PAGE) || null }))}>Newer</button>
        <span>${count(from + 1)} – ${count(Math.min(from + PAGE, value.total))} of ${count(value.total)}</span>
        <button disabled=${from + PAGE >= value.total} onClick=${() => go(withQuery({ from: from + PAGE }))}>Older</button></nav>`}`}
  </main>`;
}
