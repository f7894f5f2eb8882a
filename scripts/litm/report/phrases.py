"""Sentences of the page: the first screen, the verdict of each curve, findings, claims, sizes and places in words."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import cast

import pandas as pd

from litm.analysis.cells import reading_warnings
from litm.analysis.questions_to_check import to_look_at
from litm.analysis.run_summary import labelled
from litm.analysis.sentences import (
    MOST_PAIRS,
    answer_sentences,
    compared,
    compared_on,
    differs,
    more_pairs,
    tag_sentences,
    to_know_first,
)  # fmt: skip
from litm.analysis.shapes import END_LOWER, FLAT, MEANINGS, NO_INFORMATION, NONE, SMALL, START_LOWER, UNEVEN, word_of
from litm.base.groups import grouped
from litm.base.messages import counted, difference_of, first_of, interval_of, ordinal, p_in_words, percent
from litm.base.table_files import plain_rows
from litm.claims.statements import CLAIMS
from litm.examples.tasks import load_task
from litm.figures.chart import length_in_words, mean_tokens, of_size, places_in_words, shown_cells
from litm.scoring.doubts import doubt_in_words, is_doubt
from litm.scoring.wrong_answers import KINDS
from litm.tables.table import tables as all_tables

#: Names in a list on the first screen, at most.
NAMED_BRIEFLY = 8


class SizeNames:
    """Sizes in words: `10 documents`, as a figure of the experiment or else its task names the items; else `size 10`.

    experiments: settings of each, as in `page.Contents`; token_counts: lengths of prompts, None where none are known.
    """

    def __init__(
        self, figures: Sequence[Mapping], experiments: Iterable[Mapping] = (), token_counts: pd.DataFrame | None = None
    ) -> None:
        self._token_counts = token_counts
        self._titles: dict[str, str] = {}
        for figure in figures:
            for experiment in figure["experiments"]:
                self._titles.setdefault(experiment, figure.get("panel_title") or "")
        for entry in experiments:
            item = "token" if entry.get("tokens_of") else load_task(entry["task"]).item
            self._titles.setdefault(entry["name"], f"{{size}} {item}s")

    def __call__(self, experiment: str, size: int) -> str:
        if not size:
            return "no context"
        title = self._titles.get(experiment, "")
        return of_size(title, f"{size:,}") if "{size}" in title else f"size {size:,}"

    def length(self, experiment: str, size: int) -> str:
        """`about 400 tokens`, or a range if models differ; '' if no tokens were counted."""
        return length_in_words(mean_tokens({"experiments": [experiment]}, self._token_counts, size), "about ")

    def with_length(self, experiment: str, size: int, between: str = ", ") -> str:
        """`10 documents, about 400 tokens`."""
        return between.join(filter(None, [self(experiment, size), self.length(experiment, size)]))


def named_briefly(names: Sequence[str]) -> str:
    """Names with semicolons; of more than `NAMED_BRIEFLY` the first ones, and how many more there are."""
    return first_of(names, NAMED_BRIEFLY, "; ")


def kinds_told(table: pd.DataFrame | None) -> list[tuple[str, str]]:
    """Heading and meaning of each kind that occurs in wrong_answers.csv, in the order in which kinds are looked for."""
    occurring = [] if table is None else [kind for kind in KINDS if (table[f"share_{kind}"] > 0).any()]
    return [(all_tables()["wrong_answers"].columns[f"share_{kind}"].heading, KINDS[kind]) for kind in occurring]


def claims_told(tables: Mapping[str, pd.DataFrame]) -> dict | None:
    """{asked, others} from claims.csv and claims_summary.csv; None without them.

    asked: tested claims {statement, section, finding, status}; others: claims not tested {statement, needs}.
    """
    if "claims_summary" not in tables:
        return None
    cases = tables["claims"]
    tested = {*cases.loc[cases["experiment"].notna(), "claim"]}
    asked, others = [], []
    for claim, row in zip(CLAIMS, plain_rows(tables["claims_summary"]), strict=True):
        if claim.name not in tested:
            others.append({"statement": claim.statement, "needs": claim.needs})
            continue
        # What later works say of the paper's claim is no verdict on this study's models.
        status = "Later works support the paper's claim." if row.get("status") == "supported" else ""
        if row.get("contested_by"):
            status = f"Later works contest the paper's claim: {row['contested_by']}."
        asked.append({**{key: row[key] for key in ("statement", "section", "finding")}, "status": status})
    return {"asked": asked, "others": others}


#: Kinds of figures whose verdicts are shown; other figures of the same curves do not repeat them.
SHAPE_KINDS = ("accuracy_by_position", "accuracy_by_target")


def verdicts(figure: Mapping, position_bias: pd.DataFrame | None, names: SizeNames, several: bool) -> list[dict]:
    """Verdicts on the curves of a figure: {what, tokens, says} per size, in the order of the table.

    what: the size in words, with the experiment if the figure has several. tokens: its length, '' if unknown. says:
    {word, meaning, of} per word, where `of` names its models and is '' if the study has one model. several: whether the
    study has several models.
    """
    if position_bias is None or figure["kind"] not in SHAPE_KINDS:
        return []
    sentences = []
    for curve, rows in shown_cells(figure, position_bias).groupby(["experiment", "size"], sort=False):
        experiment, size = cast(tuple[str, int], curve)
        what = names(experiment, size)
        owners = grouped(plain_rows(rows), word_of)
        sentences.append(
            {
                "what": f"{experiment}, {what}" if len(figure["experiments"]) > 1 else what,
                "tokens": names.length(experiment, size),
                "says": [
                    {"word": word, "meaning": meaning, "of": ", ".join(_owner(row, several) for row in owners_of_word)}
                    for (word, meaning), owners_of_word in owners.items()
                ],
            }
        )
    return sentences


def _owner(row: Mapping, several: bool) -> str:
    """`model (n = 40)`, with the placement if it distinguishes curves of one size; of a single model, the differences
    that its word is about.
    """
    place, n = f"at {places_in_words(row['placement'])}" if row["placement"] else "", f"n = {row['n']:,}"
    if several:
        return " ".join(filter(None, [row["model"], place, f"({n})"]))
    start, end = (difference_of(row, name) if row["shape"] else "" for name in ("primacy", "recency"))
    return "; ".join(filter(None, [place, start and f"against the middle: start {start}, end {end}", n]))


#: Number of curves that the overview names one by one, at most.
NAMED = 6
#: Differences by word that the word does not state, though their single intervals may exclude 0: the word is corrected
#: for all curves of the experiment.
UNSAID = {
    **dict.fromkeys((NONE, FLAT, UNEVEN), ("primacy", "recency", "tilt")),
    START_LOWER: ("recency",),
    END_LOWER: ("primacy",),
}


def overview(
    accuracy: pd.DataFrame, position_bias: pd.DataFrame | None, published: pd.DataFrame | None = None
) -> Iterator[str]:
    """Sentences: what was measured, the results over all curves, and the comparison with published values."""
    models, experiments = accuracy["model"].nunique(), accuracy["experiment"].nunique()
    yield (
        f"{counted(models, 'model')}, {counted(experiments, 'experiment')}, {counted(len(accuracy), 'cell')} with "
        f"{int(accuracy['n'].sum()):,} answers counted."
    )
    if position_bias is not None:
        yield from _bias_overview(position_bias)
    if published is not None and len(published):
        counts = ", ".join(f"{n} {verdict}" for verdict, n in published["verdict"].value_counts().items())
        yield f"Compared with {counted(len(published), 'published value')}: {counts}."


def _bias_overview(position_bias: pd.DataFrame) -> Iterator[str]:
    measured = position_bias[position_bias["verdict"] != NO_INFORMATION]
    differ = sum(map(differs, plain_rows(measured)))
    flat, silent = int((measured["shape"] == FLAT).sum()), len(position_bias) - len(measured)
    doubtful = (
        ", or answers in doubt" if position_bias["reason"].map(is_doubt, na_action="ignore").eq(True).any() else ""
    )
    reasons = "floor, ceiling, or too few questions" + doubtful
    yield (
        f"Positions are shown to differ in {differ} of {counted(len(position_bias), 'curve')}, and to be within "
        f"{100 * SMALL:.0f} points of one another in {flat}; neither is shown in {len(measured) - differ - flat}, and "
        f"{silent} have no information on position ({reasons})."
    )
    indexed = sorted(plain_rows(measured[measured["pbi_class"].notna()]), key=itemgetter("pbi"))
    yield from _shapes(indexed)
    if len(indexed) > 1:
        yield (
            "The Position Bias Index (edges minus middle; 0 also for a slope) is highest for "
            f"{_named(indexed[-1], difference_of(indexed[-1], 'pbi'))}, and lowest for "
            f"{_named(indexed[0], difference_of(indexed[0], 'pbi'))}. Whether models differ: see Models compared."
        )


def _named(row: Mapping, detail: str) -> str:
    return f"{_curve_name(row)} ({detail}, n = {row['n']:,})"


def _shapes(curves: Sequence[Mapping]) -> Iterator[str]:
    """Comparisons of start and end with the middle: one sentence per word, which names its curves if there are at most
    `NAMED` and they show a difference.
    """
    by_word = grouped((row for row in curves if row["shape"]), itemgetter("shape"))
    for word in sorted(by_word, key=list(MEANINGS).index):
        rows = by_word[word]
        named = [_named(row, _primacy_and_recency(row)) for row in rows]
        is_told = len(rows) <= NAMED and word != NONE
        which = "; ".join(named) if is_told else f"{len(rows)} of {counted(len(curves), 'curve')}"
        yield f"{word[0].upper()}{word[1:]} ({MEANINGS[word]}): {which}."


def _primacy_and_recency(row: Mapping) -> str:
    return ", ".join(f"{name} {difference_of(row, name)}" for name in ("primacy", "recency"))


def shape(row: Mapping) -> str:
    """The curve's word and its meaning, with primacy and recency; '' for a curve without a word.

    Then the differences whose single interval excludes 0 and that the word, corrected over all curves of the
    experiment, does not state. For a curve without differences also the smallest effect that n can show.
    """
    word = row["shape"]
    if not word:
        return ""
    sentences = [f"{word} ({MEANINGS[word]}; {_primacy_and_recency(row)}"]
    alone = [end for end in UNSAID.get(word, ()) if row[f"{end}_ci_low"] > 0 or row[f"{end}_ci_high"] < 0]
    if alone:
        tilt = f", tilt {difference_of(row, 'tilt')}" if "tilt" in alone else ""
        sentences.append(f"{tilt}; without 0 by its own 95 % interval, uncorrected: {', '.join(alone)}")
    if word == NONE and row["pbi_mde"] is not None:
        sentences.append(f"; {row['n']:,} questions show a PBI from {percent(row['pbi_mde'])} points on")
    return "".join(sentences) + ")"


def _curve_name(row: Mapping) -> str:
    placement = f", {row['placement']}" if row["placement"] else ""
    return f"{row['model']} on {row['experiment']}, size {row['size']}{placement}"


def findings(position_bias: pd.DataFrame | None) -> list[str]:
    """One or two sentences per curve: best and worst position, whether positions are shown to differ, PBI."""
    return [] if position_bias is None else [_finding(row) for row in plain_rows(position_bias)]


def _finding(row: Mapping) -> str:
    what = _curve_name(row)
    if row["verdict"] == NO_INFORMATION:
        left_out = f", {row['n_left_out']} left out" if row["n_left_out"] else ""
        why = doubt_in_words(row["reason"])
        return f"{what}: no information on position, {why} (n = {row['n']}{left_out})."
    if not row["gap"]:
        everywhere = f"at each of the {row['n_positions']} positions"
        spread = f"{percent(row['accuracy_best'])} % {everywhere} (n = {row['n']})"
    else:
        best, worst = (ordinal(row[f"position_{end}"] + 1) for end in ("best", "worst"))
        spread = (
            f"best with the answer in the {best} ({percent(row['accuracy_best'])} %), "
            f"worst in the {worst} ({percent(row['accuracy_worst'])} %), "
            f"gap {percent(row['gap'])} points {interval_of(row, 'gap')}, n = {row['n']}{_tested(row)}"
        )
    return f"{what}: {spread}.{_describe_pbi(row)}"


def _tested(row: Mapping) -> str:
    """Cochran's Q of a curve without a word; a word says by itself whether positions differ."""
    if row["shape"]:
        return ""
    differ = "differ by more than chance" if differs(row) else "are not shown to differ"
    return f"; the positions {differ} (Cochran's Q, {p_in_words(row['cochran_p_holm'])} by Holm)"


