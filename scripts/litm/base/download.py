"""Remote files: from a mirror folder or the network, never unchecked. By urllib, which also reads file: addresses."""

import http.client
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError
from litm.base.hashing import file_sha256

TIMEOUT_SECONDS = 60


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


def _download(url: str, target: IO[bytes], name: str) -> None:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            shutil.copyfileobj(answer, target)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise UserError(
            f"{url}: download failed ({reason}); or put {name} into a folder and set data_mirror to it"
        ) from error
