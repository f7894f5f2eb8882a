"""Sentences for the console and the report: whether positions can tell anything here, how models compare, warnings
about cut, empty and refused answers.

Rows are of the tables, as `formats.plain_rows` gives them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from math import exp
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from litm.analysis.shapes import FLAT, NO_INFORMATION, NONE
from litm.answer_words import WHOLE_WORDS
from litm.base.groups import grouped
from litm.base.messages import (
    counted,
    few_clusters,
    first_of,
    in_range,
    interval,
    interval_of,
    p_in_words,
    percent,
    points,
)
from litm.base.table_files import read_parquet
from litm.examples.orders import ORDERS
from litm.placements import gold_positions
from litm.records.conditions import ORACLE, REFERENCE_TASKS, Condition
from litm.records.tokens import answer_limit
from litm.scoring.doubts import doubt_in_words, is_doubt

Row = Mapping[Any, Any]
NOTHING: Mapping[str, str] = {}
_sweep, _curve = itemgetter("model", "experiment"), itemgetter("model", "experiment", "size")
#: The largest corrected p of a difference that is shown; `statistics.SIGNIFICANT` needs numpy.
SHOWN = 0.05
#: Fraction right without documents from which on the questions, not the model, are the matter.
KNOWN = 0.5
PLACES = {"all": "over all positions", "start": "at the start", "middle": "in the middle", "end": "at the end"}


class Silence(NamedTuple):
    """Why the positions of a curve tell nothing, in words."""

    finding: str
    """What is the case."""
    remedy: str
    """What to do."""


AT_FLOOR = "hardly any answer is right at any position"
#: The reasons of curves that tell nothing; `refused`, `cut`: at the floor with more than half of the answers refusals,
#: or cut.
SILENCES = {
    "floor": Silence(AT_FLOOR, "use fewer or shorter items, or another model"),
    "cut": Silence(
        f"{AT_FLOOR} and most were cut",
        "raise max_new_tokens (or the limit in the model's `request`), or use another model if the answers repeat "
        "themselves",
    ),
    "refused": Silence(f"{AT_FLOOR} and most are refusals", "use another prompt or another model"),
    "too few questions": Silence("there are too few questions", "use more"),
    "ceiling": Silence("nearly every answer is right at every position", "use harder questions or longer contexts"),
}
#: Nats: a larger difference of log-probabilities is told as a factor of this size.
MOST_NATS = 20
#: Experiments with cut or empty answers that a sentence names, at most.
MOST_CUT = 3
#: Fraction of empty answers, and of refused ones, above which they are told.
MANY_EMPTY = 0.05
#: Fraction of an experiment's answers above which two readings of them are told apart.
FEW_INSIDE = 0.02
#: Values of `how` in gold_passages.csv: for questions that are left out, and for passages that the user did not name.
WITHOUT, LOOKED_FOR = ("none", "left_out"), "first_retrieved"


def remedies_in_words(condition: Condition, documents: int = 2) -> list[str]:
    """What is done with a number of documents: `["best last", "reranked by my_reranker"]`."""
    parts = [ORDERS[condition.order].words] if documents > 1 else []
    parts += [f"reranked by {condition.reranker}"] if condition.reranker else []
    parts += [condition.cut] if condition.cut else []
    return parts + ([f"prompt {condition.prompt}"] if condition.prompt else [])


# --- Whether positions can tell anything -----------------------------------------------------------------------


@dataclass(frozen=True)
class First:
    """What a reader is told first: sentences on models whose answers tell nothing here, on those that the document
    helps, and on log-probabilities; headline and details of each advice; and the (model, experiment) of
    `without_information`.
    """

    useless: list[str]
    able: list[str]
    probable: list[str]
    advice: list[tuple[str, str]]
    silent: set[tuple]


def to_know_first(
    rows: Callable[[str], Sequence[Row]], experiments: Sequence[Mapping[str, Any]], stand_ins: Container[str]
) -> First:
    """The sentences of `uninformative` and `able_sentences`, and each advice.

    rows: of a table by its name, none without it; experiments: settings of each, with `closed_book` (see `silenced`);
    stand_ins: models that the sentences leave out.
    """
    clusters = {settings["name"]: settings["cluster"] for settings in experiments if settings.get("cluster")}
    closed_book = {settings["name"]: settings.get("closed_book") for settings in experiments}
    accuracy, bias = rows("accuracy"), rows("position_bias")
    doubts, in_doubt = doubt_sentences(accuracy, bias)
    references = {
        settings["name"]: [settings["name"], settings.get("closed_book"), settings.get("oracle")]
        for settings in experiments
    }
    # What a doubt touches supports no sentence on the document's benefit.
    utilisation = [
        row
        for row in rows("utilisation")
        if not in_doubt & {(row["model"], name) for name in references.get(row["experiment"], [row["experiment"]])}
    ]
    sound = [row for row in accuracy if _sweep(row) not in in_doubt]
    sentences = uninformative(utilisation, sound, bias, clusters, rows("wrong_answers"))
    differing = _differing(bias)
    # Curves without information leave the advice: it says by itself that nothing is right, or how many questions tell.
    unhelped = uninformative(utilisation, sound, []).keys()
    silent = silenced(unhelped - differing, closed_book) - silenced(unhelped & differing, closed_book)
    advice = [
        (row["advice"], row["advice_details"] or "")
        for row in rows("advice")
        if row["advice"] and row["model"] not in stand_ins and (row["model"], row["remedies_of"]) not in silent
    ]
    useless = [sentence for (model, _), sentence in [*doubts.items(), *sentences.items()] if model not in stand_ins]
    able = able_sentences(row for row in utilisation if row["model"] not in stand_ins)
    probable = probability_sentences(rows("log_probability_effects"), bias)
    return First(useless, able, probable, advice, without_information(sentences.keys() - differing, bias) | in_doubt)


def doubt_sentences(accuracy: Sequence[Row], bias: Iterable[Row]) -> tuple[dict[tuple, str], set[tuple]]:
    """A sentence for each (model, doubt), and the (model, experiment) in doubt.

    accuracy, bias: rows of accuracy.csv and position_bias.csv.
    """
    sizes = {sweep: {row["size"] for row in rows} for sweep, rows in grouped(accuracy, _sweep).items()}
    in_doubt: dict[tuple[str, str], dict[str, set[int]]] = {}
    for rows, column in ((accuracy, "doubt"), (bias, "reason")):
        for row in rows:
            if (doubt := row.get(column)) and is_doubt(doubt):
                in_doubt.setdefault((row["model"], doubt), {}).setdefault(row["experiment"], set()).add(row["size"])
    sentences = {}
    for (model, doubt), experiments in in_doubt.items():
        which = [
            name if doubtful == sizes.get((model, name)) else f"{name} (size {', '.join(map(str, sorted(doubtful)))})"
            for name, doubtful in experiments.items()
        ]
        sentences[model, doubt] = (
            f"{model} on {first_of(which, MOST_CUT)}: no shape, no PBI and no advice, because {doubt_in_words(doubt)}."
        )
    return sentences, {(model, name) for (model, _), experiments in in_doubt.items() for name in experiments}


#: Effects of position: where an answer that they make more probable is, and where it is not.
BETWEEN = {
    "pbi": ("at start and end", "in the middle"),
    "primacy": ("at the start", "in the middle"),
    "recency": ("at the end", "in the middle"),
    "tilt": ("at the end", "at the start"),
}


def probability_sentences(effects: Iterable[Row], bias: Iterable[Row]) -> list[str]:
    """A sentence on the effects of position on the log-probability of the right answer for each curve.

    effects: of log_probability_effects.csv; bias: of position_bias.csv, for curves whose accuracy tells nothing.
    """
    silent = {_curve(row): SILENCES[row["reason"]].finding for row in bias if row["reason"] in SILENCES}
    best = (row for row in effects if row["quantity"] == "answer")
    sentences = []
    for curve, rows in groupby(best, _curve):
        measured = list(rows)
        pbi = next(row for row in measured if row["effect"] == "pbi")
        ends = [row for row in measured if row["effect"] in ("primacy", "recency")]
        shown = [_times_as_probable(row) for row in (ends if any(map(is_shown, ends)) else measured) if is_shown(row)]
        none = f"its probability is not shown to differ between start, middle and end (PBI {_nats(pbi)})"
        is_silent = f"accuracy shows nothing here ({silent[curve]}); " if curve in silent else ""
        which = f"{_where(curve[:2])}, size {curve[2]}"
        words = f"the right answer is {', '.join(shown)}" if shown else f"of the right answer, {none}"
        sentences.append(f"{which}: {is_silent}by log-probability, {words}. n = {pbi['n']:,}.")
    return sentences


def _times_as_probable(row: Row) -> str:
    """`1.6 times as probable in the middle as at the start (primacy -0.47 nats [-0.73, -0.21], p = 0.012)`."""
    more, less = BETWEEN[row["effect"]][:: 1 if row["value"] > 0 else -1]
    # Two digits, written out up to a billion.
    factor = float(f"{exp(min(abs(row['value']), MOST_NATS)):.2g}")
    return f"{factor:,.9g} times as probable {more} as {less} ({row['effect'].replace('pbi', 'PBI')} {_nats(row)})"


def _nats(row: Row) -> str:
    if row["value"] is None:
        return "unknown"
    return f"{row['value']:+.2f} nats [{row['ci_low']:.2f}, {row['ci_high']:.2f}], {p_in_words(row['p_holm'])}"


def able_sentences(utilisation: Iterable[Row]) -> list[str]:
    """A sentence for each model that answers clearly better with the document than without, and each pair of closed
    book and oracle, from the cell of each experiment with the most questions; utilisation: as in `uninformative`.
    """
    able = grouped((row for row in utilisation if row["utilisation"] is not None), _sweep)
    words = {sweep: _references(max(rows, key=itemgetter("n"))) for sweep, rows in able.items()}
    return [
        f"{_where((model, first_of([name for _, name in sweeps], MOST_CUT)))}: the document with the answer helps, so "
        f"its position and the number and order of documents can matter. {references}."
        for (model, references), sweeps in grouped(words, lambda sweep: (sweep[0], words[sweep])).items()
    ]


def uninformative(
    utilisation: Iterable[Row],
    accuracy: Sequence[Row],
    bias: Sequence[Row],
    clusters: Mapping[str, str] = NOTHING,
    wrong: Iterable[Row] = (),
) -> dict[tuple, str]:
    """A sentence for each (model, experiment) whose positions show nothing, or that the document is not shown to help,
    in the order of the rows; one on curves at the floor or the ceiling is for the first of those that it names.

    utilisation: of utilisation.csv, whose cells are empty unless the oracle is clearly better than closed book (99 %);
    accuracy: for an oracle without closed book; bias: of position_bias.csv, for curves all at the floor or the ceiling;
    clusters: the field of the clusters, by experiment; wrong: of wrong_answers.csv, for refusals.
    """
    sentences: dict[tuple, str] = {}
    differing = _differing(bias)
    for names, rows in groupby(utilisation, _sweep):
        answered = [row for row in rows if row["n"]]
        if answered and all(row["utilisation"] is None for row in answered):
            sentences[names] = _no_benefit(names, answered[0], clusters.get(names[1]), names in differing)
    for row in accuracy:
        if row["task"] == REFERENCE_TASKS[ORACLE] and row["accuracy"] == 0 and not _tells(sentences, row["model"]):
            sentences[_sweep(row)] = f"{_where(_sweep(row))}: no answer is right with the document alone. {_remedy(0)}."
    answers, cut = _counts(accuracy, "n_cut")
    refusals: defaultdict[tuple[str, str], float] = defaultdict(float)
    for row in wrong:
        refusals[_sweep(row)] += row["n_wrong"] * (row["share_refusal"] or 0) - row["n"] / 2
    limited: defaultdict[tuple[str, str, str], dict[str, list[int]]] = defaultdict(dict)
    for (model, experiment), curves in grouped(bias, _sweep).items():
        reasons = {row["reason"] for row in curves}
        if len(reasons) == 1 and not _tells(sentences, model) and (reason := reasons.pop()) in SILENCES:
            if reason == "floor" or not any(row.get("accuracy_best", 1) for row in curves):
                is_cut = 2 * cut[model][experiment] > answers[model][experiment]
                reason = "refused" if refusals[model, experiment] > 0 else "cut" if is_cut else reason
            is_few = reason == "too few questions" and experiment in clusters
            more = f" clusters ({clusters[experiment]})" if is_few else ""
            limited[model, reason, more][experiment] = [row["n"] for row in curves]
    for (model, why, more), numbers in limited.items():
        n = f" (n = {in_range(chain.from_iterable(numbers.values()))}):"
        which, because = first_of([*numbers], MOST_CUT), f"{SILENCES[why].finding}{n} {SILENCES[why].remedy}"
        sentences[model, next(iter(numbers))] = f"{model} on {which}: positions show nothing, because {because}{more}."
    return sentences


def silenced(unhelped: Iterable[tuple], closed_book: Mapping[str, str | None]) -> set[tuple]:
    """The (model, experiment) whose advice says nothing, because the same questions without documents go as well.

    unhelped: those that the document is not shown to help; closed_book: the experiment's closed book, by experiment;
    one without its own goes by the only one of the study, such as questions on documents as retrieved.
    """
    books = set(filter(None, closed_book.values()))
    only = next(iter(books)) if len(books) == 1 else None
    book_of = {name: book or only for name, book in closed_book.items()}
    silent = {(model, book_of.get(experiment)) for model, experiment in unhelped}
    return {(model, name) for name, book in book_of.items() for model, other in silent if book and other == book}


def without_information(showing_nothing: Iterable[tuple], bias: Iterable[Row]) -> set[tuple]:
    """The (model, experiment) whose positions tell nothing: these, and those whose curves are all at the floor or the
    ceiling.

    showing_nothing: keys of `uninformative` without those whose positions are shown to differ; bias: of
    position_bias.csv.
    """
    curves = grouped(bias, _sweep).items()
    return {*showing_nothing, *(sweep for sweep, rows in curves if all(row["reason"] in SILENCES for row in rows))}


def differs(row: Row) -> bool:
    """Whether a curve's positions are shown to differ: by its word; without a word, by Cochran's Q."""
    if row["verdict"] == NO_INFORMATION:
        return False
    return row["shape"] not in (FLAT, NONE) if row["shape"] else row["cochran_p_holm"] < SHOWN


def _differing(bias: Iterable[Row]) -> set[tuple]:
    """The (model, experiment) with a curve that `differs`."""
    return {_sweep(row) for row in bias if differs(row)}


def _tells(sentences: Mapping[tuple, str], model: str) -> bool:
    return any(name == model for name, _ in sentences)


def _where(names: tuple[str, str]) -> str:
    return f"{names[0]} on {names[1]}"


def _no_benefit(names: tuple[str, str], row: Row, cluster: str | None, differ: bool) -> str:
    more = f"more clusters ({cluster})" if cluster else "more questions"
    remedy = _remedy(row["accuracy_oracle"], row["accuracy_closed_book"], more)
    effect = "cannot show an effect of position, number or order"
    finding = "positions are shown to differ" if differ else f"these answers {effect}"
    return f"{_where(names)}: {finding}. {_references(row)}; the document alone is not shown to help. {remedy}."


def _references(row: Row) -> str:
    oracle, closed_book = (_share(row, f"accuracy_{name}") for name in ("oracle", "closed_book"))
    return f"Right with the document alone: {oracle}; without any: {closed_book} (n = {row['n']:,})"


def _remedy(oracle: float, closed_book: float = 0.0, more: str = "more questions") -> str:
    others = ["questions that need the documents"] if closed_book >= KNOWN else ["easier questions", "another model"]
    # Few questions may hide a benefit that the answers hint at.
    options = [more, *others] if oracle > closed_book else others
    advice = " or ".join(filter(None, [", ".join(options[:-1]), options[-1]]))
    return f"Use {advice}" + ("" if oracle else ", or check prompt_template and the answers")


def _share(row: Row, name: str) -> str:
    return f"{percent(row[name])} % {interval_of(row, name)}"


# --- Models compared -------------------------------------------------------------------------------------------


#: Comparisons of models that console and report have.
MOST_PAIRS = 6


def more_pairs(pairs: Sequence) -> list[str]:
    """A line on the comparisons that are left out."""
    n_more = len(pairs) - MOST_PAIRS
    return [f"and {n_more:,} more comparisons: tables/model_pairs.csv"] if n_more > 0 else []


def compared(
    rows: Iterable[Row], experiments: Container[str], left_out: Iterable[str] = (), silent: Container[tuple] = ()
) -> list[tuple[Sequence[Row], str]]:
    """(rows of model_pairs.csv, the conclusion) of each pair of models and of these experiments, of more than
    `MOST_PAIRS` those with the largest shown differences first; left_out: models to skip; silent: see
    `without_information`.
    """
    skipped = set(left_out)
    kept = (row for row in rows if row["experiment"] in experiments and not {row["model_a"], row["model_b"]} & skipped)
    pairs = [list(pair) for _, pair in groupby(kept, lambda row: (row["experiment"], row["model_a"], row["model_b"]))]
    if len(pairs) > MOST_PAIRS:
        pairs.sort(
            key=lambda pair: -max([0, *(abs(row["difference"]) for row in telling(pair, silent) if is_shown(row))])
        )
    return [(pair, _conclusion(pair, silent)) for pair in pairs]


def compared_on(row: Row) -> str:
    """What models are compared on: `kv, mean of 2 sizes, n = 40`, and the row's `label`, see `run_summary.labelled`."""
    sizes = "" if row["n_sizes"] == 1 else f", mean of {row['n_sizes']} sizes"
    return ", ".join(filter(None, [f"{row['experiment']}{sizes}, n = {row['n']:,}", row.get("label")]))