def _describe_pbi(row: Mapping) -> str:
    if row["pbi"] is None:
        return f" It has no PBI: {row['reason']}." if row["reason"] else ""
    if not row["pbi_class"]:
        return f" Its PBI carries no information ({row['reason']})."
    ends = shape(row)
    shape_words = f" Shape: {ends}." if ends else ""
    return f"{shape_words} PBI {difference_of(row, 'pbi')}: {row['class_words']}."


Tables = Mapping[str, pd.DataFrame]
#: Warnings that are open, at most.
OPEN = 3


def first_answers(
    tables: Tables,
    manifests: Sequence[Mapping],
    experiments: Sequence[Mapping],
    stand_ins: Collection[str],
    filled: Iterable[str] = (),
) -> dict:
    """{useless, answers, advice, warnings, more_warnings}: sentences on models whose answers tell nothing here; on
    those that the documents help, on log-probabilities, and on pairs of models; (headline, details) of each advice;
    what else to know. `OPEN` warnings, those on useless models included, are open.

    experiments: settings of each, as in `page.Contents`. stand_ins: models that are none: nothing is concluded
    from their answers. filled: see `page.Contents`.
    """
    by_table = {
        name: table[~table["model"].isin(list(stand_ins))] if "model" in table else table
        for name, table in tables.items()
    }
    first = to_know_first(lambda name: _rows(by_table, name), experiments, stand_ins)
    looked = to_look_at(tables.get("gold_passages"), _rows(tables, "answer_checks"))
    tagged = (f"{sentence}." for sentence in tag_sentences(manifests))
    others = [*tagged, *looked, *(f"{sentence}." for sentence in filled), *_of_answers(by_table, manifests)]
    room = max(0, OPEN - len(first.useless))
    names = {experiment["name"] for experiment in experiments}
    pairs = labelled(_rows(tables, "model_pairs"), _rows(tables, "accuracy"))
    answers = [
        f"{rows[0]['model_a']} and {rows[0]['model_b']} on {compared_on(rows[0])}: {conclusion}"
        for rows, conclusion in compared(pairs, names, stand_ins, first.silent)
        if len(rows) > 1
    ]
    return {
        "useless": first.useless[:OPEN],
        "answers": [*first.able, *first.probable, *answers[:MOST_PAIRS], *more_pairs(answers)],
        "advice": first.advice,
        "warnings": others[:room],
        "more_warnings": [*first.useless[OPEN:], *others[room:]],
    }


def _rows(tables: Tables, name: str) -> list[dict]:
    return plain_rows(tables[name]) if name in tables else []


def _of_answers(tables: Tables, manifests: Sequence[Mapping]) -> Iterator[str]:
    """Cut, empty, refused and lacking answers, those to unknown prompts, and conclusions that depend on the reading."""
    decodings = {
        (manifest["model"], manifest["experiment"]): manifest["identity_fields"].get("decoding")
        for manifest in manifests
    }
    stops = {sweep: decoding["stop"] for sweep, decoding in decodings.items() if decoding}
    sentences = [*answer_sentences(_rows(tables, "accuracy"), manifests)]
    sentences += reading_warnings(tables.get("reading_sensitivity"), stops)
    yield from (f"{sentence}." for sentence in sentences)
