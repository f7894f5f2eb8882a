"""Warnings about answers: cut, empty, refused or lacking ones, answers in doubt, and how they are read.

Rows are of the tables, as `table_files.plain_rows` gives them; each function keeps their order, which is that of the
study. A finding is about a model and an experiment.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from operator import itemgetter
from typing import Any, NamedTuple

from litm.answer_words import WHOLE_WORDS
from litm.base.groups import grouped
from litm.findings.record import Finding, Kind, Number, Strength
from litm.placements import gold_positions
from litm.records.tokens import answer_limit
from litm.scoring.doubts import WORDS, is_doubt, parts_of
from litm.scoring.metrics import FIRST_LINE, METRICS

Row = Mapping[Any, Any]
#: Model and experiment.
Sweep = tuple[str, str]
#: Fraction of empty answers, of refused ones, and of those with reasoning, above which they are many.
MANY = 0.05
#: Fraction of an experiment's answers, and their number, above which answers inside other words are a matter.
MANY_INSIDE, FEWEST_INSIDE = 0.02, 3
#: Fraction, and number, of first lines that end with a colon from which on they are a matter.
MANY_PREAMBLES, FEWEST_PREAMBLES = 0.05, 5
NOTHING: Mapping[Any, Any] = {}

SHARE = {"share": "the count as a fraction of n"}
SIZES = {"sizes": "the sizes with any, ascending"}
COUNT = {"count": "how many of the n answers"}


def _kind(doc: str, facts: Mapping[str, str], numbers: Mapping[str, str] = NOTHING) -> Kind:
    return Kind(doc, numbers, facts, is_warning=True)


KINDS = {
    "doubt": _kind(
        "More than half of the answers are neither right nor wrong, for a technical reason, so no shape, PBI or advice "
        "follows from them.",
        {
            "doubt": "a name of `litm.scoring.doubts.WORDS`",
            "detail": "what its words leave open, as text: tokens, or an answer; empty without any",
            "sizes": "the sizes in doubt, ascending",
            "is_whole": "whether these are all sizes of the experiment",
        },
    ),
    "reasoning_text": _kind(
        "Many answers are scored with their reasoning, because they contain <think> or </think>.", COUNT, SHARE
    ),
    "unknown_prompts": _kind(
        "Recorded answers, n of them, do not say which prompts they answer, so prompts were not compared.", {}
    ),
    "unrecorded_positions": _kind(
        "No answer is recorded at some positions, so the shape and the PBI are unknown.",
        {
            "sizes": "the sizes with such positions, in the order of the table",
            "without": "[size, [position, ...]] of these positions, from 0",
            "kept": "[size, [position, ...]] of the other positions, of all sizes",
        },
    ),
    "left_out": _kind(
        "Questions do not fit the context window at a position, and are left out at all positions of their size.",
        {**COUNT, "most": "the most questions at a position", **SIZES},
        SHARE,
    ),
    "failed": _kind(
        "Questions were asked and got no answer; they are not counted.",
        {**COUNT, "most": "the most questions at a position", **SIZES},
        SHARE,
    ),
    "not_recorded": _kind(
        "Recorded answers are missing; they are not counted.",
        {**COUNT, "most": "the most questions at a position", **SIZES},
        SHARE,
    ),
    "recorded_doubt": _kind(
        "Recorded answers are not used as they are, or leave something open.",
        {"doubt": "the sentence in the manifest of the recorded answers"},
    ),
    "cut": _kind(
        "Answers ended at the limit of new tokens, so accuracy is a lower bound.",
        {
            **COUNT,
            **SIZES,
            "right": "right answers among the others, with fractions of graded ones; null where it is not known",
            "limit": "tokens; null where it is not known",
            "key": "the key that sets the limit; null where it is not known",
        },
        SHARE,
    ),
    "empty": _kind("Many answers are empty; they are scored as answers.", {**COUNT, **SIZES}, SHARE),
    "refused": _kind(
        "A provider refused or withheld many answers; they are scored as received.", {**COUNT, **SIZES}, SHARE
    ),
    "judge_unchecked": _kind(
        "A judge decides which answers are right, and there are no labels of a person that tell how often it errs.",
        {
            "judge": "the judge",
            "with_labels": "half the width of the 95 % interval of an accuracy with 50 labels, if the judge errs in 15 "
            "of 100 answers",
        },
    ),
    "judge_uncorrected": _kind(
        "A judge decides which answers are right, and its labels are too few to correct the numbers of each position.",
        {"judge": "the judge", **COUNT},
    ),
    "judge_corrected": _kind(
        "A judge decides which answers are right, and the numbers are corrected by labels of a person.",
        {"judge": "the judge", **COUNT},
    ),
    "judges_itself": _kind("A model judges its own answers.", {"judge": "the judge"}),
    "no_verdict": _kind(
        "Neither reply of the judge to some answers is a verdict; these answers are not counted.",
        {**COUNT, **SIZES},
        SHARE,
    ),
    "reading": _kind(
        "A conclusion changes with how much of the answers is read, the first line or all of it; the first such one.",
        {
            "quantity": "a value of `quantity` in reading_sensitivity.csv",
            "size": "its size",
            "placement": "its placement; null for a curve",
            "changes": "how many conclusions change",
            "sizes": "their sizes, ascending",
        },
        {"first_line": "the quantity by the first line", "full": "the quantity by the whole answer"},
    ),
    "announced": _kind(
        "Answers have a first line that ends with a colon, so that it may only announce the answer.",
        {
            **COUNT,
            **SIZES,
            "right": "how many of these are right, of a graded metric at least in part",
            "is_graded": "whether the metric is graded",
            "ends_early": "whether nothing after the first line was recorded",
        },
        SHARE,
    ),
    "inside_words": _kind(
        "Answers have an accepted answer only inside other words or numbers, or after another choice, and count as "
        "wrong.",
        {**COUNT, **SIZES},
        SHARE,
    ),
}


class Limit(NamedTuple):
    """The limit of new tokens of an answer."""

    tokens: int
    key: str | None = None
    """The key that sets it, see `litm.records.tokens.answer_limit`; None where that is not known."""


def limits_of(manifests: Iterable[Row]) -> dict[Sweep, Limit]:
    """The limit of each sweep that was asked; recorded ones have none that is known."""
    limits = {}
    for manifest in manifests:
        fields = manifest["identity_fields"]
        if decoding := fields.get("decoding"):
            limit = answer_limit(fields["model"].get("request"), decoding["max_new_tokens"])
            limits[_sweep(manifest)] = Limit(*limit)
    return limits


def cut_findings(rows: Iterable[Row], limits: Mapping[Sweep, Limit] = NOTHING) -> Iterator[Finding]:
    """A finding for each sweep with a cut answer; rows: of the accuracy table.

    An answer to several gold items has several rows and counts once. Rows without n_cut are skipped: recorded answers
    may lack finish reasons.
    """
    for sweep, cells in _cells(rows, "n_cut").items():
        if (counts := Counts.from_cells(cells, "n_cut")).count:
            tokens, key = limits.get(sweep, Limit(0))
            remedy = None if key is None else "raise_max_new_tokens" if key == "max_new_tokens" else "raise_request"
            facts = {"right": _right_completed(cells), "limit": tokens or None, "key": key}
            yield counts.finding("cut", sweep, remedy, **facts)


def _right_completed(cells: Iterable[Row]) -> float | None:
    """The number of right answers among those that were not cut; None if it is not known."""
    completed = [
        (cell["accuracy_completed" if cell["n_cut"] else "accuracy"], cell["n"] - cell["n_cut"]) for cell in cells
    ]
    known = [accuracy * n for accuracy, n in completed if n and accuracy is not None]
    return round(sum(known), 2) if len(known) == sum(n > 0 for _, n in completed) else None


def empty_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep with many empty answers."""
    return _many(rows, "n_empty", "empty")


