"""Downloads from a mirror folder or the network, always checked, and the addresses they come from."""

import glob
import http.client
import ipaddress
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from litm.base.files import atomic_writer
from litm.base.json_files import read_json, write_json
from litm.base.messages import CREDENTIALS, UserError, note
from litm.base.progress import progress_bar
from litm.base.store import checksum_kind, file_checksum, file_state


def check_has_no_password(url: str) -> str:
    """The same address; ValueError, which does not repeat it, if it contains a user or a password."""
    if CREDENTIALS.search(url):
        raise ValueError(
            "has a user or a password in it, which logs and results would repeat: leave them out (a server's key is in "
            "an environment variable, see 'api_key_variable'; a file that needs a password is for you to download)"
        )
    return url


def public_url(url: str) -> str:
    """An address without its possible secrets: user, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}".rstrip("/")


def host_of(url: str) -> str:
    """The host name of an address."""
    return urlsplit(url).hostname or ""


def is_this_machine(url: str) -> bool:
    """Whether an address is one of this machine (localhost, 127.0.0.1, ::1)."""
    host = host_of(url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """The result of a call; TimeoutError if it takes longer than `seconds`.

    For libraries that limit only the time between two bytes. A thread of its own makes the call; after the deadline it
    is abandoned and ends with the program.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


#: Seconds without a byte, and seconds until the first byte of a file.
TIMEOUT_SECONDS = 60.0


#: Bytes per second, and seconds: a file that stays slower for so long is given up, as with curl's --speed-limit and
#: --speed-time. There is no limit for the whole file: its size is unknown, and a limit that suits 14 GB would let a
#: server that sends a byte now and then continue for days.
SLOWEST, SPEED_SECONDS = 10_000, 60.0


BLOCK, MEGABYTE = 1 << 20, 10**6
#: Bytes: a larger file shows its progress.
LARGE = 16 * BLOCK
#: Tries in a row with less than a block of new bytes after which a download is given up, and seconds before each.
TRIES, PAUSE_SECONDS = 5, 2.0


def fetch(url: str, checksum: str, mirror: str | None, output: str | Path) -> str:
    """Put the file at `output` if its checksum (sha256 or git blob id) is right; returns its origin.

    A file in the folder `mirror` is preferred to the network, see `find_in_mirror`. A download that is cut goes on
    where it ended, also in a later run, from the hidden file beside `output` that has its first part. Raises
    `UserError` for a failed download, and with both checksums if they differ.
    """
    output = Path(output)
    local = find_in_mirror(mirror, output.name, url, checksum)
    if local:
        with atomic_writer(output) as target:
            with local.open("rb") as raw:
                shutil.copyfileobj(raw, target)
            target.flush()
            _check(Path(target.name), checksum, str(local))
        return str(local)
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f".{output.name}.{checksum[:16]}.part")
    is_continued = _download(url, part, output.name)
    try:
        _check(part, checksum, url)
    except UserError:
        part.unlink()
        if not is_continued:
            raise
        # The server may have another file than when the download began.
        return fetch(url, checksum, mirror, output)
    part.replace(output)
    return url


def _check(path: Path, checksum: str, source: str) -> None:
    if (actual := file_checksum(path, checksum)) != checksum:
        raise UserError(
            f"{source}: its {checksum_kind(checksum)} is {actual}, but must be {checksum}; "
            "this is not the expected file"
        )


def find_in_mirror(mirror: str | None, name: str, url: str, checksum: str) -> Path | None:
    """A file of the mirror folder or its subfolders with the right checksum; None without a mirror.

    Searched by its base name here, then by that of its URL: two versions of a file may share a name. If none has the
    checksum, the first of its base name here, which the caller refuses.
    """
    if not mirror:
        return None
    named, folder = {name, url.rsplit("/", 1)[-1]}, Path(mirror).expanduser()
    candidates = [path for base_name in named for path in folder.rglob(glob.escape(base_name)) if path.is_file()]
    candidates.sort(key=lambda path: (path.name != name, len(path.parts), path))
    right = next((path for path in candidates if file_checksum(path, checksum) == checksum), None)
    return right or next((path for path in candidates if path.name == name), None)


