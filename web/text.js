// SPDX-License-Identifier: MIT
// Untrusted text, which only ever becomes text nodes. Invisible characters, and those that reorder text (control
// characters, terminal escape sequences, bidirectional overrides), are shown by name.
import { html, useState, useEffect, useLayoutEffect, useRef, bytes, copy, Choice } from "./base.js";

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const MARKS_MAX = 3000; // maximum of elements; further names are written into the text
const CHUNK = 60000;    // characters shown at first, and added by each click

function nameOf(c) {
  const code = c.codePointAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

export function visible(text) {
  const s = String(text).replace(/\r\n/g, "\n");
  if (s.search(HIDDEN) < 0) return [s];
  const out = [];
  let from = 0, marks = 0;
  for (const m of s.matchAll(HIDDEN)) {
    if (++marks > MARKS_MAX) {
      out.push(s.slice(from).replace(HIDDEN, nameOf));
      return out;
    }
    if (m.index > from) out.push(s.slice(from, m.index));
    const code = m[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.push(html`<span class="hidden-character" title=${`U+${code}`}>${nameOf(m[0])}</span>`);
    from = m.index + m[0].length;
  }
  out.push(s.slice(from));
  return out;
}

// As one plain string, for attributes and titles.
export const plain = (text) => String(text ?? "").replace(HIDDEN, nameOf);

export const asText = (value) =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

// Shows the beginning of a long text first: a megabyte in one line would block the page.
export function Long({ of, children }) {
  const s = asText(of);
  const [shown, set] = useState(CHUNK);
  useEffect(() => set(CHUNK), [s]);
  const part = s.length > shown ? s.slice(0, shown) : s;
  return html`<div class="long">${children(part)}${s.length > shown && html`<div class="more">
    <span>${bytes(shown)} of ${bytes(s.length)} shown</span>
    <button onClick=${() => set(shown + 10 * CHUNK)}>Show more</button>
    <button onClick=${() => copy(s)}>Copy all</button></div>`}</div>`;
}

export const Pre = ({ text, label }) => asText(text) === "" ? html`<p class="muted nothing">Empty</p>` : html`<${Long} of=${text}>${(part) =>
  html`<pre class="text" dir="auto" tabindex="0" role="group" aria-label=${label}>${visible(part)}</pre>`}<//>`;

// ------------------------------------------------------------------------------------------------------------- code

const LANGUAGES = new Set(["bash", "c", "cpp", "css", "go", "java", "javascript", "json", "lua", "markdown", "perl", "php",
  "python", "r", "ruby", "rust", "sql", "typescript", "xml", "yaml"]);
const ALIAS = { js: "javascript", ts: "typescript", py: "python", "c++": "cpp", sh: "bash", shell: "bash", html: "xml", golang: "go", rs: "rust", rb: "ruby", node: "javascript" };
const HIGHLIGHT_MAX = 200000;
const loaded = new Map();

async function highlighter(language) {
  const { default: hljs } = await import("./vendor/highlight.js");
  if (!loaded.has(language)) {
    loaded.set(language, import(`./vendor/highlight-${language}.js`).then((m) => hljs.registerLanguage(language, m.default)));
  }
  await loaded.get(language);
  return hljs;
}

// Elements from the library's tree of tokens; its HTML is not used.
function nodes(tree) {
  if (typeof tree === "string") return visible(tree);
  const inner = tree.children.flatMap(nodes);
  const scope = typeof tree.scope === "string" ? tree.scope.replace(/[^a-z]+/g, "-") : "";
  return scope ? [html`<span class=${"hl-" + scope}>${inner}</span>`] : inner;
}

export function Code({ text, language, label }) {
  const name = ALIAS[language] || language;
  const [tree, set] = useState(null);
  const s = asText(text);
  useEffect(() => {
    let gone = false;
    set(null);
    if (LANGUAGES.has(name) && s.length <= HIGHLIGHT_MAX)
      highlighter(name).then((hljs) => {
        if (!gone) set({ s, root: hljs.highlight(s, { language: name, ignoreIllegals: true })._emitter.rootNode });
      }).catch(() => {});
    return () => { gone = true; };
  }, [s, name]);
  const ready = tree && tree.s === s;
  return html`<div class="code-block"><div class="code-head"><span>${plain(language || "text")}</span>
      <button class="quiet" onClick=${() => copy(s)}>Copy</button></div>
    ${ready ? html`<pre class="code" tabindex="0" role="group" aria-label=${label}><code>${nodes(tree.root)}</code></pre>`
            : html`<${Long} of=${s}>${(part) => html`<pre class="code" tabindex="0" role="group" aria-label=${label}><code>${visible(part)}</code></pre>`}<//>`}
  </div>`;
}

// --------------------------------------------------------------------------------------------------- expected beside got

const DIFF_MAX = 40000;

export function Difference({ expected, got, names = ["Expected", "Got"] }) {
  const [parts, set] = useState(null);
  const a = asText(expected), b = asText(got);
  useEffect(() => {
    let gone = false;
    set(null);
    if (a !== b && a.length + b.length <= DIFF_MAX)
      import("./vendor/diff.js").then(({ default: Diff }) => {
        const f = a.length + b.length < 8000 ? Diff.diffWordsWithSpace : Diff.diffLines;
        const d = f(a, b, { timeout: 300 });
        if (!gone && d) set({ a, b, d });
      }).catch(() => {});
    return () => { gone = true; };
  }, [a, b]);
  const ready = parts && parts.a === a && parts.b === b;
  const side = (mark, text) => !ready ? visible(text.slice(0, CHUNK)) : parts.d.filter((p) => (mark === "del" ? !p.added : !p.removed))
    .map((p) => (p.added ? html`<ins>${visible(p.value)}</ins>` : p.removed ? html`<del>${visible(p.value)}</del>` : visible(p.value)));
  return html`<div class="difference">
    <figure><figcaption>${names[0]}</figcaption><pre class="text" dir="auto" tabindex="0" role="group" aria-label=${names[0]}>${side("del", a)}</pre></figure>
    <figure><figcaption>${names[1]}${a === b ? " (the same)" : ""}</figcaption><pre class="text" dir="auto" tabindex="0" role="group" aria-label=${names[1]}>${side("ins", b)}</pre></figure>
  </div>`;
}

// --------------------------------------------------------------------------------------------------------- images

// Images are shown only by an img element, which runs no scripts, and only if the answer itself contains the data.
const IMAGE = /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+$/;
export const isImage = (value) => typeof value === "string" && value.length < 20e6 && IMAGE.test(value);
export const Picture = ({ src, label }) => html`<img class="picture" src=${src} alt=${plain(label || "An image that the answer holds")} loading="lazy" />`;

// --------------------------------------------------------------------------------------------------------- tables

// A table in HTML, as programs print them, is shown only in a frame that is another origin to this page, runs nothing,
// loads nothing and leads nowhere: sandbox without any right, and the page's own policy holds inside as well. Before
// that, elements that are no part of a table become text, and attributes other than colspan and rowspan go.
const TABLE = /<table[\s>][\s\S]*<\/table>/i;
const TABLE_FIRST = /^\s*(?:<(?:!doctype|html|head|meta|body|div|style)[^>]*>|[^<>{}]*\{[^{}]*\}|<\/style>|\s)*<table[\s>]/i;
const TABLE_MAX = 500000;
const OTHER_ELEMENT = /<(?!\/?(?:table|caption|colgroup|col|thead|tbody|tfoot|tr|td|th|b|strong|i|em|u|s|sub|sup|small|code|br|p|div|span)[\s/>])/gi;
const ELEMENT = /<(\/?)([a-z0-9]+)([^>]*)>?/gi;
const SPAN = /\b(colspan|rowspan)\s*=\s*["']?(\d{1,4})/gi;
const TABLE_ATTRIBUTES = ' border="1" cellpadding="5" rules="all"';
const policy = globalThis.trustedTypes?.createPolicy("fumehood-frame", { createHTML: (s) => s });

export const isTable = (value) => typeof value === "string" && value.length <= TABLE_MAX && TABLE.test(value);

export function Framed({ text, label }) {
  const inner = text.match(TABLE)[0].replace(OTHER_ELEMENT, "&lt;").replace(ELEMENT, (_, close, name, rest) =>
    `<${close}${name}${close ? "" : name.toLowerCase() === "table" ? TABLE_ATTRIBUTES : [...rest.matchAll(SPAN)].map((m) => ` ${m[1]}="${m[2]}"`).join("")}>`);
  const rows = inner.match(/<tr[\s>]/gi)?.length || 1;
  const page = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:">`
    + `<body bgcolor="#ffffff"><font face="system-ui, sans-serif">${inner}</font>`;
  const frame = useRef(null);
  useLayoutEffect(() => { frame.current.srcdoc = policy ? policy.createHTML(page) : page; }, [page]);
  return html`<iframe class="framed" tabindex="0" ref=${frame} sandbox="" referrerpolicy="no-referrer" title=${plain(label || "A table")} style=${{ height: `${Math.min(440, 60 + 31 * rows)}px` }}></iframe>`;
}

// A text that may hold a table: the table, with its source a click away, or the other way round.
export function Shown({ text, label }) {
  const table = isTable(text);
  const [framed, set] = useState(false);
  useEffect(() => set(table && TABLE_FIRST.test(text)), [text]);
  if (!table) return html`<${Pre} text=${text} label=${label} />`;
  return html`<${Choice} kind="inline" label="How it is shown" options=${[[true, "Table"], [false, "Source"]]} value=${framed} choose=${set} />
    ${framed ? html`<${Framed} text=${text} label=${label} />` : html`<${Pre} text=${text} label=${label} />`}`;
}