def silent_of(row: Row, silent: Container[tuple]) -> list[str]:
    """The models of a pair whose positions tell nothing, so that it is compared in accuracy alone."""
    return [row[side] for side in ("model_a", "model_b") if (row[side], row["experiment"]) in silent]


def telling(rows: Iterable[Row], silent: Container[tuple]) -> list[Row]:
    """The rows of a pair that count: for a model whose positions tell nothing, the accuracies alone."""
    return [row for row in rows if row["quantity"] == "accuracy" or not silent_of(row, silent)]


def _conclusion(rows: Sequence[Row], silent: Container[tuple]) -> str:
    """`b is better in the middle by 29.6 points [18.6, 38.6]; no difference in PBI is shown (a minus b: ...).`

    It does not say which curve is more even, because indices may differ in sign, and that of a slope is 0.
    """
    a, b = rows[0]["model_a"], rows[0]["model_b"]
    better: dict[str, list[str]] = {}
    for row in rows:
        if row["quantity"] == "accuracy" and is_shown(row):
            place = f"{PLACES[row['place']]} " if len(rows) > 1 else ""
            winner = a if row["difference"] > 0 else b
            better.setdefault(winner, []).append(f"{place}by {_size_of(row)}")
    parts = [f"{model} is better {' and '.join(places)}" for model, places in better.items()]
    overall = next((row for row in rows if row["quantity"] == "accuracy" and row["place"] == "all"), rows[0])
    parts = parts or [f"no difference in {rows[0].get('label') or 'accuracy'} is shown ({_signed(overall)})"]
    flat = silent_of(rows[0], silent)
    indices = [] if flat else [row for row in rows if row["quantity"] == "pbi"]
    if len(rows) > 1 and not indices:
        why = f"because positions show nothing about {' and '.join(flat) or 'one of the two at each common size'}"
        parts.append(f"PBIs are not compared, {why}")
    for row in indices:
        sizes = (row["n_sizes"], overall["n_sizes"])
        fewer = f", from {sizes[0]} of {sizes[1]} sizes" if sizes[0] < sizes[1] else ""
        if is_shown(row):
            (high, higher), (low, _) = sorted(((row["value_a"], a), (row["value_b"], b)), reverse=True)
            against = f"{percent(high)} against {percent(low)}"
            parts.append(f"{higher} has the higher PBI (edges minus middle: {against}{fewer})")
        else:
            parts.append(f"no difference in PBI is shown ({_signed(row)}{fewer})")
    return "; ".join(parts) + "."