def opened(request: str | urllib.request.Request, seconds: float) -> Any:
    """`urlopen`; TimeoutError if the headers, or later any byte, take longer than `seconds`."""
    return within(seconds, lambda: urllib.request.urlopen(request, timeout=seconds))


class TooSlowError(TimeoutError):
    """A download is slower than `SLOWEST`."""


def _download(url: str, part: Path, name: str) -> bool:
    """Complete the file `part`; returns whether it had a beginning."""
    begin = _size(part)
    before, tries = begin, 0
    while True:
        try:
            _receive(url, part, name)
            return begin > 0
        except (TimeoutError, urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
            size = _size(part)
            tries = 0 if size - before >= BLOCK else tries + 1
            reason = str(getattr(error, "reason", error)) or f"no answer within {TIMEOUT_SECONDS:g} seconds"
            if isinstance(error, http.client.IncompleteRead):
                reason = f"it was cut: {size:,} bytes came, and the server said that there are more"
            if not size or tries == TRIES or isinstance(error, urllib.error.HTTPError | TooSlowError):
                raise UserError(
                    f"{url}: download failed ({reason}); run the same command again"
                    + (f", which goes on after {size:,} bytes" if size else "")
                    + f", or put {name} into a folder and set data_mirror to it"
                ) from error
            note(f"{name}: {reason}; the download goes on")
            before = size
            time.sleep(PAUSE_SECONDS)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _receive(url: str, part: Path, name: str) -> None:
    """Append to a file what it lacks, or all if the server does not send parts."""
    had = _size(part)
    try:
        answer = opened(urllib.request.Request(url, headers={"Range": f"bytes={had}-"} if had else {}), TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not had:
            raise
        # There is nothing after what is here: all of the file, or a part of another one.
        if error.headers.get("Content-Range") != f"bytes */{had}":
            part.unlink()
            _receive(url, part, name)
        return
    is_rest = (answer.headers.get("Content-Range") or "").startswith(f"bytes {had}-")
    length = answer.headers.get("Content-Length") or ""
    size = had if is_rest else 0
    total = size + int(length) if length.isdecimal() else 0
    since, started = 0, time.monotonic()
    with (
        answer,
        part.open("ab" if is_rest else "wb") as target,
        progress_bar(total // MEGABYTE, name, "MB") if total > LARGE else nullcontext() as bar,
    ):
        while block := answer.read1(BLOCK):
            target.write(block)
            size, since = size + len(block), since + len(block)
            if bar is not None:
                bar.update(size // MEGABYTE - bar.n)
            if (seconds := time.monotonic() - started) >= SPEED_SECONDS:
                if since < SLOWEST * seconds:
                    raise TooSlowError(
                        f"too slow: {since:,} bytes in the last {seconds:.0f} seconds, {size:,} in all; "
                        f"{SLOWEST:,} a second are the least"
                    )
                since, started = 0, time.monotonic()
    if size < total:
        raise ConnectionError(f"it was cut: {size:,} of {total:,} bytes came")


#: Folder that records each fetched file's checksum and its state at that time.
RECORDS = "results/store/fetched"


def note_fetched(path: Path, checksum: str, records: str = RECORDS) -> None:
    """Record the checksum of a file in its current state."""
    record = _record(path, records)
    # The record only saves hashing, so a dry run in a read-only folder works too.
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, {"checksum": checksum, "state": file_state(path)})


def check_fetched(path: Path, checksum: str, where: str, records: str = RECORDS) -> None:
    """Raise `UserError` if a fetched file has changed; it is hashed only if its state differs from the recorded one.

    checksum: the required one, a sha256 or a git blob id; where: the config entry that sets it. A file fetched under
    another checksum is skipped, because the workflow fetches it again.
    """
    record = _record(path, records)
    noted = read_json(record) if record.exists() else {}
    is_other_file = noted.get("checksum", checksum) != checksum
    if not path.exists() or is_other_file or noted.get("state") == file_state(path):
        return
    if (actual := file_checksum(path, checksum)) != checksum:
        raise UserError(
            f"{path}: it was changed after it was downloaded (its {checksum_kind(checksum)} is {actual}, but {where} "
            f"says {checksum}): delete it, and it is downloaded again"
        )
    note_fetched(path, checksum, records)


def _record(path: Path, records: str) -> Path:
    return Path(records) / f"{path.name}.json"
