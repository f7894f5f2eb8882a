"""HTTP servers on this machine."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """One connection; no log, because a test's own output names its failure."""

    protocol_version = "HTTP/1.1"
    #: Headers and body are two packets; the second would wait for the acknowledgement of the first.
    disable_nagle_algorithm = True

    @property
    def owner(self) -> Any:
        return self.server.owner

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def send(self, status: int, data: bytes, reason: str | None = None, **headers: str | None) -> None:
        """Send a response; None leaves a header out."""
        self.send_response(status, reason)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """See above."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads, block_on_close = True, False


class Served:
    """A context manager that serves by a `handler`, whose `owner` it is; `url`: its address."""

    def __init__(self, handler: type[Handler]) -> None:
        self.handler = handler

    def __enter__(self) -> Self:
        self._http = _Server(("127.0.0.1", 0), self.handler)
        self._http.owner = self
        Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
