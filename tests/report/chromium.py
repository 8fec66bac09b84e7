"""A real browser that a test drives: its keys, its network, its console, through a pipe.

Chromium reads commands from file descriptor 3 and answers on 4, JSON objects with a NUL after each.
"""

import base64
import itertools
import json
import os
import select
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
)
_PATIENCE_S = 60.0


class Browser:
    """One process with one page."""

    def __init__(self, profile: Path) -> None:
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        self._pid = os.posix_spawn(
            BROWSER,
            [BROWSER, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            os.environ,
            file_actions=[
                # Aside first: the numbers 3 and 4 may be those of the pipes themselves.
                (os.POSIX_SPAWN_DUP2, to_read, 103),
                (os.POSIX_SPAWN_DUP2, to_write, 104),
                (os.POSIX_SPAWN_DUP2, 103, 3),
                (os.POSIX_SPAWN_DUP2, 104, 4),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        os.close(to_read)
        os.close(to_write)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = ""
        self.console: list[str] = []
        self.requests: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        self.call("Browser.close")
        os.close(self._to)
        os.close(self._from)
        os.waitpid(self._pid, 0)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != number:
            self._note(answer)
        assert "error" not in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, address: str) -> None:
        """Load a page anew and wait until its scripts have drawn it."""
        self.console.clear()
        self.requests.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression holds in the page."""
        self.until(lambda: bool(self.evaluate(condition)), condition)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"never: {what}; console: {self.console}"
            time.sleep(0.02)

    def press(self, key: str, code: str = "", text: str = "") -> None:
        """One key, as a reader presses it: "Tab", " ", "Enter", "Escape"."""
        number = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}[key]
        parameters = {"key": key, "code": code or key, "windowsVirtualKeyCode": number}
        typed = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **parameters, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the window, and which colours its reader prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], _PATIENCE_S)
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has gone"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        received: dict[str, Any] = json.loads(message)
        return received

    def _note(self, event: dict[str, Any]) -> None:
        """What the page said and asked for."""
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.console.append(str([one.get("value") for one in parameters["args"]]))
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                thrown = details.get("exception", {}).get("description", "")
                self.console.append(f"{details['text']} {thrown}")
            case "Log.entryAdded":
                self.console.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                address = parameters["request"]["url"]
                if not address.startswith(("about:", "data:")):
                    self.requests.append(address)
