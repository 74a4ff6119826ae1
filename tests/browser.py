# SPDX-License-Identifier: MIT
"""A real browser for tests: Debian's chromium without a window, driven through its debugging protocol over a pipe.

https://chromedevtools.github.io/devtools-protocol/ : messages are JSON with a NUL at their end, on descriptors 3 and 4
(--remote-debugging-pipe), so that no port is opened and no library is needed.
"""
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

ANSWER_S = 120     # the longest that the browser may take for one answer, on a busy machine
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def program():
    """The browser's path, or None if it is not installed."""
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Failed(Exception):
    """The page threw an exception, or the browser failed."""


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="fumehood-browser-")
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()

        def place_pipes():                 # the browser expects them as descriptors 3 and 4, which are taken already, by these pipes at the latest
            copies = os.dup(to_read), os.dup(to_write)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)
        self.process = subprocess.Popen(
            [program(), "--remote-debugging-pipe", "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--mute-audio",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder})
        os.close(to_read)
        os.close(to_write)
        self.numbers, self.rest, self.events = itertools.count(1), b"", []

    def close(self):
        os.close(self.out)
        os.close(self.into)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], ANSWER_S)[0]:
                raise Failed(f"the browser says nothing for {ANSWER_S} s")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise Failed("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            got = self.read()
            if got.get("id") == number:
                if "error" in got:
                    raise Failed(f"{method}: {got['error']['message']}")
                return got["result"]
            self.events.append(got)

    def page(self, width=1280, height=800):
        return Page(self, width, height)


class Page:
    def __init__(self, browser, width, height):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]     # has cookies of its own
        self.target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def value(self, expression):
        """The value of a JavaScript expression; a promise is awaited."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise Failed(got["exceptionDetails"].get("exception", {}).get("description") or got["exceptionDetails"]["text"])
        return got["result"].get("value")

    def wait(self, expression, seconds=90):
        """Waits until the expression is true; returns its value."""
        until = time.monotonic() + seconds
        while True:
            try:
                value = self.value(f"((v) => v instanceof Node || v)(({expression}))")
            except Failed as e:                # the page is being replaced
                value, why = None, e
            else:
                why = None
            if value:
                return value
            if time.monotonic() > until:
                raise Failed(f"not within {seconds} s: {expression}{f' ({why})' if why else ''}\n{self.text()[:2000]}")
            time.sleep(0.05)

    def text(self, selector="body"):
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''") or ""

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def click_text(self, selector, text):
        find = f"[...document.querySelectorAll({json.dumps(selector)})].find((e) => e.textContent.trim() === {json.dumps(text)})"
        self.wait(find + " != null")
        self.value(find + ".click()")

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 and not more else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def seen(self, *methods):
        """Events of this page so far, by the names of their methods."""
        self.value("0")
        return [e for e in self.browser.events if e.get("sessionId") == self.session and e["method"] in methods]

    def complaints(self):
        """Exceptions and logged errors of the page's code."""
        thrown = [e["params"]["exceptionDetails"].get("exception", {}).get("description", "?") for e in self.seen("Runtime.exceptionThrown")]
        logged = [e["params"]["entry"]["text"] for e in self.seen("Log.entryAdded") if e["params"]["entry"]["level"] == "error"]
        return thrown + logged

    def close(self):
        if self.target is None:
            return
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
        self.target = None
