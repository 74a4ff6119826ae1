# SPDX-License-Identifier: MIT
"""The viewer's pages in a real browser: what is visible, the keyboard, and that hostile text does not become markup."""
import base64
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from browser import Browser, program
from view_client import FILL, Viewer, cell, fill, head

# Each payload sets window.hurt when it is executed, or requests something from another server.
HOSTILE = (
    "<script>window.hurt=1</script>",
    "</script><script>window.hurt=2</script>",
    "<img src=x onerror=window.hurt=3>",
    "<svg onload=window.hurt=4><script>window.hurt=5</script></svg>",
    "<iframe srcdoc='<script>parent.hurt=6</script>'></iframe>",
    "\"' onmouseover=window.hurt=7 autofocus onfocus=window.hurt=8 x=\"",
    "<a href=javascript:window.hurt=9>x</a>",
    "javascript:window.hurt=10",
    "<style>*{display:none!important}@import 'http://evil.example/x.css'</style>",
    "<link rel=stylesheet href=http://evil.example/y.css><base href=http://evil.example/>",
    "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0icGFyZW50Lmh1cnQ9MTEiPjxzY3JpcHQ+cGFyZW50Lmh1cnQ9MTI8L3NjcmlwdD48L3N2Zz4=",
    "{{constructor.constructor('window.hurt=13')()}}${window.hurt=14}",
    "\x1b[31mred\x1b]0;title\x07\x00\x9b",
    "a\u202egnp.exe\u202c\u2066\u200b",
    "=HYPERLINK(\"http://evil.example\")",
    "__proto__",
    "<plaintext><textarea><!--<title><noscript>",
    "<table><tr><td onclick=window.hurt=15 colspan=2><script>parent.postMessage('hurt', '*')</script><img src=x onerror=\"parent.postMessage('hurt', '*')\">"
    "<iframe srcdoc=\"<script>top.postMessage('hurt', '*')</script>\"></iframe><a href=http://evil.example/ target=_top>x</a>"
    "<meta http-equiv=refresh content='0;url=http://evil.example/z'><link rel=stylesheet href=http://evil.example/w.css>"
    "<style>@import 'http://evil.example/v.css'</style></td><td background=http://evil.example/bg.png>y</td></tr></table>",
)
# The payload that is shown as markup, in a frame.
TABLE = len(HOSTILE) - 1
# The payloads that have an effect in a page that treats text as markup; without them the test could not fail.
CONTROL = (0, 2, 3, 4, 5)

# Texts whose contrast to their background is below the bound of WCAG 2.2, AA.
CONTRAST = r"""(() => {
  const rgb = (s) => { const m = s.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0]; const f = s.startsWith("color(") ? 255 : 1; return [m[0] * f, m[1] * f, m[2] * f, m[3] ?? 1]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length || e.closest(".sr, :disabled, #said, option")) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${e.className || e.tagName}: ${e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()"""


def hostile_eval(payload, number):
    """The payload in every field that other people fill."""
    check = {"pass": False, "score": 0, "reason": payload, "assertion": {"type": payload, "value": payload, "metric": payload},
             "metadata": {"verdict": payload, "integrity": payload, "language": payload, "code": payload, "status": payload, "stdout": payload, "stderr": payload, "usage": {"cpu_ms": 3},
                          "isolation": {payload: True}, "fired": [payload], "findings": [payload], "start": {"path": payload, "why": payload}}}
    top = {**head(f"eval-{number}-{payload[:20]}", (payload,), [payload], payload, tags={payload or "x": payload}), "columns": [{"provider": payload, "label": payload, "raw": payload, "id": payload}]}
    one = cell(0, 0, payload, False, reason=payload, vars={payload: payload}, status=payload, language=payload, named={payload: 0.5}, checks=[check], description=payload, prompt=payload,
               metadata={payload: payload, "tags": [payload]})
    one["data"]["response"]["finishReason"] = payload
    return top, [one]


