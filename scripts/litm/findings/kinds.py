"""All kinds of findings."""

from collections.abc import Mapping

from litm.findings import advice, curves, pairs, probability, references
from litm.findings.record import Kind

#: By name, in the order of results/findings.json.
KINDS: Mapping[str, Kind] = {**curves.KINDS, **references.KINDS, **advice.KINDS, **pairs.KINDS, **probability.KINDS}
