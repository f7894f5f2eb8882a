"""Merging and checking of catalogue entries, with messages of one line."""

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from litm.errors import UserError

#: What the types of JSON Schema are called in YAML.
TYPE_NAMES = {
    "array": "a list, as in [one, two]",
    "object": "a mapping, as in {key: value}",
    "string": "a text",
    "integer": "a whole number",
    "null": "null",
}

# JSON Schema takes 3.0 for an integer; here it would become another file name, or another key of the journal.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def string_keys(value: Any) -> Any:
    """The same nested value with all mapping keys as strings: YAML reads sizes as numbers, JSON as strings."""
    if isinstance(value, Mapping):
        return {str(key): string_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [string_keys(item) for item in value]
    return value


def merge_catalogue(entries: Mapping[str, dict], additions: Mapping[str, dict]) -> dict[str, dict]:
    """The catalogue with a config's additions: a new name is added, an old one has its keys replaced one by one."""
    changed = {name: {**entries.get(name, {}), **entry} for name, entry in additions.items()}
    return {**entries, **changed}


def check_name(name: str, where: str) -> None:
    """Raise `UserError` for a name that cannot be a file's name or a command line's word."""
    if name.endswith((".zip", ".json")):
        raise UserError(f"{where}: the name '{name}' is not allowed; it would be taken for a file")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(
            f"{where}: the name '{name}' is not allowed; use letters, digits, dots, hyphens and underscores"
        )


def validate(value: Any, schema: Path, where: str) -> None:
    """Check against a JSON schema (in YAML); `UserError` for the first mistake, naming the key and what is allowed."""
    errors = _Validator(_read_schema(schema)).iter_errors(value)
    first = min(errors, key=lambda error: [str(part) for part in error.absolute_path], default=None)
    if first is not None:
        raise UserError(describe(first, where))


def choose(names: Iterable[str], allowed: Iterable[str], where: str, hint: str = "") -> list[str]:
    """The names, in their order and each once; `UserError`, ending with the hint, for one that is not allowed."""
    names, allowed = list(names), list(allowed)
    for name in names:
        if name not in allowed:
            listing = "; ".join(filter(None, [f"allowed: {_listing(allowed)}", hint]))
            raise UserError(f"{where}: unknown name '{name}'{_did_you_mean(name, allowed)}; {listing}")
    return list(dict.fromkeys(names))


def describe(error: jsonschema.ValidationError, where: str) -> str:
    """One line for a schema violation."""
    key = ".".join([where, *(str(part) for part in error.absolute_path)])
    if error.validator == "additionalProperties":
        allowed, patterns = list(error.schema.get("properties", {})), list(error.schema.get("patternProperties", {}))
        unknown = next(
            (n for n in error.instance if n not in allowed and not any(re.search(p, n) for p in patterns)), ""
        )
        listing = _listing(allowed) if allowed else error.schema.get("description", _listing(patterns))
        return f"{key}: unknown key '{unknown}'{_did_you_mean(unknown, allowed)}; allowed: {listing}"
    if error.validator == "enum":
        return f"{key}: {error.instance!r} is not allowed; allowed: {_listing(error.validator_value)}"
    if error.validator == "type":
        value = error.validator_value
        wanted = [str(one) for one in value] if isinstance(value, list) else [str(value)]
        names = " or ".join(TYPE_NAMES.get(one, one) for one in wanted)
        return f"{key}: must be {names}, found {error.instance!r}"
    if error.validator == "pattern" and "description" in error.schema:
        return f"{key}: {error.instance!r} is not allowed; it is: {error.schema['description']}"
    return f"{key}: {error.message}"


def text_names(folder: Path) -> list[str]:
    """Names, without their ending, of the .txt files of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def _did_you_mean(name: str, allowed: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, [str(one) for one in allowed], n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _listing(names: Iterable[Any]) -> str:
    return ", ".join(str(name) for name in names)


@cache
def _read_schema(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
