"""All kinds of findings."""

from collections.abc import Mapping

from litm.findings import advice, curves, pairs, probability, references
from litm.findings.record import Kind
from litm.findings.warnings import WARNING_KINDS

_MODULES = (curves, references, advice, pairs, probability)
#: By name, in the order of results/findings.json.
KINDS: Mapping[str, Kind] = {name: kind for module in _MODULES for name, kind in module.KINDS.items()} | {
    **WARNING_KINDS
}