def hostile_judgement(payload, number):
    """A judgement, and a run that was kept, with the payload in every field of what they store."""
    data = {"task_id": payload, "index": 0, "passed": False, "verdict": payload, "reason": f"expected {payload}, got {payload}", "integrity": payload, "program": payload, "language": payload,
            "stdout": payload, "stderr": payload, "status": payload, "signal": payload, "key": payload, "seed": payload, "fired": [payload], "isolation": {payload: payload},
            "usage": {"cpu_ms": 1}, "limits": {"memory": {"value": 1, "unit": payload, "enforced": payload}}, "start": {"path": payload, "why": payload}, "code": payload,
            "error": {"message": payload, "hint": payload}}
    row = {"row": 0, "column": 0, "success": False, "failure": 1, "score": 0, "status": payload, "language": payload, "data": data}
    for kind in ("judge", "run"):
        yield {**head(f"{kind}-{number}", (payload,), [], payload, tags={payload or "x": payload}), "kind": kind}, [row]


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not program():
            support.need_program("chromium-headless-shell")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-pages-"))
        cls.store = cls.folder / "store.db"
        cls.fill()
        cls.viewer = Viewer(cls.store, cwd=cls.folder)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.viewer.stop()
        shutil.rmtree(cls.folder)

    @classmethod
    def fill(cls):
        pass

    def page(self, path, until, width=1280, height=800):
        page = self.browser.page(width, height)
        self.addCleanup(page.close)
        page.open(self.viewer.url + path)
        page.wait(until)
        return page