def refused_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep with many refused answers."""
    return _many(rows, "n_refused", "refused")


def _many(rows: Iterable[Row], column: str, kind: str) -> Iterator[Finding]:
    return (
        counts.finding(kind, sweep) for sweep, counts in _counts(rows, column).items() if counts.count > MANY * counts.n
    )


#: Labels, and the fraction of answers on which a judge is taken to err.
LABELS, ERRORS = 50, 0.15


def half_width_with_labels(n: float, positions: int) -> float:
    """Half the width of the 95 % interval of a corrected accuracy near 50 %, with `LABELS` labels at all positions and
    a judge that errs in `ERRORS` of its answers: the variances of n answers and of the labelled errors add up
    (prediction-powered inference, Angelopoulos et al. 2023).
    """
    return min(1.0, 1.96 * sqrt(0.25 / max(n, 1) + ERRORS * (1 - ERRORS) * positions / LABELS))


def judge_findings(rows: Iterable[Row], experiments: Iterable[Row]) -> Iterator[Finding]:
    """Findings for each judged sweep; rows: of judge.csv, experiments: settings of each."""
    entries = {settings["name"]: settings["judge"] for settings in experiments if settings.get("judge")}
    for sweep, cells in grouped(rows, _sweep).items():
        judge = entries.get(sweep[1], {})
        facts = {"judge": judge.get("model", "")}
        labels, n = (sum(cell[name] or 0 for cell in cells) for name in ("n_labels", "n"))
        about: dict[str, Any] = {"models": sweep[:1], "experiments": sweep[1:], "n": n}
        if not labels and n:
            bring = {"with_labels": half_width_with_labels(n / len(cells), len(cells))}
            remedy = "other_labels" if judge.get("labels") else "fill_in_labels"
            yield Finding("judge_unchecked", **about, facts={**facts, **bring}, remedy=remedy)
        elif labels and any(cell["accuracy"] is None for cell in cells):
            yield Finding("judge_uncorrected", **about, facts={**facts, "count": labels}, remedy="label_more")
        elif labels:
            yield Finding("judge_corrected", **about, facts={**facts, "count": labels})
        if facts["judge"] == sweep[0]:
            yield Finding("judges_itself", **about, facts=facts)
        if count := sum(cell["n_no_verdict"] for cell in cells):
            sizes = sorted({cell["size"] for cell in cells if cell["n_no_verdict"]})
            about["n"] = n + count
            share = {"share": Number(count / about["n"])}
            counts = {"count": count, "sizes": sizes}
            yield Finding("no_verdict", **about, numbers=share, facts=counts, remedy="another_judge")


#: Columns of the accuracy table with questions that are not counted, by their kinds.
LACKING = {"left_out": "n_left_out", "failed": "n_failed", "not_recorded": "n_not_recorded"}


def lacking_findings(rows: Sequence[Row]) -> Iterator[Finding]:
    """A finding for each sweep with questions that are not counted, and each reason."""
    for kind, column in LACKING.items():
        for sweep, counts in _counts(rows, column).items():
            if counts.count:
                whole = replace(counts, n=counts.n + counts.count)
                yield whole.finding(kind, sweep, most=counts.most)


def reasoning_findings(manifests: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep with reasoning in many of its scored answers."""
    for manifest in manifests:
        count, n = manifest.get("with_reasoning") or 0, manifest.get("with_text") or 0
        if count > MANY * n:
            numbers = {"share": Number(count / n)}
            yield _finding(
                "reasoning_text", manifest, n=n, numbers=numbers, facts={"count": count}, remedy="strip_reasoning"
            )


