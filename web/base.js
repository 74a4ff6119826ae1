// SPDX-License-Identifier: MIT
// Shared by all pages: Preact, requests, the URL as state, keys, and formatting of numbers.
import { html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback } from "./vendor/preact.js";

export { html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback };

// ------------------------------------------------------------------------------------------------------------ requests

export class Failure extends Error {
  constructor(status, body) {
    super(body?.error || `the server answers ${status}`);
    this.status = status;
    this.hint = body?.hint || "";
  }
}

export async function ask(method, path, { query, body, signal } = {}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query || {}))
    if (value !== undefined && value !== null && value !== "" && value !== false) url.searchParams.set(name, value);
  let reply;
  try {
    reply = await fetch(url, {
      method, signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Failure(0, { error: "the viewer does not answer", hint: "is `fumehood view` still running?" });
  }
  const text = await reply.text();
  let value = null;
  try { value = text ? JSON.parse(text) : null; } catch { value = null; }
  if (!reply.ok) throw new Failure(reply.status, value);
  return value;
}
export const get = (path, query, signal) => ask("GET", path, { query, signal });

// The answer to a GET, requested again whenever one of `deps` changes; the previous answer stays until the next one
// arrives, so that the page does not flicker.
export function useAnswer(path, query, deps) {
  const [state, set] = useState({ value: null, failure: null, busy: true });
  useEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    set((s) => ({ ...s, busy: true }));
    get(path, query, stop.signal).then(
      (value) => set({ value, failure: null, busy: false }),
      (failure) => { if (failure.name !== "AbortError") set((s) => ({ ...s, failure, busy: false })); });
    return () => stop.abort();
  }, deps);
  return state;
}

// -------------------------------------------------------------------------------------------------- the URL as state

const watchers = new Set();
const announce = () => watchers.forEach((w) => w());
addEventListener("popstate", announce);

