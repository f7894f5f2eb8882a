"""A server of `transformers serve` on this machine, which loads the model that a request names."""

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from waiting import HANG, wait_until


@contextmanager
def served(log: Path) -> Iterator[str]:
    """The address of a server, once it answers; its output goes to `log`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", "--host", "127.0.0.1", "--port", port, "--device", "cpu", "--dtype", "float32"]
    program = Path(sys.executable).with_name("transformers")
    with log.open("wb") as lines:
        server = subprocess.Popen(
            [program, *map(str, words)], stdout=lines, stderr=lines, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
    try:
        wait_until(lambda: is_up(f"http://127.0.0.1:{port}/health", server, log), log.read_text)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(HANG)


def is_up(address: str, server: subprocess.Popen, log: Path) -> bool:
    assert server.poll() is None, log.read_text()
    with suppress(OSError), urllib.request.urlopen(address, timeout=HANG):
        return True
    return False
