// SPDX-License-Identifier: MIT
// The frame around every page: navigation, keys, theme.
import { html, render, useState, useEffect, useRef, useUrl, useKeys, allKeys, go, Link } from "./base.js";
import { Evals } from "./evals.js";
import { Table } from "./table.js";

// Loads a page that most visits do not need when it is first opened.
function later(load, name) {
  let found = null;
  return function Later(props) {
    const [page, set] = useState(() => found); // a function, which must not be called as one that makes the first state
    useEffect(() => { if (!page) load().then((m) => { found = m[name]; set(() => found); }); }, []);
    return page ? html`<${page} ...${props} />` : html`<main class="page" aria-busy="true"></main>`;
  };
}
const PAGES = [
  [/^\/(?:evals?\/?)?()$/, Evals],
  [/^\/(judgements|runs)$/, Evals],
  [/^\/start$/, later(() => import("./start.js"), "Start")],
  [/^\/playground$/, later(() => import("./playground.js"), "Playground")],
  [/^\/eval\/([^/]+)$/, Table],
  [/^\/compare\/([^/]+)\/([^/]+)$/, later(() => import("./compare.js"), "Compare")],
];
// The list that a page belongs to: an eval's id begins with its kind.
const listOf = (path) => path.startsWith("/eval/judge-") ? "/judgements" : path.startsWith("/eval/run-") ? "/runs" : path.startsWith("/eval") ? "/" : path;
const NAV = [["/", "Evals"], ["/judgements", "Judgements"], ["/runs", "Runs"], ["/playground", "Playground"], ["/start", "Start"]];

function Help({ close }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  const seen = new Set();
  const rows = allKeys().filter(({ key, help }) => help && !seen.has(key) && seen.add(key));
  return html`<dialog ref=${box} class="help" onClose=${close} aria-label="Keys">
    <h2>Keys</h2><dl>${rows.map(({ key, help }) => html`<div><dt>${key.split("+").map((k, i) => html`${i ? "+" : ""}<kbd>${NAMES[k] || k}</kbd>`)}</dt><dd>${help}</dd></div>`)}</dl>
    <form method="dialog"><button autofocus>Close</button></form></dialog>`;
}
const NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

const THEMES = ["auto", "light", "dark"];
function useTheme() {
  const [theme, set] = useState(() => { try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; } });
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* the browser does not allow storage */ }
  }, [theme]);
  return [theme, () => set(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

function App() {
  const { path } = useUrl();
  const [help, showHelp] = useState(false);
  const [theme, nextTheme] = useTheme();
  useKeys({
    "?": { run: () => showHelp(true), help: "Show the keys" },
    "Ctrl+k": { run: () => { go("/"); requestAnimationFrame(() => document.getElementById("search")?.focus()); }, help: "Find an eval" },
    t: { run: nextTheme, help: "Next theme: automatic, light, dark" },
    g: { run: () => go("/"), help: "Go to the list of evals" },
    p: { run: () => go("/playground"), help: "Go to the playground" },
  });
  let page = null;
  for (const [pattern, Page] of PAGES) {
    const m = path.match(pattern);
    if (!m) continue;
    let args;
    try { args = m.slice(1).map((a) => decodeURIComponent(a ?? "")); } catch { break; }
    page = html`<${Page} key=${path} args=${args} />`;
    break;
  }
  return html`<a class="skip" href="#main">Skip to the content</a>
    <header class="top"><${Link} to="/" class="brand"><span aria-hidden="true" class="mark"></span><span class="brand-name">fumehood</span><//>
      <nav aria-label="Pages">${NAV.map(([to, name]) => html`<${Link} to=${to} aria-current=${listOf(path) === to ? "page" : undefined}>${name}<//>`)}</nav>
      <span class="grow"></span>
      <button class="quiet" onClick=${nextTheme} title="Theme (t)" aria-label=${`Theme: ${theme}`}><span aria-hidden="true">◐</span><span class="not-narrow"> ${{ auto: "Auto", light: "Light", dark: "Dark" }[theme]}</span></button>
      <button class="quiet" onClick=${() => showHelp(true)} title="Keys (?)" aria-label="Keys">?</button></header>
    ${page || html`<main id="main" class="page"><h1 class="sr">Not found</h1><div class="empty"><h2>There is no such page</h2><p><${Link} to="/">All evals<//></p></div></main>`}
    ${help && html`<${Help} close=${() => showHelp(false)} />`}
    <div id="said" role="status" aria-live="polite"></div>`;
}

render(html`<${App} />`, document.getElementById("app"));
