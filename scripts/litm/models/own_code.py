"""Own code of a model: only code in the model's own files may run, because its identity pins those."""

from pathlib import Path

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.base.records import parse_object

#: Files whose `auto_map` names a model's own classes.
NAMING = ("config.json", "tokenizer_config.json")


def check_own_code(location: str, revision: str | None) -> None:
    """Raise `UserError` if a model, in a folder or on the hub, refers to code in another repository: no identity pins
    it.
    """
    from transformers.utils import cached_file

    for name in NAMING:
        with loading(f"model {location}"):
            file = cached_file(location, name, revision=revision, _raise_exceptions_for_missing_entries=False)
            text = Path(file).read_text(encoding="utf-8") if file else "{}"
        for place in _places(parse_object(text, f"model {location}, {name}").get("auto_map")):
            repository, elsewhere, _ = place.partition("--")
            if elsewhere and repository != location:
                raise UserError(
                    f"model {location}, {name}: 'auto_map' names code of another repository ({place}), of no commit "
                    "that is known: copy model and code into a folder, take the repository out of 'auto_map', and set "
                    "'path'"
                )


def _places(value: object) -> list[str]:
    if isinstance(value, dict):
        return [place for inner in value.values() for place in _places(inner)]
    if isinstance(value, list):
        return [place for inner in value for place in _places(inner)]
    return [value] if isinstance(value, str) else []
