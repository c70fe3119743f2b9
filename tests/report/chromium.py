"""A headless Chromium, driven over a pipe by the DevTools protocol: no server and no port."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0


def executable():
    """The browser of this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A browser; ``open`` gives a page."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-extensions",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
        ]
        # The browser reads commands from descriptor 3 and answers on descriptor 4.
        start = f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", start, executable(), *options],
            pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._rest, self._count, self.events = b"", 0, []

    def send(self, method, session=None, **parameters):
        """Run a command and return its answer; events that arrive meanwhile are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """Wait for an event of a page."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event.get("method") == method and event.get("sessionId") == session:
                    return event["params"]
            seen = len(self.events)
            self.events.append(self._next())

    def _next(self):
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], until - time.monotonic())
            part = os.read(self._answers, 2**20) if ready else b""
            assert part, "the browser has stopped or does not answer"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, path, width=1000, height=800, scheme="light", phone=False):
        """Open a file in a new page."""
        return Page(self, path, width, height, scheme, phone)

    def close(self):
        """Stop the browser."""
        with suppress(OSError, AssertionError):
            self.send("Browser.close")
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()


class Page:
    """A page, with what it requested and what it complained about."""

    def __init__(self, browser, path, width, height, scheme, phone):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        preferred = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=preferred)
        self.url = path.as_uri()
        self.send("Page.navigate", url=self.url)
        browser.wait_for("Page.loadEventFired", self.session)

    def send(self, method, **parameters):
        """Run a command in this page."""
        return self.browser.send(method, self.session, **parameters)

    def eval(self, expression):
        """Return the value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def events(self, method):
        """Return what the page reported."""
        every = self.browser.events
        mine = [e for e in every if e.get("sessionId") == self.session]
        return [e["params"] for e in mine if e.get("method") == method]

    def requests(self):
        """Return the addresses that were requested."""
        return [e["request"]["url"] for e in self.events("Network.requestWillBeSent")]

    def complaints(self):
        """Return errors and messages of the console."""
        logged = [e["entry"]["text"] for e in self.events("Log.entryAdded")]
        thrown = [str(e["exceptionDetails"]) for e in self.events("Runtime.exceptionThrown")]
        said = [str(e["args"]) for e in self.events("Runtime.consoleAPICalled")]
        return logged + thrown + said

    def centre(self, selector, across=0.5):
        """Scroll to an element; return a point in it, ``across`` from the left to the right."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.eval(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = self.eval(
            f"(({{x, y, width, height}}) => [x, y, width, height])({element}"
            ".getBoundingClientRect())"
        )
        return box[0] + across * box[2], box[1] + box[3] / 2

    def mouse(self, kind, point, held=False):
        """Move, press or release the mouse."""
        buttons = {"button": "left", "buttons": 1, "clickCount": 1} if held else {}
        self.send("Input.dispatchMouseEvent", type=kind, x=point[0], y=point[1], **buttons)

    def click(self, selector):
        """Click on an element."""
        point = self.centre(selector)
        self.mouse("mousePressed", point, held=True)
        self.mouse("mouseReleased", point, held=True)

    def text(self, selector):
        """Return the text of an element."""
        return self.eval(f"document.querySelector({json.dumps(selector)}).textContent")

    def screenshot(self, path):
        """Write a picture of the whole page."""
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self):
        """Return the page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])
