"""Batches that are out there: prompts submitted to a provider, whose answers are not kept yet."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from litm.base.files import atomic_writer, force, force_names, read_text
from litm.base.json_files import parse_object
from litm.base.messages import UserError
from litm.base.store import canonical_json


@dataclass(frozen=True)
class Named:
    """A batch of prompts that is named in a file, from before it is submitted until its answers are kept, so that a run
    that is killed in between is followed by one that goes on with it.
    """

    file: Path
    """The path of the file, with the batch's name."""
    server: str
    """The server's address."""
    identity: dict[str, Any]
    """The identity of its answers."""
    after: str | None
    """The id of the server's newest batch before it, None if there was none."""
    tokens: Mapping[str, int | None]
    """The tokens of its prompts, None if only a server knows, by the keys of their answers."""
    sweep: str
    """The name of the sweep that has submitted it, as its lock has it."""
    id: str | None = None
    """The server's id of the batch, None until it is known."""

    def keep(self) -> None:
        """Write its file, and force it to the disk."""
        with atomic_writer(self.file) as raw:
            raw.write(canonical_json({**asdict(self), "file": None}).encode())
            force(raw)
        force_names(self.file.parent)

    def forget(self) -> None:
        """Remove its file."""
        self.file.unlink(missing_ok=True)


def batch_file(asking: Path, name: str) -> Path:
    """The file of a study's batch."""
    return asking / "batches" / f"{name}.json"


def named_batches(asking: Path) -> list[Named]:
    """The batches of a study whose answers are not kept yet, by their files; `UserError` for a malformed file."""
    batches = []
    for file in sorted(batch_file(asking, "").parent.glob("*.json")):
        try:
            batches.append(Named(**{**parse_object(read_text(file), str(file)), "file": file}))
        except (UserError, TypeError) as error:
            again = "put it back, or delete it to have its prompts asked, and billed, again"
            raise UserError(f"{file}: not a file of a batch ({error}): {again}") from error
    return batches
