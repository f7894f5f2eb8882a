"""All kinds of findings."""

from collections.abc import Mapping

from litm.findings import advice, curves, pairs, probability, references, session_remedies, sizes
from litm.findings.record import Kind
from litm.findings.warnings import WARNING_KINDS

_MODULES = (curves, sizes, references, advice, session_remedies, pairs, probability)
#: By name, in the order of results/findings.json.
KINDS: Mapping[str, Kind] = {name: kind for module in _MODULES for name, kind in module.KINDS.items()} | {
    **WARNING_KINDS
}


def findings_reference() -> str:
    """One section per kind: its description, its numbers and its facts."""
    return "\n\n".join(_section(name, kind) for name, kind in KINDS.items())


def _section(name: str, kind: Kind) -> str:
    entries = [("numbers", kind.numbers), ("facts", kind.facts)]
    lines = [f"| {what} | `{key}` | {said} |" for what, named in entries for key, said in named.items()]
    table = ["| | name | what |", "|---|---|---|", *lines] if lines else []
    warning = " A warning." if kind.is_warning else ""
    return "\n".join([f"### `{name}`", "", f"{kind.doc}{warning}", *(["", *table] if table else [])])
