"""The JSON schema of results/findings.json, from the records and the declared kinds."""

from typing import Any

from litm.base.docstrings import field_docstrings
from litm.findings.kinds import KINDS
from litm.findings.record import VERSION, Finding, Kind, Number, Strength, StudyFindings
from litm.findings.words import REMEDIES

#: Its place in the project.
SCHEMA = "resources/findings.schema.json"
TEXT, WHOLE, TEXTS = {"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}
#: Types of the keys of a finding, besides those that its kind decides.
_KEYS: dict[str, dict[str, Any]] = {
    "models": TEXTS,
    "experiments": TEXTS,
    "size": WHOLE,
    "placement": TEXT,
    "n": WHOLE,
    "strength": {"enum": [*Strength]},
    "remedy": {"enum": sorted(REMEDIES)},
}


def findings_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12): a definition for each kind, which names its numbers and facts."""
    said, keys, numbers = map(field_docstrings, (StudyFindings, Finding, Number))
    limits = {name: {"type": "number", "description": numbers[name]} for name in ("low", "high", "p")}
    number = _object({"value": {"type": ["number", "null"], "description": Number.__doc__}, **limits}, ["value"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "results/findings.json",
        **_object(
            {
                "version": {"const": VERSION, "description": "Raised when a name changes or goes."},
                **{name: {**TEXTS, "description": said[name]} for name in ("models", "experiments")},
                "findings": {
                    "type": "array",
                    "description": said["findings"],
                    "items": {
                        "properties": {key: {**values, "description": keys[key]} for key, values in _KEYS.items()},
                        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in KINDS],
                        "unevaluatedProperties": False,
                    },
                },
            }
        ),
        "$defs": {"number": number} | {name: _kind(name, kind) for name, kind in KINDS.items()},
    }


def _kind(name: str, kind: Kind) -> dict[str, Any]:
    """The keys that a kind decides."""
    named: dict[str, Any] = {
        "numbers": {key: {"$ref": "#/$defs/number", "description": text} for key, text in kind.numbers.items()},
        "facts": {key: {"description": text} for key, text in kind.facts.items()},
    }
    # A finding leaves out what is empty.
    of_kind = {key: _object(values) for key, values in named.items() if values}
    doc = f"{kind.doc} A warning." if kind.is_warning else kind.doc
    made = {"kind": {"const": name}, **of_kind}
    return {"description": doc, "type": "object", "properties": made, "required": [*made]}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """An object with no other keys; by default all are required."""
    names = [*properties] if required is None else required
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
