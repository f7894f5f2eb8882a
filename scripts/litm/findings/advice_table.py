"""The table advice.csv: each condition of an experiment with remedies, and the advice in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis.advice import advice_rows, read_compared
from litm.analysis.grid import Files
from litm.findings.advice import advice_finding
from litm.findings.advice_words import advice_sentences
from litm.findings.record import Finding
from litm.records.conditions import Condition

if TYPE_CHECKING:
    from litm.tables.accuracy import AdviceRow


def advice_table(
    remedy_scores: Files, conditions: Sequence[Mapping], prices: Mapping[str, Mapping | None]
) -> "Iterator[AdviceRow]":
    """One row per model, condition and number of documents; studies and conditions in the order of the config."""
    parsed = [Condition(**settings) for settings in conditions]
    for compared in read_compared(remedy_scores.scores(), parsed, prices):
        yield from advice_rows(compared, advice_sentences(advice_finding(compared)))


def advice_findings(
    scores: Iterable[pd.DataFrame], conditions: Sequence[Mapping], prices: Mapping[str, Mapping | None]
) -> list[Finding]:
    """The advice for each model and study, from score rows of the same conditions, one sweep at a time."""
    parsed = [Condition(**settings) for settings in conditions]
    return [advice_finding(compared) for compared in read_compared(scores, parsed, prices)]