def recorded_findings(manifests: Iterable[Row]) -> Iterator[Finding]:
    """Findings on recorded answers: those that do not say to which prompts, and each doubt on a sweep's."""
    for manifest in manifests:
        if unknown := manifest.get("not_compared"):
            yield _finding("unknown_prompts", manifest, n=unknown)
        for doubt in manifest.get("doubts", ()):
            yield _finding("recorded_doubt", manifest, facts={"doubt": doubt})


def doubt_findings(accuracy: Sequence[Row], bias: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep and doubt; accuracy, bias: rows of accuracy.csv and position_bias.csv."""
    sizes = {sweep: {row["size"] for row in rows} for sweep, rows in grouped(accuracy, _sweep).items()}
    in_doubt: dict[tuple[Sweep, str], set[int]] = {}
    for rows, column in ((accuracy, "doubt"), (bias, "reason")):
        for row in rows:
            if (doubt := row.get(column)) and is_doubt(doubt):
                in_doubt.setdefault((_sweep(row), doubt), set()).add(row["size"])
    for (sweep, doubt), doubtful in in_doubt.items():
        name, detail = parts_of(doubt)
        facts = {"doubt": name, "detail": detail, "sizes": sorted(doubtful), "is_whole": doubtful == sizes.get(sweep)}
        yield Finding(
            "doubt",
            models=sweep[:1],
            experiments=sweep[1:],
            strength=Strength.UNINFORMATIVE,
            facts=facts,
            remedy=f"doubt_{name}" if WORDS[name].remedy else None,
        )


def inside_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep in which more than `MANY_INSIDE` of the answers scored by whole words have an accepted
    answer only inside other words.
    """
    scored = [row for row in rows if row.get("metric") == WHOLE_WORDS and row["n"]]
    for sweep, cells in grouped(scored, _sweep).items():
        inside = {
            size: sum((row["accuracy_lenient"] - row["accuracy_full"]) * row["n"] for row in of_size)
            for size, of_size in grouped(cells, itemgetter("size")).items()
        }
        count, n = round(sum(inside.values())), sum(row["n"] for row in cells)
        if count >= FEWEST_INSIDE and count > MANY_INSIDE * n:
            sizes = tuple(sorted(size for size, number in inside.items() if round(number)))
            yield Counts(n, count, 0, sizes).finding("inside_words", sweep, "accept_forms")


def position_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep with sizes whose answers are recorded at some positions alone."""
    for sweep, cells in grouped(rows, _sweep).items():
        sizes: dict[int, dict[int, bool]] = {}
        for row in cells:
            if len(places := gold_positions(row["placement"])) == 1:
                is_there = bool(row["n"] or not row.get("n_not_recorded"))
                sizes.setdefault(row["size"], {})[places[0]] = is_there
        # A size without two recorded positions cannot be compared, whatever is left out.
        kept = {
            size: [place for place, is_there in at.items() if is_there or sum(at.values()) < 2]
            for size, at in sizes.items()
        }
        lacking = {size: [place for place in at if place not in kept[size]] for size, at in sizes.items()}
        if without := [[size, places] for size, places in lacking.items() if places]:
            facts = {"sizes": [size for size, _ in without], "without": without, "kept": [*map(list, kept.items())]}
            yield Finding(
                "unrecorded_positions", models=sweep[:1], experiments=sweep[1:], facts=facts, remedy="set_positions"
            )


# --- How answers are read --------------------------------------------------------------------------------------


def reading_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each sweep with a conclusion that depends on the reading; rows: of reading_sensitivity.csv.

    The first line is an answer only where the metric reads no more: a prompt for three codes has an answer of three.
    """
    changed = (row for row in rows if row["changes_with_reading"] and METRICS[row["metric"]].reads == FIRST_LINE)
    for changes in grouped(changed, _sweep).values():
        row = changes[0]
        facts = {
            **{name: row[name] for name in ("quantity", "size", "placement")},
            "changes": len(changes),
            "sizes": sorted({change["size"] for change in changes}),
        }
        numbers = {name: _number(row, f"value_{name}") for name in ("first_line", "full")}
        yield _finding("reading", row, numbers=numbers, facts=facts)


def announced_findings(rows: Sequence[Row], stops: Mapping[Sweep, str] = NOTHING) -> Iterator[Finding]:
    """A finding for each sweep with many answers whose first line ends with a colon.

    rows: of reading_sensitivity.csv; those of accuracies have the counts. stops: where the answers of a sweep end, as
    far as known.
    """
    of_sweep = grouped(rows, _sweep)
    for sweep, counts in _counts(rows, "n_preamble").items():
        if counts.count >= FEWEST_PREAMBLES and counts.count > MANY_PREAMBLES * counts.n:
            ends_early = stops.get(sweep) == FIRST_LINE
            facts = {
                "right": sum(row["n_preamble_right"] or 0 for row in of_sweep[sweep]),
                "is_graded": METRICS[of_sweep[sweep][0]["metric"]].is_graded,
                "ends_early": ends_early,
            }
            yield counts.finding("announced", sweep, "record_all" if ends_early else None, **facts)


def stops_of(manifests: Iterable[Row]) -> dict[Sweep, str]:
    """Where the answers of each sweep that was asked end."""
    decodings = {_sweep(manifest): manifest["identity_fields"].get("decoding") for manifest in manifests}
    return {sweep: decoding["stop"] for sweep, decoding in decodings.items() if decoding}


# --- Counts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    """Answers of a sweep, and those of them that a column counts."""

    n: int
    count: int
    most: int
    """The largest count of a cell."""
    sizes: tuple[int, ...]
    """The sizes with any, ascending."""

    @classmethod
    def from_cells(cls, cells: Sequence[Row], column: str) -> "Counts":
        """Those of the cells of a sweep."""
        counts = [cell[column] for cell in cells]
        sizes = {cell["size"] for cell in cells if cell[column]}
        return cls(sum(cell["n"] for cell in cells), sum(counts), max(counts), tuple(sorted(sizes)))

    def finding(self, kind: str, sweep: Sweep, remedy: str | None = None, **facts: Any) -> Finding:
        """A finding of these counts; facts: the others of its kind."""
        return Finding(
            kind,
            models=sweep[:1],
            experiments=sweep[1:],
            n=self.n,
            numbers={"share": Number(self.count / self.n)},
            facts={"count": self.count, "sizes": list(self.sizes), **facts},
            remedy=remedy,
        )


def _cells(rows: Iterable[Row], column: str) -> dict[Sweep, list[Row]]:
    """The cells of each sweep; one with several targets counts once, one without a count of the column not."""
    cells: dict[tuple, Row] = {}
    for row in rows:
        if row.get(column) is not None:
            cells.setdefault((*_sweep(row), row["size"], row["placement"]), row)
    return grouped(cells.values(), _sweep)


def _counts(rows: Iterable[Row], column: str) -> dict[Sweep, Counts]:
    """The counts of each sweep over its cells."""
    return {sweep: Counts.from_cells(cells, column) for sweep, cells in _cells(rows, column).items()}


def _sweep(row: Row) -> Sweep:
    return row["model"], row["experiment"]


def _finding(kind: str, row: Row, **others: Any) -> Finding:
    """A finding on the model and the experiment of a row."""
    return Finding(kind, models=(row["model"],), experiments=(row["experiment"],), **others)


def _number(row: Row, name: str) -> Number:
    return Number(row[name], row[f"{name}_ci_low"], row[f"{name}_ci_high"])