def _signed(row: Row) -> str:
    """`a minus b: +3.3 points [-8.0, 14.6], p = 0.42`, over all positions."""
    difference = f"{points(row['difference'])} {interval_of(row)}, {p_in_words(row['p_holm'])}"
    return f"{row['model_a']} minus {row['model_b']}: {difference}"


def _size_of(row: Row) -> str:
    """The size of a difference, with its interval in the same direction: `29.6 points [18.6, 38.6]`."""
    value, low, high = (row[name] for name in ("difference", "ci_low", "ci_high"))
    low, high = (low, high) if value > 0 else (-high, -low)
    return f"{percent(abs(value))} points {interval(low, high)}"


def is_shown(row: Row) -> bool:
    """Whether the row's difference is shown, see `litm.analysis.statistics`."""
    return row["p_holm"] is not None and row["p_holm"] < SHOWN


# --- Warnings --------------------------------------------------------------------------------


def tag_sentences(manifests: Iterable[Row]) -> Iterator[str]:
    """One sentence per model with reasoning in many of its scored answers."""
    texts = [{"size": 0, "placement": "", "n": manifest.get("with_text"), **manifest} for manifest in manifests]
    then = "are scored with their reasoning: set the model's 'reasoning: strip' (no server is asked again)"
    yield from _many(texts, "with_reasoning", "contain <think> or </think>", then)