@support.once
@support.release_only
class Hostile(Pages):
    @classmethod
    def fill(cls):
        for number, payload in enumerate(HOSTILE):
            fill(cls.store, *hostile_eval(payload, number))
            for kept in hostile_judgement(payload, number):
                fill(cls.store, *kept)

    def go(self, page, path, until):
        """To another page as a link does, without loading everything again."""
        page.value(f"(history.pushState(null, '', {json.dumps(path)}), dispatchEvent(new PopStateEvent('popstate')))")
        page.wait(until)
        page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.value("new Promise((done) => setTimeout(done, 30))")

    def assert_unhurt(self, page, what):
        self.assertIsNone(page.value("window.hurt ?? null"), what)
        self.assertEqual(page.value("document.querySelectorAll('script:not([src^=\"/web/\"]), iframe:not(.framed), object, embed, base, style').length"), 0, what)
        self.assertTrue(page.value("[...document.querySelectorAll('iframe')].every((f) => f.getAttribute('sandbox') === '')"), what)
        self.assertEqual(page.value("[...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length"), 0, what)
        self.assertEqual(page.seen("Page.javascriptDialogOpening"), [], what)
        asked = {e["params"]["request"]["url"] for e in page.seen("Network.requestWillBeSent")}
        self.assertFalse([u for u in asked if not u.startswith((self.viewer.url, "data:", "about:"))], what)
        self.assertEqual(page.complaints(), [], what)

    def test_the_test_sees_what_is_run(self):
        """The control: the same payloads in a page that treats them as markup."""
        class Naive(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = HOSTILE[int(self.path.strip("/"))] if self.path.strip("/").isdigit() else ""
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(f'<body><p title="{body}" tabindex=0>{body}</p></body>'.encode())

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Naive) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for number in CONTROL:
                page = self.browser.page()
                page.open(f"http://127.0.0.1:{server.server_port}/{number}")
                page.wait("window.hurt")
                page.close()
            server.shutdown()

    LISTEN = "addEventListener('message', () => { window.hurt = 'a message from a frame'; })"

    def test_a_table_is_framed_and_runs_nothing(self):
        e = next(e for e in self.viewer.get("/api/view/evals?limit=1000")["evals"] if e["id"].startswith(f"eval-{TABLE}-"))
        page = self.browser.page()
        self.addCleanup(page.close)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=self.LISTEN)
        page.open(f"{self.viewer.url}/eval/{quote(e['id'], safe='')}?cell=0.0")
        page.wait("document.querySelector('iframe.framed')?.srcdoc")
        page.value("new Promise((done) => setTimeout(done, 300))")
        self.assert_unhurt(page, "the frame")
        inside = page.value("document.querySelector('iframe.framed').srcdoc")
        self.assertIn('<td colspan="2">', inside)                           # the table is markup there
        for mark in ("<script", "<img", "<meta http-equiv=refresh", "<link", "<style", "<iframe", "<a ", "onclick", "background"):
            self.assertNotIn(mark, inside)
        page.click_text(".part button", "Source")
        page.wait("!document.querySelector('.part iframe') || [...document.querySelectorAll('pre')].some((p) => p.textContent.includes('postMessage'))")

    def test_the_test_sees_what_a_frame_runs(self):
        """The control: the same table in a frame that may run scripts, in a page without a policy; and that the sandbox alone stops it."""
        text = HOSTILE[TABLE].replace("&", "&amp;").replace('"', "&quot;")
        for right, hurt in (("allow-scripts", True), ("", False)):
            page = self.browser.page()
            path = self.folder / f"frame-{hurt}.html"
            path.write_text(f'<script>{self.LISTEN}</script><iframe sandbox="{right}" srcdoc="{text}" onload="window.ready = 1"></iframe>')
            page.open(path.as_uri())
            page.wait("window.hurt" if hurt else "window.ready")
            page.value("new Promise((done) => setTimeout(done, 200))")
            self.assertEqual(page.value("window.hurt ?? null") is not None, hurt)
            page.close()

    def test_the_list(self):
        page = self.page("/", f"document.querySelectorAll('table.list tbody tr').length === {len(HOSTILE)}")
        self.assert_unhurt(page, "the list")
        self.assertIn("<script>window.hurt=1</script>", page.text())        # it is there, as text
        self.assertIn("\\x1b[31mred", page.text())
        self.assertIn("\\u202e", page.text())

    def test_reports(self):
        page = self.browser.page()
        self.addCleanup(page.close)
        for number, e in enumerate(self.viewer.get("/api/view/evals?kind=eval")["evals"]):
            path = self.folder / f"report-{number}.html"
            done = support.command("report", e["id"], "-o", path, env={**os.environ, "FUMEHOOD_STORE": str(self.store)})
            self.assertEqual(done.returncode, 0, done.stderr)
            page.open(path.as_uri())
            page.wait(f"document.readyState === 'complete' && location.href.endsWith('{path.name}') && document.querySelector('h3')")
            self.assertIsNone(page.value("window.hurt ?? null"), e["id"])
            self.assertEqual(page.value("document.querySelectorAll('script, img, svg, iframe, a, base, link').length"), 0, e["id"])
        asked = {ev["params"]["request"]["url"].split(":")[0] for ev in page.seen("Network.requestWillBeSent")}
        self.assertEqual(asked, {"file"})

    def test_each_eval_and_its_cell(self):
        evals = self.viewer.get("/api/view/evals?kind=eval")["evals"]
        page = self.page("/", "document.querySelector('table.list')")
        for e in evals:
            page.value(f"(history.pushState(null, '', '/eval/' + encodeURIComponent({json.dumps(e['id'])}) + '?cell=0.0'), dispatchEvent(new PopStateEvent('popstate')))")
            page.wait("document.querySelector('.panel-body') && document.querySelector('.grid .cell')")
            page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            page.value("document.querySelectorAll('[tabindex], a, button').forEach((e) => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))")
            page.value("new Promise((done) => setTimeout(done, 30))")
            self.assert_unhurt(page, e["id"])
            page.value("(history.pushState(null, '', location.pathname + '?view=config'), dispatchEvent(new PopStateEvent('popstate')))")
            page.wait("document.querySelector('.part-page pre')")
            self.assert_unhurt(page, e["id"])

    def test_charts_and_comparisons(self):
        evals = [e["id"] for e in self.viewer.get("/api/view/evals?kind=eval")["evals"]]
        page = self.page("/", "document.querySelector('table.list')")
        for one, other in zip(evals, evals[1:]):
            self.go(page, f"/eval/{quote(one, safe='')}?view=charts", "document.querySelectorAll('.chart').length > 2")
            self.assert_unhurt(page, one)
            self.go(page, f"/compare/{quote(one, safe='')}/{quote(other, safe='')}", "document.querySelector('table.compare button')")
            page.click("table.compare button")
            page.wait("document.querySelector('.difference')")
            self.assert_unhurt(page, one)

    def test_judgements_and_runs(self):
        page = self.page("/judgements", f"document.querySelectorAll('table.list tbody tr').length === {len(HOSTILE)}")
        self.assert_unhurt(page, "the list of judgements")
        for number in range(len(HOSTILE)):
            for path, until in ((f"/eval/judge-{number}?view=tasks", "document.querySelector('.samples')"), (f"/eval/judge-{number}?cell=0.0", "document.querySelector('.panel-body .isolation')"),
                                (f"/eval/run-{number}", "document.querySelector('.alone .isolation')")):
                self.go(page, path, until)
                self.assert_unhurt(page, path)
        self.go(page, "/runs", f"document.querySelectorAll('table.list tbody tr').length === {len(HOSTILE)}")
        self.assert_unhurt(page, "the list of runs")

    def test_links_to_the_playground_and_names_of_configurations(self):
        for payload in HOSTILE:
            link = json.dumps({n: payload for n in ("language", "code", "stdin", "expected", "rule")})
            page = self.page("/playground#" + base64.urlsafe_b64encode(link.encode()).decode().rstrip("="), "document.querySelectorAll('option').length > 5")
            self.assertEqual(page.value("document.querySelector('.editor').value"), payload.replace("\r", ""))
            self.assert_unhurt(page, payload)
            page.close()
        for number, payload in enumerate(HOSTILE):
            pathlib.Path(self.folder, "promptfooconfig." + payload.replace("/", "").replace("\0", "")[:180] + f"{number}.yaml").touch()
        page = self.page("/start", f"document.querySelectorAll('.configs li').length === {len(HOSTILE)}")
        self.assert_unhurt(page, "names of files")
        self.assertIn("<img src=x onerror=window.hurt=3>", page.text(".configs"))


