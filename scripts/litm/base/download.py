"""Remote files: from a mirror folder or the network, never unchecked. By urllib, which also reads file: addresses."""

import http.client
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from litm.base.atomic_write import atomic_writer
from litm.base.deadlines import within
from litm.base.errors import UserError
from litm.base.hashing import file_sha256

#: Seconds without a byte, and of all that comes before a file's first byte.
TIMEOUT_SECONDS = 60.0
#: A file that comes with fewer bytes a second, over so many seconds, is given up, as by curl's --speed-limit and
#: --speed-time. Not a time for the whole file: one that suits 14 GB would let a server that sends a byte now and then
#: go on for days, and the size is not known before.
SLOWEST, SPEED_SECONDS = 10_000, 60.0
BLOCK = 1 << 20


def fetch(url: str, sha256: str, mirror: str | None, output: str | Path) -> str:
    """Put the file at `output` if its sha256 is right; returns where it came from.

    A file of the output's base name in the folder `mirror` is taken before the network is asked. Raises
    `UserError` with both sums if they differ, and for a download that fails.
    """
    output = Path(output)
    local = find_in_mirror(Path(mirror).expanduser(), output.name) if mirror else None
    source = str(local or url)
    with atomic_writer(output) as target:
        if local:
            with local.open("rb") as raw:
                shutil.copyfileobj(raw, target)
        else:
            _download(url, target, output.name)
        target.flush()
        found = file_sha256(target.name)
        if found != sha256:
            raise UserError(f"{source}: its sha256 is {found}, but must be {sha256}; this is not the expected file")
    return source


def find_in_mirror(mirror: Path, name: str) -> Path | None:
    """The file of that base name in the mirror folder or, if not there, the first in a folder inside it."""
    direct = mirror / name
    if direct.is_file():
        return direct
    return next((path for path in sorted(mirror.rglob(name)) if path.is_file()), None)


def opened(request: str | urllib.request.Request, seconds: float) -> Any:
    """As `urlopen`; TimeoutError if there are no whole headers after so many seconds, or then no byte for as long."""
    return within(seconds, lambda: urllib.request.urlopen(request, timeout=seconds))


def _download(url: str, target: IO[bytes], name: str) -> None:
    try:
        with opened(url, TIMEOUT_SECONDS) as answer:
            length = answer.headers.get("Content-Length", "")
            size = _copy(answer, target)
        if length.isdecimal() and size < int(length):
            raise ConnectionError(f"it was cut: {size:,} of {int(length):,} bytes came")
    except TimeoutError as error:
        raise _failed(url, str(error) or f"no answer within {TIMEOUT_SECONDS:g} seconds", name) from error
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
        raise _failed(url, str(getattr(error, "reason", error)), name) from error


def _failed(url: str, reason: str, name: str) -> UserError:
    return UserError(
        f"{url}: download failed ({reason}); run the same command again, or put {name} into a folder and set "
        "data_mirror to it"
    )


def _copy(answer: Any, target: IO[bytes]) -> int:
    """Write what comes to the target; how many bytes. TimeoutError if they come too slowly, see `SLOWEST`."""
    size = since = 0
    started = time.monotonic()
    while block := _next_block(answer, size):
        target.write(block)
        size += len(block)
        since += len(block)
        seconds = time.monotonic() - started
        if seconds >= SPEED_SECONDS:
            if since < SLOWEST * seconds:
                raise TimeoutError(
                    f"too slow: {since:,} bytes in the last {seconds:.0f} seconds, {size:,} in all; "
                    f"{SLOWEST:,} a second are the least"
                )
            since, started = 0, time.monotonic()
    return size


def _next_block(answer: Any, size: int) -> bytes:
    try:
        return answer.read1(BLOCK)
    except http.client.IncompleteRead as error:
        raise ConnectionError(f"it was cut: {size:,} bytes came, and the server said that there are more") from error