def answer_sentences(rows: Sequence[Row], manifests: Sequence[Row]) -> Iterator[str]:
    """One sentence per model with cut answers and what to do, one with many empty ones, one with many refused ones, one
    with recorded answers that are missing, one for each experiment with positions without any, one with those that do
    not say to which prompts, and those on records that are not used as they are.

    rows: of the accuracy table.
    """
    recorded = {manifest["model"] for manifest in manifests if not manifest["identity_fields"].get("decoding")}
    limits: defaultdict[str, dict[str, int]] = defaultdict(dict)
    advice: dict[str, str] = {}
    for manifest in manifests:
        if (model := manifest["model"]) not in recorded:
            fields = manifest["identity_fields"]
            request = fields["model"].get("request")
            limits[model][manifest["experiment"]], key = answer_limit(request, fields["decoding"]["max_new_tokens"])
            place = "in define.experiments" if key == "max_new_tokens" else "in the model's request"
            advice[model] = f"; raise {key} ({place}), unless they repeat themselves"
    yield from cut_sentences(rows, limits, advice)
    yield from _many(rows, "n_empty", "are empty", "are scored as answers")
    yield from refused_sentences(rows)
    answered, missing = _counts(rows, "n_not_recorded")
    for model, counts in missing.items():
        if lacking := [f"{name} {n:,} of {n + answered[model][name]:,}" for name, n in counts.items() if n]:
            yield f"{model}: some recorded responses are missing ({first_of(lacking, MOST_CUT)}); these are not counted"
    yield from _unrecorded_positions(rows)
    yield from inside_words(rows)
    unknown: Counter[str] = Counter()
    for manifest in manifests:
        unknown[manifest["model"]] += manifest.get("not_compared", 0)
    if unknown := +unknown:
        yield (
            f"{first_of([*unknown], MOST_CUT)}: {unknown.total():,} recorded answers do not say which prompts they "
            "answer (no prompt_sha256); their accuracy is valid only if the prompts had the seed, documents and text "
            "of this study"
        )
    doubts = [(sweep["model"], doubt, sweep["experiment"]) for sweep in manifests for doubt in sweep.get("doubts", ())]
    for (model, doubt), alike in grouped(doubts, lambda entry: entry[:2]).items():
        yield f"{model} on {first_of([name for _, _, name in alike], MOST_CUT)}: {doubt}"