export function go(url, { replace = false } = {}) {
  if (url === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  announce();
}

export function useUrl() {
  const [, set] = useState(0);
  useEffect(() => {
    const w = () => set((n) => n + 1);
    watchers.add(w);
    return () => watchers.delete(w);
  }, []);
  return { path: location.pathname, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

// The current URL with some parameters changed; null or "" removes one.
export function withQuery(changes) {
  const q = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === undefined || value === "" || value === false) q.delete(name);
    else q.set(name, value);
  const text = q.toString();
  return location.pathname + (text ? "?" + text : "");
}

// A link that needs no reload, and works as any link does: in a new tab, copied, with the keyboard.
export function Link({ to, children, ...rest }) {
  const click = (e) => {
    if (e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    go(to);
  };
  return html`<a href=${to} onClick=${click} ...${rest}>${children}</a>`;
}

// ---------------------------------------------------------------------------------------------------------------- keys

// name -> {run, help}; those of the newest page come first. Keys typed into a field do not count.
const keymaps = [];
export function useKeys(map) {
  const entry = useRef(null);
  if (!entry.current) entry.current = { map };
  entry.current.map = map;
  useEffect(() => {
    const e = entry.current;
    keymaps.unshift(e);
    return () => keymaps.splice(keymaps.indexOf(e), 1);
  }, []);
}
export const allKeys = () => keymaps.flatMap((k) => Object.entries(k.map).map(([key, { help }]) => ({ key, help })));

addEventListener("keydown", (e) => {
  const field = e.target.closest?.("input, textarea, select, [contenteditable]");
  const name = (e.ctrlKey || e.metaKey ? "Ctrl+" : "") + (e.key.length === 1 && (e.ctrlKey || e.metaKey) ? e.key.toLowerCase() : e.key);
  if (e.altKey || (field && !e.ctrlKey && !e.metaKey && e.key !== "Escape")) return;
  for (const { map } of keymaps) {
    const found = map[name];
    if (!found) continue;
    if (field && e.key === "Escape") field.blur();
    if (found.run(e) !== false) e.preventDefault();
    return;
  }
});

// -------------------------------------------------------------------------------------------------- live updates

// The page has one stream; it calls all listeners with {evalId} of the eval that changed.
let stream = null;
const listeners = new Set();
export function useChanges(on) {
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    const l = (change) => latest.current(change);
    listeners.add(l);
    if (!stream) {
      stream = new EventSource("/api/view/events");
      stream.onmessage = (m) => {
        let change = null;
        try { change = JSON.parse(m.data); } catch { return; }
        listeners.forEach((x) => x(change));
      };
    }
    return () => {
      listeners.delete(l);
      if (!listeners.size) { stream.close(); stream = null; }
    };
  }, []);
}

// -------------------------------------------------------------------------------------------------- numbers, times

const whole = new Intl.NumberFormat("en");
export const count = (n) => (n === null || n === undefined ? "–" : whole.format(n));
export const percent = (part, of) => (of ? `${(100 * part / of).toFixed(part === of || part === 0 ? 0 : 1)} %` : "–");
export const score = (n) => (n === null || n === undefined ? "–" : String(Math.round(n * 1000) / 1000));
export function ms(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1) return `${n.toFixed(2)} ms`;
  if (n < 1000) return `${Math.round(n)} ms`;
  if (n < 60000) return `${(n / 1000).toFixed(n < 10000 ? 2 : 1)} s`;
  return `${Math.floor(n / 60000)} min ${Math.round(n % 60000 / 1000)} s`;
}
export function bytes(n) {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${n < 10 && i ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
export const money = (n) => (!n ? "–" : n < 0.01 ? `$${n.toPrecision(2)}` : `$${n.toFixed(2)}`);
export function when(t) {
  if (!t) return "–";
  const d = new Date(t);
  return Number.isNaN(d.getTime()) ? "–" : d.toLocaleString("sv").slice(0, 16);
}

// ------------------------------------------------------------------------------------------- small pieces of pages

export function Trouble({ failure }) {
  return failure && html`<div class="trouble" role="alert"><strong>${failure.message}</strong>
    ${failure.hint && html`<p>${failure.hint}</p>`}</div>`;
}
export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}
export const Chip = ({ label, value, kind, title }) =>
  html`<span class=${"chip " + (kind || "")} title=${title}><span class="chip-label">${label}</span> <b>${value}</b></span>`;

// One of a few, as buttons in a row: one stop of the Tab key, and the arrows choose (the pattern "radio group" of WAI-ARIA).
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
export function Choice({ label, options, value, choose, kind = "" }) {
  const box = useRef(null);
  const key = (e) => {
    if (!STEPS[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    const at = options.findIndex(([v]) => v === value), to = (at + STEPS[e.key] + options.length) % options.length;
    choose(options[to][0]);
    box.current.children[to].focus();
  };
  return html`<div class=${"modes " + kind} role="radiogroup" aria-label=${label} ref=${box} onKeyDown=${key}>${options.map(([v, name]) =>
    html`<button role="radio" aria-checked=${v === value} tabindex=${v === value ? 0 : -1} class=${v === value ? "on" : ""} onClick=${() => choose(v)}>${name}</button>`)}</div>`;
}

// A rate as a bar, with text for screen readers.
export function Rate({ passed, done, low, high }) {
  const w = 100 * passed / done;
  if (!done) return html`<span class="muted">–</span>`;
  return html`<span class="rate" title=${`${count(passed)} of ${count(done)} passed`}>
    <span class="rate-bar" aria-hidden="true"><i style=${{ width: `${w}%` }}></i>${
      low !== undefined && done ? html`<u style=${{ left: `${100 * low}%`, width: `${100 * (high - low)}%` }}></u>` : null}</span>
    <span class="rate-text">${percent(passed, done)}</span></span>`;
}

export async function copy(text) {
  try { await navigator.clipboard.writeText(text); say("Copied"); } catch { say("The browser does not let this page copy"); }
}

// Shows a short message at the edge, which screen readers read out.
export function say(text) {
  const box = document.getElementById("said");
  if (!box) return;
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => box.classList.remove("shown"), 2500);
}

// The value after it has not changed for `delay`: avoids a request for each typed character.
export function useDelayed(value, delay) {
  const [late, set] = useState(value);
  useEffect(() => {
    const t = setTimeout(() => set(value), delay);
    return () => clearTimeout(t);
  }, [value, delay]);
  return late;
}
