"""Downloads from a mirror folder or the network, always checked; urllib also reads file: addresses."""

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

#: Seconds without a byte, and seconds until the first byte of a file.
TIMEOUT_SECONDS = 60.0
#: Bytes per second, and seconds: a file that stays slower for so long is given up, as with curl's --speed-limit and
#: --speed-time. There is no limit for the whole file: its size is unknown, and a limit that suits 14 GB would let a
#: server that sends a byte now and then continue for days.
SLOWEST, SPEED_SECONDS = 10_000, 60.0
BLOCK = 1 << 20


def fetch(url: str, checksum: str, mirror: str | None, output: str | Path) -> str:
    """Put the file at `output` if its checksum (sha256 or git blob id) is right; returns its origin.

    A file in the folder `mirror` is preferred to the network, see `find_in_mirror`. Raises `UserError` for a failed
    download, and with both checksums if they differ.
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
    """A file of the mirror folder or its subfolders with the right checksum.

    Searched by its base name here, then by that of its URL: two versions of a file may share a name. If none has the
    checksum, the first of its base name here, which the caller refuses.
    """
    named = _of_name(mirror, name)
    candidates = dict.fromkeys([*named, *_of_name(mirror, url.rsplit("/", 1)[-1])])
    right = next((path for path in candidates if file_checksum(path, checksum) == checksum), None)
    return right or next(iter(named), None)


def _of_name(folder: Path, name: str) -> list[Path]:
    """The files with a base name, the folder's own before those of subfolders."""
    found = [folder / name, *sorted(folder.rglob(name))]
    return [path for path in dict.fromkeys(found) if path.is_file()]


def opened(request: str | urllib.request.Request, seconds: float) -> Any:
    """`urlopen`; TimeoutError if the headers, or later any byte, take longer than `seconds`."""
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
    """Copy a response to the target; returns the number of bytes. TimeoutError if it is too slow, see `SLOWEST`."""
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