def inside_words(rows: Iterable[Row]) -> Iterator[str]:
    """One sentence per model and experiment in which more than `FEW_INSIDE` of the answers scored by whole words have
    an accepted answer only inside other words.
    """
    scored = [row for row in rows if row.get("metric") == WHOLE_WORDS and row["n"]]
    for (model, name), cells in grouped(scored, itemgetter("model", "experiment")).items():
        inside = round(sum((row["accuracy_lenient"] - row["accuracy_full"]) * row["n"] for row in cells))
        answers = sum(row["n"] for row in cells)
        if inside > max(FEW_INSIDE * answers, 2):
            yield (
                f"{model} on {name}: {inside:,} of {answers:,} answers have an accepted answer only inside other words "
                "or numbers, or after another choice, and count as wrong (column accuracy_lenient); where words are "
                "inflected or compound, add their forms to the answers, separated by |, or set metric: "
                "best_subspan_em for these experiments in define.experiments"
            )


def _unrecorded_positions(rows: Iterable[Row]) -> Iterator[str]:
    """One sentence per model and experiment with sizes whose answers are recorded at some positions alone."""
    for (model, name), cells in grouped(rows, itemgetter("model", "experiment")).items():
        sizes: defaultdict[int, dict[int, bool]] = defaultdict(dict)
        for row in cells:
            if len(places := gold_positions(row["placement"])) == 1:
                sizes[row["size"]][places[0]] = bool(row["n"] or not row.get("n_not_recorded"))
        # A size without two recorded positions cannot be compared, whatever is left out.
        kept = {
            size: [place for place, is_there in at.items() if is_there or sum(at.values()) < 2]
            for size, at in sizes.items()
        }
        without = {size: [str(place) for place in at if place not in kept[size]] for size, at in sizes.items()}
        if lacking := [f"{', '.join(places)} of {size}" for size, places in without.items() if places]:
            yield (
                f"{model} on {name}: no answer is recorded at positions {'; '.join(lacking)} (counted from 0), so the "
                f"shape and PBI of {model} are unknown; to compare {model} at the others, set positions: {kept} for "
                f"{name} in define.experiments"
            )