@support.once
@support.release_only
class Seen(Pages):
    @classmethod
    def fill(cls):
        fill(cls.store, head("eval-empty", description="nothing in it"), [])
        fill(cls.store, head("eval-words", ("first", "second"), ["word"], "words", tags={"suite": "x"}),
             [cell(0, 0, "```python\nprint(1)\n```", vars={"word": "one"}, description="plain", checks=[{"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "code"}, "metadata": {
                 "code": "def f(x):\n    return 'a'\n", "language": "python", "status": "ok", "usage": {"cpu_ms": 20, "memory_peak_bytes": 6 << 20}, "limits": {"cpu_time": 1, "memory": "64M"},
                 "stdout": "1\n", "isolation": {"network": True, "landlock": "the kernel has none"}}}]),
              cell(0, 1, "got this", False, reason="expected that", vars={"word": "one"}, checks=[{"pass": False, "score": 0, "reason": "no", "assertion": {"type": "equals", "value": "got that"}}]),
              cell(1, 0, "日本語の答え 🙂 שלום عالم", vars={"word": "ñ"}, metadata={"tags": ["hard"]}), cell(1, 1, "", False, failure=2, reason="no provider", vars={"word": "ñ"}),
              cell(2, 0, "x" * (1 << 20), vars={"word": "large"}), cell(2, 1, "y" * (10 << 20), vars={"word": "larger"})])
        fill(cls.store, head("eval-many", ("only",), ["n"], "many rows", rows=50000), [cell(0, 0, "the same answer", vars={"n": "1"}, times=49999), cell(49999, 0, "needle", False, vars={"n": "2"}, reason="odd")])

    def test_the_first_page_is_small(self):
        page = self.page("/", "document.querySelectorAll('table.list tbody tr').length === 3")
        sizes = [e["params"]["encodedDataLength"] for e in page.seen("Network.loadingFinished")]
        self.assertLess(sum(sizes), 250 * 1024)
        self.assertGreater(sum(sizes), 1000)
        self.assertEqual(page.complaints(), [])

    def test_keys_lead_through_the_table(self):
        page = self.page("/", "document.querySelectorAll('table.list tbody tr').length === 3")
        page.key("?")
        page.wait("document.querySelector('dialog.help[open]')")
        self.assertIn("Search", page.text("dialog"))
        page.value("document.querySelector('dialog').close()")
        page.click_text(".name a", "words")
        page.wait("document.querySelectorAll('.row .cell').length === 6")
        page.key("j")
        page.key("l")
        page.key("Enter")
        page.wait("location.search === '?cell=0.1' && document.querySelector('.difference ins')?.textContent === 'this'")
        self.assertEqual(page.text(".difference del"), "that")
        page.key("h")
        page.wait("location.search === '?cell=0.0' && document.querySelector('.code .hl-keyword')?.textContent === 'def'")
        self.assertIn("6.0 MiB", page.text(".usage"))
        self.assertIn("of 64 MiB", page.text(".usage"))
        self.assertEqual(page.text(".isolation .on"), "✓ network")
        self.assertEqual(page.text(".isolation .off"), "✗ landlock: the kernel has none")     # what is missing is a text, never a tick
        page.key("j")
        page.wait("document.querySelector('.panel-body pre')?.textContent.startsWith('日本語')")
        page.key("Escape")
        page.wait("!document.querySelector('.cell-panel')")
        self.assertEqual(page.complaints(), [])

    def test_filters_stand_in_the_url_and_come_back_with_it(self):
        page = self.page("/eval/eval-words", "document.querySelectorAll('.row .cell').length === 6")
        page.key("e")
        page.wait("location.search === '?mode=errors' && document.querySelectorAll('.row .cell').length === 2")
        page.click("#search")
        page.value("document.getElementById('search').focus()")
        page.type("nothing like it")
        page.wait("document.querySelector('.empty h2')?.textContent === 'No row fits the filter'")
        page.open(page.value("location.href"))
        page.wait("document.querySelector('.empty h2') && document.querySelector('[aria-checked=true]').textContent === 'Errors'")
        self.assertEqual(page.value("document.getElementById('search').value"), "nothing like it")

    def test_a_tag_leads_to_the_evals_that_have_it(self):
        page = self.page("/", "document.querySelectorAll('table.list tbody tr').length === 3")
        page.click_text(".name .chip", "suite=x")
        page.wait("location.search === '?tag=suite%3Dx' && document.querySelectorAll('table.list tbody tr').length === 1")
        page.value("(() => { const s = document.querySelector('.bar select'); s.value = ''; s.dispatchEvent(new Event('change', {bubbles: true})); })()")
        page.wait("document.querySelectorAll('table.list tbody tr').length === 3")
        self.assertEqual(page.complaints(), [])

    def test_rows_are_filtered_by_what_their_tests_are_tagged_with(self):
        page = self.page("/eval/eval-words", "document.querySelectorAll('.row .cell').length === 6")
        page.click_text(".filters button", "More")
        page.wait("[...document.querySelectorAll('.more-filters option')].some((o) => o.value === 'hard')")
        page.value("(() => { const s = [...document.querySelectorAll('.more-filters select')].find((s) => s.querySelector('option[value=hard]')); s.value = 'hard'; s.dispatchEvent(new Event('change', {bubbles: true})); })()")
        page.wait("location.search === '?tag=hard' && document.querySelectorAll('.row .cell').length === 2")
        self.assertEqual(page.complaints(), [])

    def test_what_another_program_made_is_not_offered_to_be_run_again(self):
        """As `fumehood retry` refuses it: eval-words was written by a test, as an imported eval by promptfoo."""
        page = self.page("/eval/eval-words", "document.querySelectorAll('.row .cell').length === 6")
        self.assertIn("errors", page.text(".chips"))
        self.assertNotIn("again", page.text(".chips").lower())

    def test_the_list_that_a_page_belongs_to_is_marked(self):
        for path, name in (("/", "Evals"), ("/eval/eval-words", "Evals"), ("/judgements", "Judgements"), ("/eval/judge-none", "Judgements"), ("/eval/run-none", "Runs"),
                           ("/playground", "Playground")):
            page = self.page(path, "document.querySelector('.top nav')")
            self.assertEqual(page.value("[...document.querySelectorAll('.top nav [aria-current]')].map((a) => a.textContent)"), [name], path)

    def test_every_page_is_reachable_on_a_phone(self):
        page = self.page("/", "document.querySelectorAll('table.list tbody tr').length === 3", width=360, height=740)
        self.assertLessEqual(page.value("(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.top nav'))"), 0)

    def test_a_page_that_was_left_opens_again(self):
        page = self.page("/playground", "document.querySelector('.editor')")
        for _ in range(2):
            page.click_text(".top nav a", "Evals")
            page.wait("document.querySelector('table.list')")
            page.click_text(".top nav a", "Playground")
            page.wait("document.querySelector('.editor')")
        self.assertEqual(page.complaints(), [])

    def test_a_page_that_is_not_there(self):
        page = self.page("/nothing/here", "document.querySelector('.empty h2')?.textContent === 'There is no such page'")
        page.click(".empty a")
        page.wait("document.querySelector('table.list')")

    def test_a_rating_stays(self):
        page = self.page("/eval/eval-words?cell=1.0", "document.querySelector('.rating')")
        page.click_text(".rating button", "Good")
        page.wait("document.querySelector('.rating [aria-pressed=true]') && document.querySelector('.said')?.textContent === 'good'")
        self.assertEqual(self.viewer.get("/api/view/evals/eval-words/cells/1/0")["rating"]["thumb"], 1)

    def test_a_change_while_rows_are_under_way_is_seen(self):
        page = self.browser.page()
        self.addCleanup(page.close)
        page.call("Page.addScriptToEvaluateOnNewDocument", source="""
            const real = window.fetch;
            window.fetch = async (url, options) => {
              const answer = await real(url, options);
              if (String(url).includes("/rows") && !window.letGo) await new Promise((go) => { window.letGo = go; });
              return answer;
            };""")
        page.open(self.viewer.url + "/eval/eval-words?cell=0.0")
        page.wait("window.letGo && document.querySelector('.rating')")
        page.click_text(".rating button", "Good")
        page.wait("document.getElementById('said').textContent === 'Rating saved'")
        page.value("window.letGo()")
        page.wait("[...document.querySelectorAll('.said')].some((e) => e.closest('#cell-0-0'))")

    def test_long_answers_do_not_hold_up_the_page(self):
        page = self.page("/eval/eval-words?cell=2.1", "document.querySelector('.more')")
        self.assertLess(page.value("document.querySelector('.panel-body pre').textContent.length"), 100000)
        self.assertIn("of 10 MiB", page.text(".more"))
        page.click_text(".more button", "Show more")
        page.wait("document.querySelector('.panel-body pre').textContent.length > 500000")

    def test_of_fifty_thousand_rows_those_in_sight_are_in_the_page(self):
        page = self.page("/eval/eval-many", "document.querySelectorAll('.row .cell').length > 5")
        self.assertLess(page.value("document.querySelectorAll('.row').length"), 60)
        self.assertEqual(page.value("document.querySelector('.grid').getAttribute('aria-rowcount')"), "50001")
        page.value("document.querySelector('.grid').scrollTop = 1e9")
        page.wait("[...document.querySelectorAll('.row .cell')].some((c) => c.textContent.includes('needle'))")
        self.assertLess(page.value("document.querySelectorAll('.row').length"), 60)
        page.key("f")
        page.wait("document.querySelectorAll('.row .cell').length === 1")

    def test_a_running_eval_grows_in_place(self):
        top = head("eval-live", ("only",), ["n"], "live", rows=60, total=60)
        with subprocess.Popen([FILL, str(self.store)], stdin=subprocess.PIPE, text=True) as writer:
            def put(*lines):
                writer.stdin.write("".join(json.dumps(x) + "\n" for x in lines) + json.dumps({"sleep": 1}) + "\n")
                writer.stdin.flush()
            put(top, *[cell(i, 0, f"answer {i}", vars={"n": str(i)}) for i in range(40)])
            page = self.page("/eval/eval-live", "document.querySelector('.shown')?.textContent === '40 rows'")
            self.assertIn("running 40 of 60", page.text(".chips"))
            page.value("document.querySelector('.grid').scrollTop = 960")
            page.wait("document.getElementById('cell-12-0')?.textContent.includes('answer 12')")
            put(*[cell(i, 0, f"answer {i}", vars={"n": str(i)}) for i in range(40, 60)])
            page.wait("document.querySelector('.shown')?.textContent === '60 rows'")
            self.assertEqual(page.value("document.querySelector('.grid').scrollTop"), 960)      # the place is kept
            writer.stdin.close()
        page.wait("!document.querySelector('.chip.live')")
        self.viewer.ask("DELETE", "/api/eval/eval-live")

    def test_charts_have_their_tables(self):
        page = self.page("/eval/eval-words?view=charts", "document.querySelectorAll('.plot canvas').length >= 3")
        page.value("document.querySelectorAll('.chart details').forEach((d) => { d.open = true; })")
        self.assertIn("100 %", page.text(".chart table"))
        self.assertTrue(page.value("(() => { const c = document.querySelector('.plot canvas'); return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size > 20; })()"))
        self.assertEqual(page.complaints(), [])

    def test_two_evals_side_by_side(self):
        page = self.page("/", "document.querySelectorAll('table.list tbody tr').length >= 3")
        for name in ("words", "nothing in it"):
            page.value(f"[...document.querySelectorAll('tbody tr')].find((r) => r.querySelector('.name a').textContent === {name!r}).querySelector('input').click()")
        page.key("c")
        page.wait("document.querySelectorAll('table.compare tbody tr').length === 3")
        self.assertIn("pairs 0", page.text(".chips").replace("\n", " "))
        page.click("table.compare button")
        page.wait("document.querySelector('.difference')")
        self.assertEqual(page.complaints(), [])

    def test_the_playground_runs_a_program_and_its_link_keeps_it(self):
        page = self.page("/playground", "document.querySelectorAll('select option').length > 5")
        page.value("document.querySelector('.editor').select()")
        page.type("print('<b>' + input())")
        page.value("document.querySelectorAll('.editor')[1].focus()")
        page.type("x")
        page.value("document.querySelectorAll('.editor')[2].focus()")
        page.type("<b>x")
        page.key("Enter", modifiers=2)
        page.wait("document.querySelector('.verdict.pass')", 60)
        self.assertEqual(page.text(".play-out pre"), "<b>x\n")
        page.open(self.viewer.url + "/")
        page.wait("document.querySelector('table.list')")
        page.value("setTimeout(() => history.back())")     # the answer comes before the page has gone
        page.wait("document.querySelector('.editor')?.value === \"print('<b>' + input())\"")
        self.assertEqual(page.complaints(), [])

    PAGES = (("/", "document.querySelector('table.list')"), ("/eval/eval-words", "document.querySelector('.row .cell')"), ("/eval/eval-words?cell=0.1", "document.querySelector('.difference ins')"),
             ("/eval/eval-words?cell=0.0", "document.querySelector('.code .hl-keyword') && document.querySelector('.isolation .off')"), ("/eval/eval-words?q=(&re=1&metric=", "document.querySelector('.trouble')"),
             ("/playground", "document.querySelectorAll('option').length > 5"), ("/eval/eval-words?view=charts", "document.querySelectorAll('.plot canvas').length >= 3"),
             ("/eval/eval-words?view=config", "document.querySelector('.part-page pre')"), ("/compare/eval-words/eval-many", "document.querySelector('.compare')"), ("/start", "document.querySelector('.empty')"),
             ("/runs", "document.querySelector('.empty')"), ("/eval/eval-empty", "document.querySelector('.empty')"), ("/nothing/here", "document.querySelector('.empty')"), ("/eval/eval-none", "document.querySelector('.trouble')"))

    def test_a_screen_reader_finds_its_way(self):
        """What the browser tells it: one heading of the page, one main part, a name for all that takes the keyboard."""
        for path, until in self.PAGES:
            page = self.page(path, until)
            page.call("Accessibility.enable")
            nodes = [n for n in page.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
            role = lambda n: n.get("role", {}).get("value")
            named = lambda n: n.get("name", {}).get("value", "").strip()
            can = lambda n, what: any(p["name"] == what and p["value"].get("value") for p in n.get("properties", []))
            self.assertEqual([n["name"]["value"] for n in nodes if role(n) in ("button", "link", "combobox", "searchbox", "textbox", "checkbox", "radio", "spinbutton", "dialog", "image") and not named(n)], [], path)
            self.assertEqual([role(n) for n in nodes if can(n, "focusable") and not named(n) and role(n) not in ("RootWebArea", "DisclosureTriangle", "Iframe")], [], path)
            self.assertEqual(len([n for n in nodes if role(n) == "heading" and any(p["name"] == "level" and p["value"]["value"] == 1 for p in n["properties"])]), 1, path)
            self.assertEqual(len([n for n in nodes if role(n) == "main"]), 1, path)
            self.assertEqual(page.value("(() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i); })()"), [], path)
            page.close()

    def test_the_tab_key_leads_through_the_page_and_shows_where_it_is(self):
        page = self.page("/eval/eval-words", "document.querySelectorAll('.row .cell').length === 6")
        seen = []
        for _ in range(60):
            page.key("Tab", code="Tab", windowsVirtualKeyCode=9)
            at = page.value("(() => { const e = document.activeElement, s = getComputedStyle(e); return e === document.body ? null : [e.getAttribute('role') || e.tagName, e.textContent.trim().slice(0, 20), s.outlineStyle, e.matches(':focus-visible')]; })()")
            if at is None:
                break
            seen.append(at)
        self.assertEqual(seen[0][1], "Skip to the content")
        self.assertEqual([s[1] for s in seen if s[0] == "radio"], ["All"])                 # one stop for a row of choices
        self.assertEqual(seen[-1][0], "grid")                                              # what the page is about
        self.assertEqual([s for s in seen if s[2] == "none" or not s[3]], [])              # it is always seen where one is
        page.value("document.querySelector('[role=radio][tabindex=\"0\"]').focus()")
        page.key("ArrowRight")
        page.key("ArrowRight")
        page.wait("location.search === '?mode=failed' && document.activeElement.textContent === 'Failed'")

    def test_texts_can_be_read_in_light_and_dark(self):
        for path, until in self.PAGES:
            page = self.page(path, until)
            for dark in (False, True):
                page.dark(dark)
                self.assertEqual(page.value(CONTRAST), [], (path, "dark" if dark else "light"))
        page.value("document.body.insertAdjacentText('beforeend', 'x'), document.body.style.color = getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(page.value(CONTRAST.replace('"body *"', '"html *"')), [])        # the control

    def test_nothing_is_wider_than_the_window(self):
        for width in (360, 1280, 1920):
            for path, until in (("/", "document.querySelector('table.list')"), ("/eval/eval-words", "document.querySelector('.row .cell')"),
                                ("/eval/eval-words?cell=0.0", "document.querySelector('.panel-body')"), ("/playground", "document.querySelector('.editor')"),
                                ("/eval/eval-words?view=charts", "document.querySelector('.plot canvas')"), ("/compare/eval-words/eval-many", "document.querySelector('.compare')"), ("/eval/eval-empty", "document.querySelector('.empty')")):
                page = self.browser.page(width, 760)
                page.open(self.viewer.url + path)
                page.wait(until)
                self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width, (path, width))
                page.close()


@support.once
@support.release_only
class Acting(Pages):
    """What is done in the page, in a folder with a configuration."""
    @classmethod
    def setUpClass(cls):
        if not program():
            support.need_program("chromium-headless-shell")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fumehood-pages-"))
        cls.store = cls.folder / "store.db"
        (cls.folder / "promptfooconfig.yaml").write_text("description: started\nprompts: ['say {{w}}']\nproviders: [echo]\ntests: [{vars: {w: x}, assert: [{type: contains, value: loudly}]}, {vars: {w: y}}]\n")
        cls.viewer = Viewer(cls.store, cwd=cls.folder)
        cls.browser = Browser()

    def test_an_eval_is_started_and_a_cell_run_again_with_another_prompt(self):
        page = self.page("/start", "document.querySelector('.configs button')")
        page.click(".configs button")
        page.wait("document.querySelector('.chart .chip')?.textContent === 'complete'", 60)
        e = self.viewer.get("/api/view/evals")["evals"][0]
        page.open(f"{self.viewer.url}/eval/{e['id']}?cell=0.0")
        page.click_text(".again button", "Edit and run again")
        page.wait("document.querySelector('.again textarea')?.value === 'say {{w}}' && document.activeElement === document.querySelector('.again textarea')")
        page.value("document.querySelector('.again textarea').select()")
        page.type("shout {{w}} loudly")
        page.key("Enter", modifiers=2)
        page.wait("document.querySelector('.try .mark-pass') && document.querySelector('.try pre')?.textContent === 'shout x loudly'", 60)
        self.assertEqual(page.value("location.search"), "?cell=0.0")            # the place is kept
        self.assertEqual(page.value("document.querySelector('.panel-head .mark-fail') !== null"), True)
        page.click_text(".try button", "Difference to the answer before")
        page.wait("document.querySelector('.try ins')")
        page.click_text(".try a", "Open")
        page.wait("document.querySelector('h1')?.textContent.startsWith('started: row 0 again, with another prompt')")
        self.assertEqual(page.complaints(), [])


if __name__ == "__main__":
    unittest.main()
