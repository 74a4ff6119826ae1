// SPDX-License-Identifier: MIT
// The playground: a program that is edited here and run in a sandbox. Its link has it behind the #, which browsers do
// not send to servers.
import { html, useState, useEffect, useRef, useKeys, useAnswer, ask, copy, Trouble } from "./base.js";
import { visible, plain, Difference } from "./text.js";
import { Run } from "./cell.js";

const START = { language: "python", code: "print(sum(range(10)))\n", stdin: "", expected: "", rule: "trimmed", limits: {} };
const FIELDS = [["cpu_time", "CPU time, s", 1000], ["wall_time", "Wall time, s", 1000], ["memory", "Memory, MiB", 1 << 20], ["processes", "Processes", 1]];
const RULES = ["trimmed", "exact", "tokens", "numbers", "unordered"];

const pack = (p) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(p)))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
function unpack(text) {
  try {
    const p = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0))));
    const words = Object.fromEntries(["language", "code", "stdin", "expected", "rule"].map((n) => [n, typeof p[n] === "string" ? p[n] : START[n]]));
    const limits = Object.fromEntries(FIELDS.map(([n]) => [n, p.limits?.[n]]).filter(([, v]) => Number.isFinite(v)));
    return { ...words, limits };
  } catch { return START; }
}

export function Playground() {
  const [p, set] = useState(() => (location.hash.length > 1 ? unpack(location.hash.slice(1)) : START));
  const [state, setState] = useState({});
  const { value: about, failure } = useAnswer("/api/view/languages", {}, []);
  const area = useRef(null);
  useEffect(() => { document.title = "Playground · fumehood"; }, []);
  useEffect(() => {
    const back = () => set(unpack(location.hash.slice(1)));
    addEventListener("hashchange", back);
    return () => removeEventListener("hashchange", back);
  }, []);
  const change = (c) => set((old) => ({ ...old, ...c }));
  const run = async () => {
    if (state.busy) return;
    const text = pack(p);
    if (text.length < 100000) history.replaceState(null, "", `#${text}`);
    setState((s) => ({ ...s, busy: true }));
    try {
      setState({ answer: await ask("POST", "/api/view/play", { body: { ...p, expected: p.expected === "" ? undefined : p.expected } }), ran: p });
    } catch (e) { setState({ failure: e }); }
  };
  useKeys({ "Ctrl+Enter": { run, help: "Run the program" } });
  // Tab inserts a tab; after Escape it leaves the field, for users without a mouse.
  const leaves = useRef(false);
  const key = (e) => {
    if (e.key === "Escape") leaves.current = true;
    else if (e.key === "Tab" && !e.shiftKey && !leaves.current) { e.preventDefault(); area.current.setRangeText("    ", area.current.selectionStart, area.current.selectionEnd, "end"); change({ code: area.current.value }); }
    else leaves.current = false;
  };
  const verdict = state.answer?.verdict, out = state.answer?.run;
  return html`<main id="main" class="page playground"><div class="bar"><h1>Playground</h1>
      <label class="pick-one">Language <select value=${p.language} onChange=${(e) => change({ language: e.target.value })}>${(about?.languages || [p.language]).map((l) => html`<option value=${l} selected=${l === p.language}>${plain(l)}</option>`)}</select></label>
      <button class="primary" onClick=${run} disabled=${state.busy} title="Ctrl-Enter">${state.busy ? "Running" : "Run"}</button>
      <button class="quiet" onClick=${() => { history.replaceState(null, "", `#${pack(p)}`); copy(location.href); }}>Link</button></div>
    <${Trouble} failure=${failure} />
    <div class="play"><div class="play-in"><label class="field">Program<textarea ref=${area} class="editor" rows="18" spellcheck="false" autocapitalize="off" autocomplete="off" value=${p.code} onInput=${(e) => change({ code: e.target.value })} onKeyDown=${key}></textarea></label>
      <label class="field">Input<textarea class="editor" rows="3" spellcheck="false" value=${p.stdin} onInput=${(e) => change({ stdin: e.target.value })}></textarea></label>
      <label class="field">Expected output, for a verdict<textarea class="editor" rows="3" spellcheck="false" value=${p.expected} onInput=${(e) => change({ expected: e.target.value })}></textarea></label>
      <div class="more-filters">${FIELDS.map(([name, label, unit]) => { const l = about?.limits?.[name]; return l && html`<label class="pick-one">${label} <input class="short" type="number" min=${Math.max(l.min / unit, 0.001)} max=${l.max / unit} step="any" value=${(p.limits[name] ?? l.value) / unit}
          onInput=${(e) => e.target.value !== "" && change({ limits: { ...p.limits, [name]: Number(e.target.value) * unit } })} /></label>`; })}
        <label class="pick-one">Compare <select value=${p.rule} onChange=${(e) => change({ rule: e.target.value })}>${RULES.map((r) => html`<option value=${r} selected=${r === p.rule}>${r}</option>`)}</select></label></div></div>
    <div class="play-out" aria-live="polite" aria-busy=${!!state.busy}><${Trouble} failure=${state.failure} />
      ${verdict && html`<div class=${"verdict " + (verdict.passed ? "pass" : "fail")}>${verdict.passed ? "Passed: the output is what was expected." : out.status === "ok" ? "Failed: the output is not what was expected." : `Failed: ${plain(out.status)}.`}</div>`}
      ${verdict && !verdict.passed && html`<${Difference} expected=${state.ran.expected} got=${out.stdout} />`}
      ${out && html`<${Run} run=${out} />`}
      ${out?.error && html`<div class="trouble">${visible(typeof out.error === "string" ? out.error : JSON.stringify(out.error))}</div>`}
      ${!out && !state.failure && html`<p class="muted">Nothing has been run yet. The program gets no network and none of your files.</p>`}</div></div></main>`;
}