def cluster_sentences(experiments: Iterable[Mapping[str, Any]], scores: Mapping[str, Path]) -> list[str]:
    """One sentence for experiments with as many questions and as few clusters.

    experiments: settings of each; scores: by experiment, a file of a model's, without clusters if it is older than
    these.
    """
    names_of: dict[str, list[str]] = {}
    for name, cluster in ((settings["name"], settings.get("cluster")) for settings in experiments):
        if cluster and name in scores and "cluster" in (rows := read_parquet(scores[name])):
            questions = rows[["id", "cluster"]].drop_duplicates()
            if few := few_clusters(questions["cluster"]):
                groups = questions["cluster"].nunique()
                which = f"{counted(len(questions), 'question')} in {counted(groups, 'cluster')} ({cluster})"
                names_of.setdefault(f"{which}{few}, so use more clusters", []).append(name)
    return [f"{first_of(names, MOST_CUT)}: {sentence}" for sentence, names in names_of.items()]


def _many(rows: Iterable[Row], column: str, what: str, then: str) -> Iterator[str]:
    """One sentence per model with experiments in which a column counts more than `MANY_EMPTY` of the answers."""
    answers, counts = _counts(rows, column)
    for model, totals in answers.items():
        numbers = counts[model]
        many = [f"{name} {numbers[name]:,} of {n:,}" for name, n in totals.items() if numbers[name] > MANY_EMPTY * n]
        if many:
            yield f"{model}: many answers {what} ({first_of(many, MOST_CUT)}); they {then}"


