"""Generation settings of a model: check of the file that holds its end tokens; the study sets everything else."""

import json
from pathlib import Path

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.base.records import parse_object
from litm.models.hub_cache import cached_file

NAME = "generation_config.json"


def check_generation_config(location: str, revision: str | None) -> None:
    """Raise `UserError` for an unreadable file of generation settings, in a folder or in the hub's cache.

    transformers skips such a file silently, and answers would then run past the model's own end tokens.
    """
    file = _local_file(location, revision)
    if file is None:
        return
    where = f"model {location}, {NAME}"
    with loading(where):
        own = parse_object(file.read_text(encoding="utf-8"), where).get("eos_token_id")
    ids = own if isinstance(own, list) else [own]
    if not all(id is None or type(id) is int for id in ids):
        raise UserError(
            f"{where}: 'eos_token_id' must be a token's number or a list of them, found {json.dumps(own)[:40]}"
        )


def _local_file(location: str, revision: str | None) -> Path | None:
    if Path(location).is_dir():
        return file if (file := Path(location) / NAME).is_file() else None
    return cached_file(location, NAME, revision)
