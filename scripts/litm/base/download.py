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
from litm.base.hashing import checksum_kind, file_checksum

#: Seconds without a byte, and of all that comes before a file's first byte.
TIMEOUT_SECONDS = 60.0
#: A file that comes with fewer bytes a second, over so many seconds, is given up, as by curl's --speed-limit and
#: --speed-time. Not a time for the whole file: one that suits 14 GB would let a server that sends a byte now and then
#: go on for days, and the size is not known before.
SLOWEST, SPEED_SECONDS = 10_000, 60.0
BLOCK = 1 << 20


def fetch(url: str, checksum: str, mirror: str | None, output: str | Path) -> str:
    """Put the file at `output` if its sum is right, a sha256 or a git blob id; returns where it came from.

    A file in the folder `mirror` is taken before the network is asked, see `find_in_mirror`. Raises `UserError` with
    both sums if they differ, and for a download that fails.
    """
    output = Path(output)
    local = find_in_mirror(Path(mirror).expanduser(), output.name, url, checksum) if mirror else None
    source = str(local or url)
    with atomic_writer(output) as target:
        if local:
            with local.open("rb") as raw:
                shutil.copyfileobj(raw, target)
        else:
            _download(url, target, output.name)
        target.flush()
        found = file_checksum(target.name, checksum)
        if found != checksum:
            raise UserError(
                f"{source}: its {checksum_kind(checksum)} is {found}, but must be {checksum}; this is not the expected "
                "file"
            )
    return source


def find_in_mirror(mirror: Path, name: str, url: str, checksum: str) -> Path | None:
    """A file of the mirror folder, or of a folder inside it, that has the right sum.

    By its base name here or, where a file is called otherwise here, by that of its URL: two versions of a file may have
    one. If none has the sum, the first of its base name here, to be refused.
    """
    named = _of_name(mirror, name)
    candidates = dict.fromkeys([*named, *_of_name(mirror, url.rsplit("/", 1)[-1])])
    right = next((path for path in candidates if file_checksum(path, checksum) == checksum), None)
    return right or next(iter(named), None)


def _of_name(folder: Path, name: str) -> list[Path]:
    """The files of a base name, that in the folder itself first."""
    found = [folder / name, *sorted(folder.rglob(name))]
    return [path for path in dict.fromkeys(found) if path.is_file()]


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