def _counts(rows: Iterable[Row], column: str) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """The answers, and those that a column counts, by model and experiment; rows: see `cut_sentences`."""
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    cells: dict[tuple, Row] = {}
    for row in rows:
        if row.get(column) is not None:
            cells.setdefault((row["model"], row["experiment"], row["size"], row["placement"]), row)
    for (model, experiment, *_), row in cells.items():
        answers[model][experiment] += row["n"]
        counts[model][experiment] += row[column]
    return answers, counts


def refused_sentences(rows: Iterable[Row]) -> Iterator[str]:
    """One sentence per model with many refused answers; rows: see `cut_sentences`."""
    yield from _many(rows, "n_refused", "were refused or withheld by the provider", "are scored as received")


def cut_sentences(
    rows: Iterable[Row], limits: Mapping[str, Mapping[str, int]], advice: Mapping[str, str] = NOTHING
) -> list[str]:
    """One sentence per model with cut answers, the largest share first; it names the `MOST_CUT` experiments with the
    largest shares.

    rows: of the accuracy table; limits: new tokens per answer by model and experiment, where they are known; advice: by
    model. An answer to several gold items has several rows and counts once. Rows without n_cut are skipped: recorded
    responses may lack finish reasons.
    """
    answers, cut = _counts(rows, "n_cut")
    some_cut = {model: +counts for model, counts in cut.items() if +counts}
    share = {model: counts.total() / sum(answers[model][name] for name in counts) for model, counts in some_cut.items()}
    return [
        _cut_of(model, some_cut[model], answers[model], limits.get(model, {}))
        + f"; accuracy is a lower bound{advice.get(model, '')}"
        for model in sorted(share, key=share.__getitem__, reverse=True)
    ]


def _cut_of(model: str, cut: Counter[str], answers: Counter[str], limits: Mapping[str, int]) -> str:
    """How many answers of a model were cut; cut: numbers of the experiments that have any."""
    first, *others = shares = sorted(cut, key=lambda name: -cut[name] / answers[name])
    if not others:
        return f"{model} on {first}: {cut[first]:,} of {answers[first]:,} answers were cut{_at(limits.get(first))}"
    by_experiment = [f"{name} {cut[name]:,} of {answers[name]:,}{_at(limits.get(name))}" for name in shares]
    whole = sum(answers[name] for name in shares)
    return f"{model}: {cut.total():,} of {whole:,} answers were cut ({first_of(by_experiment, MOST_CUT)})"


def _at(limit: int | None) -> str:
    return f" at {limit} tokens" if limit else ""
