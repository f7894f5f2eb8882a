"""A headless Chromium, driven by the DevTools protocol over a pipe, without driver, port or network."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from waiting import HANG, wait_until

#: Names of the program in Debian and elsewhere.
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of the browser, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser; `problems` has its console's errors and warnings, exceptions and failed requests."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--remote-debugging-pipe", f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND",
        ]  # fmt: skip
        # Chromium reads commands from file descriptor 3 and writes answers to 4.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", program, *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._unread, self._number = b"", 0
        self._session: str | None = None
        self.events: list[dict] = []
        self.problems: list[str] = []
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict:
        """The result of a DevTools command; events of the page are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def open(self, path: Path, width: int, height: int = 900, dark: bool = False, scripts: bool = True) -> None:
        """Load a file in a window of this size, in CSS pixels, and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._note(self._read())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait_for(self, condition: str) -> None:
        wait_until(lambda: self.run(f"Boolean({condition})"), lambda: f"never true: {condition}")

    def click(self, selector: str) -> None:
        """Click the middle of an element as a mouse does."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        """Move the pointer to the middle of an element."""
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is in the window, once it has been scrolled into view."""
        x, y = self.run(
            f"""(() => {{
                const element = document.querySelector({json.dumps(selector)});
                element.scrollIntoView({{block: "center", behavior: "instant"}});
                const box = element.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        return x, y

    def press(self, key: str, **more: Any) -> None:
        """Press a key such as ArrowRight; more: of one with a character."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **more)

    def close(self) -> None:
        os.close(self._commands)
        self._process.terminate()
        self._process.wait(timeout=HANG)
        os.close(self._answers)

    def _read(self) -> dict:
        while b"\0" not in self._unread:
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser ended"
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        self.events.append(event)
        parameters = event.get("params", {})
        match event["method"], parameters:
            case "Runtime.exceptionThrown", {"exceptionDetails": problem}:
                self.problems.append(str(problem))
            case "Runtime.consoleAPICalled", {"type": "error" | "warning", "args": problem}:
                self.problems.append(str(problem))
            case "Log.entryAdded", {"entry": {"level": "error" | "warning"} as problem}:
                self.problems.append(str(problem))
            case "Network.requestWillBeSent", {"request": {"url": url}}:
                if not url.startswith(("file:", "data:", "blob:", "about:")):
                    self.problems.append(f"request to {url}")
