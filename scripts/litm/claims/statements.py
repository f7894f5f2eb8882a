"""The claims: of the paper in its order, of the suite, this project's own, of later work; what each asks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

from litm.analysis.pbi import CONTRASTS, PLACES, like_positions, unlike_places
from litm.analysis.statistics import paired_difference
from litm.base.messages import percent, points
from litm.base.yaml_files import read_data
from litm.claims.evidence import (
    ENCODER_DECODER,
    Cell,
    Curve,
    Evidence,
    Measure,
    Relations,
    by_sweep,
    curves,
    largest,
    lowest,
    minus,
    negated,
    scaled,
)
from litm.claims.verdicts import (
    ABOVE_ZERO,
    ALMOST_ONE,
    AS_CLAIM,
    AT_MOST_SMALL,
    BELOW_ZERO,
    EXPLORATORY,
    MOST,
    NOT_ABOVE_ZERO,
    WITHIN_SMALL,
    Claim,
    Criterion,
    Part,
    Question,
)
from litm.examples.fillers import NEUTRAL, SAME_FORM, WRONG_ANSWERS
from litm.examples.orders import MEASURED, RANDOM
from litm.placements import AS_RETRIEVED

#: A U needs both: primacy (start - middle) above 0 and recency (end - middle) above 0. The Position Bias Index, their
#: mean, is no test of a U: it is also above 0 if one end alone is high.
BOTH_ENDS = (("primacy", ABOVE_ZERO), ("recency", ABOVE_ZERO))
#: Models that the claim about closed-book answers is about, with both lengths of context, and the family that the claim
#: about primacy is about. Cases of others are exploratory.
TURBO, LLAMA = ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613"), "llama-2"
#: Billions of parameters of the smallest Llama-2 with primacy.
LARGE_FROM = 13
#: Task that a query-aware prompt solves. In other tasks its effect is small.
SOLVED = "kv_retrieval"
#: The statistic that is an accuracy; all others are differences of accuracies.
WORST_ACCURACY = "accuracy at the worst position"
#: Fraction of the largest size: gains start at the size nearest to it, as the paper's 20 of 50 documents.
FROM_SHARE = 0.4
#: Fraction of the gained recall: a reader that gains less accuracy than this has saturated before the retriever.
USED_SHARE = 0.5
#: The suite's experiments 1A and 1B: their task and sizes.
KEY_TASK, KEY_SIZES = "kv_retrieval", (100, 200)

#: The task on documents, whose neutral fillers are random documents. Fraction of a training length.
DOCUMENTS, HALF = "multi_document_qa", 0.5

Ask = Callable[[Evidence, Relations], Iterable[Question]]

CLAIMS: list[Claim] = []
#: What is said of each claim, in their order.
TOLD = read_data(Path(__file__).with_suffix(".yaml"))


def claim(ask: Ask) -> Ask:
    """Adds a function that asks the questions of the claim of its name to `CLAIMS`, which have the order of `TOLD`."""
    CLAIMS.append(Claim(ask.__name__, ask=ask, **TOLD[ask.__name__]))
    return ask


@claim
def u_shape(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for every curve with a middle: are both primacy and recency above 0?"""
    return (contrasts_question(evidence, curve, BOTH_ENDS) for curve in curves_with_middle(evidence))


@claim
def longer_context_worse(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and experiment of several sizes: is the mean over positions at like depths lower at the
    largest size?

    It is compared with the smallest size; the detail lists the sizes between.
    """
    return (_size_question(evidence, group) for group in by_sweep(curves(evidence)) if len(group) > 1)


@claim
def extended_context_no_better(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each such pair, experiment and size: is the mean difference over all cells below 5 points?

    It is computed on the questions that fit both models in all cells. The absence of a shown difference is not enough.
    Cells have a context of several items.
    """
    cells: dict[tuple, Cell] = {
        (entry.model, entry.experiment, entry.size, entry.placement): entry for entry in evidence.cells
    }
    for longer, about in relations.models.items():
        shorter = about.get("longer_context_of")
        shared: dict[tuple[str, int], list[tuple[Cell, Cell]]] = {}
        for (model, *place), cell in cells.items():
            other = cells.get((shorter, *place))
            if model == longer and cell.size > 1 and other:
                shared.setdefault((cell.experiment, cell.size), []).append((cell, other))
        for (experiment, size), pairs in shared.items():
            change = evidence.contrast(_mean_difference(pairs))
            change_text = change and f"{points(change.value)} against {shorter}, mean of {len(pairs)} placements"
            yield Question(
                models=(longer, str(shorter)),
                experiment=experiment,
                size=size,
                parts=(Part("mean difference", AT_MOST_SMALL, change),),
                detail=change_text or f"no question has prompts that fit {shorter} too",
            )


@claim
def below_closed_book(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and experiment with a closed-book version: is middle - closed book below 0 at some size?"""
    without: dict[tuple, Cell] = {
        (cell.model, cell.experiment): cell for cell in evidence.cells if cell.position is None
    }
    for group in by_sweep(curves_with_middle(evidence), is_by_size=False):
        first = group[0]
        closed = without.get((first.model, relations.experiments.get(first.experiment, {}).get("closed_book")))
        if closed is None:
            continue
        contrasts = {curve.size: evidence.contrast(curve.middle | {closed: -1}) for curve in group}
        measured = {size: measure for size, measure in contrasts.items() if measure}
        values_text = ", ".join(f"{points(measure.value)} at size {size}" for size, measure in measured.items())
        least = lowest(list(measured.values())) if measured else None
        detail = f"middle against closed book: {values_text}" if values_text else None
        question = _question(
            first,
            Part("lowest difference from closed book", BELOW_ZERO, least),
            detail=detail or "no question was scored both in the middle and closed book",
            role=AS_CLAIM if first.model in TURBO else EXPLORATORY,
        )
        yield replace(question, size=min(measured, key=lambda size: measured[size].value, default=None))


@claim
def encoder_decoder_robust(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each encoder-decoder and experiment, over all sizes: is the best-worst gap below 5 points?

    Sizes whose mean prompt is within the training length are tested for this. Longer sizes are tested for a larger gap
    than that of the largest size within the training length. Both must hold.
    """
    for group in by_sweep(curves(evidence)):
        about = relations.models.get(group[0].model, {})
        if about.get("architecture") == ENCODER_DECODER:
            parts, words = zip(*_gaps(evidence, group, about.get("training_length")), strict=True)
            yield replace(_question(group[0], *parts, detail="; ".join(words)), size=None)


def _gaps(evidence: Evidence, group: Sequence[Curve], training_length: int | None) -> Iterator[tuple[Part, str]]:
    """The part of the claim on each size, with its description."""
    within: Measure | None = None
    for curve in group:
        length = evidence.prompt_tokens(curve.cells)
        if training_length is None or length is None:
            words = f"size {curve.size}: its training length or that of its prompts is not known"
            yield Part("best-worst gap", AT_MOST_SMALL, None, curve.size), words
            continue
        gap = best_worst_gap(evidence, curve)
        measured = f"gap {points(gap.value)}" if gap else "no question was scored at every position"
        words = f"size {curve.size}: prompts of {length:,.0f} tokens, trained on {training_length:,}, {measured}"
        if length <= training_length:
            within = gap or within
            yield Part("best-worst gap", AT_MOST_SMALL, gap, curve.size), words
        else:
            more = minus(gap, within) if gap and within else None
            against = f"within it gap {points(within.value)}" if within else "no size within it to compare with"
            yield Part("gap minus that within the training length", ABOVE_ZERO, more, curve.size), f"{words}, {against}"


@claim
def query_aware(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each query-aware curve: in key-value retrieval, is the worst position above 95 %?

    In other tasks: is the mean difference from the plain curve, over all positions, within 5 points of 0?
    """
    plain_curves = {(curve.model, curve.experiment, curve.size): curve for curve in curves(evidence)}
    for curve in curves(evidence):
        related = relations.experiments.get(curve.experiment, {})
        if not related.get("query_aware_of"):
            continue
        plain = plain_curves.get((curve.model, related["query_aware_of"], curve.size))
        if related["task"] == SOLVED:
            accuracies = [measure for cell in curve.cells if (measure := evidence.accuracy(cell))]
            worst = lowest(accuracies) if len(accuracies) == len(curve.cells) else None
            detail = f"worst position {percent(worst.value)} %" if worst else "a position without a scored question"
            yield _question(curve, Part(WORST_ACCURACY, ALMOST_ONE, worst), detail=detail)
        elif plain:
            at = {cell.placement: cell for cell in plain.cells}
            shared = [(cell, at[cell.placement]) for cell in curve.cells if cell.placement in at]
            change = evidence.contrast(_mean_difference(shared)) if shared else None
            detail = (
                f"{points(change.value)} against {plain.experiment}, mean of {len(shared)} positions"
                if change
                else f"no question was scored in both this and {plain.experiment}"
            )
            yield _question(curve, Part("mean difference from the plain prompt", WITHIN_SMALL, change), detail=detail)


@claim
def base_models_too(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """The question of `u_shape` for base models, from which other models were tuned."""
    return (question for question in u_shape(evidence, relations) if question.models[0] in relations.base_models)


@claim
def primacy_from_13b(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for models of a family with sizes on both sides: is primacy (start - middle) above 0 from 13 billion on?

    Smaller ones are asked: is there no primacy, and is recency (end - middle) above 0?
    """
    sized = {name: about for name, about in relations.models.items() if about.get("family") and about.get("parameters")}
    sides = {(about["family"], about["parameters"] >= LARGE_FROM) for about in sized.values()}
    for curve in curves_with_middle(evidence):
        about = sized.get(curve.model)
        if about and {(about["family"], True), (about["family"], False)} <= sides:
            is_large = about["parameters"] >= LARGE_FROM
            asked = [("primacy", ABOVE_ZERO)] if is_large else [("primacy", NOT_ABOVE_ZERO), ("recency", ABOVE_ZERO)]
            yield contrasts_question(evidence, curve, asked, AS_CLAIM if about["family"] == LLAMA else EXPLORATORY)


@claim
def readers_saturate(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and open-domain experiment: is the gain of accuracy below 5 points and half the gain of
    recall?
    """
    for group in by_sweep(cell for cell in evidence.cells if cell.placement == AS_RETRIEVED):
        if len(group) < 2:
            continue
        *smaller, last = group
        first = min(smaller, key=lambda cell: (abs(cell.size - FROM_SHARE * last.size), cell.size))
        gain, recall = evidence.contrast({last: 1, first: -1}), _recall_gain(evidence, first, last)
        unused = minus(gain, scaled(recall, USED_SHARE)) if gain and recall else None
        between = f"from {first.size} to {last.size} documents"
        recall_words = f"recall {points(recall.value)}" if recall else "the recall at these sizes is not known"
        detail = (
            f"accuracy {points(gain.value)} {between}; {recall_words}"
            if gain
            else f"no question was scored at both, {between}"
        )
        yield _question(
            last,
            Part("accuracy gained", AT_MOST_SMALL, gain),
            Part("accuracy gained minus half the recall gained", BELOW_ZERO, unused),
            detail=detail,
        )


def _recall_gain(evidence: Evidence, first: Cell, last: Cell) -> Measure | None:
    """The gain of recall between two sizes; it is never negative, as larger sizes include the smaller ones."""
    recall = evidence.recall(last.experiment)
    if first.size not in recall or last.size not in recall:
        return None
    (before, n), (after, _) = recall[first.size], recall[last.size]
    more = round((after - before) * n)
    return Measure(more / n, n, lambda confidence: paired_difference(more, 0, n, confidence).limits)


@claim
def more_keys_more_bias(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each of these with a middle at both sizes: is the Position Bias Index higher at 200 pairs?

    The verdict is withheld if a size is at the floor or the ceiling, because its index then carries no information, and
    if their places are at different depths. The difference is paired if the sizes share at least half of their
    questions.
    """
    for pair in _key_pairs(evidence, relations):
        if not all(curve.has_middle for curve in pair):
            continue
        weights = [contrast_weights(curve, "pbi") for curve in pair]
        fewer, more = (evidence.contrast(weight) for weight in weights)
        difference, limits, detail = None, [], "a size without a scored question"
        if fewer and more:
            indices = (
                f"{points(index.value)} at size {curve.size}" for index, curve in zip((fewer, more), pair, strict=True)
            )
            detail = f"Position Bias Index: {', '.join(indices)}"
            limits = [evidence.limit(curve.cells, [*chain(*curve.places)]) for curve in pair]
            limits.append(unlike_places(*(curve.depths for curve in pair)))
            difference = evidence.contrast(weights[1] | {cell: -weight for cell, weight in weights[0].items()})
            if difference is None or not difference.is_paired or difference.n < min(fewer.n, more.n) / 2:
                difference = replace(minus(more, fewer), is_paired=False)
        part = Part(f"pbi minus that at size {pair[0].size}", ABOVE_ZERO, difference)
        yield _question(pair[1], part, detail=detail, withheld=", ".join(dict.fromkeys(filter(None, limits))))


@claim
def more_keys_worse(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and key-value experiment of both sizes: is the mean over positions at like depths lower at
    200 pairs?
    """
    return (_size_question(evidence, pair) for pair in _key_pairs(evidence, relations))


def _key_pairs(evidence: Evidence, relations: Relations) -> Iterator[Sequence[Curve]]:
    """The curves of 100 and of 200 pairs of a model and experiment."""
    of_task = {name for name, related in relations.experiments.items() if related["task"] == KEY_TASK}
    key_curves = (curve for curve in curves(evidence) if curve.experiment in of_task and curve.size in KEY_SIZES)
    return (group for group in by_sweep(key_curves) if len(group) == len(KEY_SIZES))


@claim
def same_form_costs_more(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model, generated task and size: is the mean over the positions lower among texts of the same form
    than among neutral texts?
    """
    return (question for question, task in _fillers(evidence, relations) if task != DOCUMENTS)


@claim
def related_worse_than_random(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """The question of `same_form_costs_more` for documents: retrieved ones against random ones."""
    return (question for question, task in _fillers(evidence, relations) if task == DOCUMENTS)


@claim
def neutral_costs_little(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and experiment with neutral fillers and several sizes: is the mean over positions at like
    depths at the largest size less than 5 points below that at the smallest?
    """
    for group in by_sweep(curves(evidence)):
        if len(group) > 1 and relations.experiments.get(group[0].experiment, {}).get("fillers") == NEUTRAL:
            question = _size_question(evidence, group)
            (part,) = question.parts
            lost = Part("accuracy lost", AT_MOST_SMALL, negated(part.measure) if part.measure else None)
            yield replace(question, parts=(lost,))


@claim
def errors_copy_fillers(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each curve with a middle among fillers with values: do more than half of the wrong answers in the middle
    copy a filler?
    """
    for curve in curves_with_middle(evidence):
        if relations.experiments.get(curve.experiment, {}).get("fillers") in (SAME_FORM, WRONG_ANSWERS):
            share = evidence.copied(curve.places[1])
            detail = (
                f"{percent(share.value)} % of {share.n} wrong answers" if share else "no wrong answer in the middle"
            )
            yield _question(curve, Part("copied among the wrong answers in the middle", MOST, share), detail=detail)


@claim
def primacy_fades_beyond_half(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model with a `training_length` and experiment with sizes on both sides of half of it: is primacy
    above 0 at the largest size within, and lower at the largest size beyond?
    """
    for group in by_sweep(curves_with_middle(evidence)):
        window = relations.models.get(group[0].model, {}).get("training_length")
        lengths = [evidence.prompt_tokens(curve.cells) for curve in group]
        if window is None or None in lengths:
            continue
        is_within = [length <= HALF * window for length in lengths if length is not None]
        if len({*is_within}) == 1:
            continue
        within, beyond = group[is_within.index(False) - 1], group[-1]
        here, there = (evidence.contrast(contrast_weights(curve, "primacy")) for curve in (within, beyond))
        shares = (f"{(lengths[group.index(curve)] or 0) / window:.2f}" for curve in (within, beyond))
        yield _question(
            beyond,
            Part(f"primacy at size {within.size}", ABOVE_ZERO, here),
            Part(
                f"primacy minus that at size {within.size}", BELOW_ZERO, minus(there, here) if here and there else None
            ),
            detail=f"prompts of {' and '.join(shares)} of the training length",
        )


@claim
def no_order_beats_random(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model, experiment on retrieved documents with a random order, and size: is every fixed order less
    than 5 points better than the random one?
    """
    groups: dict[tuple[str, str, int], dict[str, Cell]] = {}
    for cell in evidence.cells:
        about = relations.experiments.get(cell.experiment, {})
        if cell.placement == AS_RETRIEVED and about.get("order") not in (None, MEASURED):
            groups.setdefault((cell.model, about["made_of"], cell.size), {})[about["order"]] = cell
    for (_, experiment, _), orders in groups.items():
        chance = orders.pop(RANDOM, None)
        if chance and orders:
            gains = {order: evidence.contrast({cell: 1, chance: -1}) for order, cell in orders.items()}
            known = {order: gain for order, gain in gains.items() if gain}
            best = largest([*known.values()]) if known else None
            said = ", ".join(f"{order} {points(gain.value)}" for order, gain in known.items())
            yield _question(
                replace(chance, experiment=experiment),
                Part("best fixed order minus random", AT_MOST_SMALL, best),
                detail=f"against a random order: {said}" if said else "no question was scored in both orders",
            )


def _fillers(evidence: Evidence, relations: Relations) -> Iterator[tuple[Question, str]]:
    """For each model, experiment and size, with its task, the mean difference over the positions between fillers of the
    same form and neutral ones.
    """
    by_level = {(curve.model, *_level(curve, relations), curve.size): curve for curve in curves(evidence)}
    for (model, study, level, size), curve in by_level.items():
        neutral = by_level.get((model, study, NEUTRAL, size))
        if level == SAME_FORM and neutral:
            at = {cell.placement: cell for cell in neutral.cells}
            pairs = [(cell, at[cell.placement]) for cell in curve.cells if cell.placement in at]
            change = evidence.contrast(_mean_difference(pairs)) if pairs else None
            shared = f"mean of {len(pairs)} positions"
            detail = f"{points(change.value)}, {shared}" if change else "no question was scored at both levels"
            part = Part("same form minus neutral", BELOW_ZERO, change)
            # From the floor nothing is lost.
            withheld = "floor" if change and evidence.limit(neutral.cells, neutral.cells) == "floor" else ""
            task = relations.experiments[curve.experiment]["task"]
            yield _question(curve, part, detail=detail, withheld=withheld), task


def _level(curve: Curve, relations: Relations) -> tuple[str | None, str | None]:
    """The entry that a curve's experiment is a level of, and its level; None without `fillers`."""
    about = relations.experiments.get(curve.experiment, {})
    return about.get("made_of"), about.get("fillers")


# --- Parts of claims -------------------------------------------------------------------------------------------


def _question(subject: Curve | Cell, *parts: Part, detail: str, withheld: str = "", role: str = AS_CLAIM) -> Question:
    return Question((subject.model,), subject.experiment, subject.size, parts, detail, withheld, role)


def _size_question(evidence: Evidence, group: Sequence[Curve]) -> Question:
    """Whether the last of these curves of one model is lower than the first one that has three positions at like depths
    or, if none has, than the first: by their means over these positions.

    Withheld if both are at the floor, where accuracy cannot fall, or have too few questions.
    """
    *smaller, last = group
    pairs = {curve.size: like_positions(curve.depths, last.depths) for curve in smaller}
    first = next((curve for curve in smaller if len(pairs[curve.size]) > 2), smaller[0])
    first_cells, last_cells = (
        [curve.cells[pair[side]] for pair in pairs[first.size]] for side, curve in enumerate((first, last))
    )
    difference = evidence.difference_of_means(last_cells, first_cells) if len(first_cells) > 1 else None
    if difference is None:
        detail = (
            "a size without a scored question" if len(first_cells) > 1 else "fewer than two positions at like depths"
        )
        return _question(last, Part(f"mean minus that at size {first.size}", BELOW_ZERO, None), detail=detail)
    counts = ((cells[0].size, *evidence.correct(cells)) for cells in (first_cells, last_cells))
    means = [f"{percent(sum(right) / len(right) / n)} % at size {size}" for size, right, n in counts]
    depths = ", ".join(f"{cell.depth:.2f}" for cell in first_cells)
    limits = [evidence.limit(cells, cells) for cells in (first_cells, last_cells)]
    is_silent = {*limits} <= {"floor", "too few questions"}
    return _question(
        last,
        Part(f"mean minus that at size {first.size}", BELOW_ZERO, difference),
        detail=f"mean at about the depths {depths}: {', '.join(means)}",
        withheld=(limits[0] or "") if is_silent and difference.interval(0.95)[1] >= 0 else "",
    )


def _mean_difference(pairs: Sequence[tuple[Cell, Cell]]) -> dict[Cell, float]:
    """Weights of the mean of these differences."""
    return {cell: 1 / len(pairs) for cell, _ in pairs} | {other: -1 / len(pairs) for _, other in pairs}


def curves_with_middle(evidence: Evidence) -> Iterator[Curve]:
    """Every curve with positions near start, middle and end."""
    return (curve for curve in curves(evidence) if curve.has_middle)


def contrasts_question(
    evidence: Evidence, curve: Curve, asked: Sequence[tuple[str, Criterion]], role: str = AS_CLAIM
) -> Question:
    """A question about several of `primacy`, `recency` and `tilt`, on the questions scored at every position.

    The verdict is withheld if start, middle and end are all at the floor or the ceiling, as in position_bias.csv,
    because their differences then carry no information.
    """
    correct, n = evidence.correct(curve.cells)
    right = [[correct[curve.cells.index(cell)] for cell in cells] for cells in curve.places]
    return _question(
        curve,
        *(Part(name, criterion, evidence.contrast(contrast_weights(curve, name))) for name, criterion in asked),
        detail=", ".join(
            f"{place} {percent(sum(counts) / len(counts) / n)} %" for place, counts in zip(PLACES, right, strict=True)
        )
        if n
        else "no question was scored at every position",
        withheld=(evidence.limit(curve.cells, [*chain(*curve.places)]) or "") if n else "",
        role=role,
    )


def contrast_weights(curve: Curve, contrast: str) -> dict[Cell, float]:
    """The weight of each cell of a curve in one of `pbi.CONTRASTS`, on its complete cases."""
    weights = zip(curve.places, CONTRASTS[contrast], strict=True)
    return dict.fromkeys(curve.cells, 0.0) | {cell: weight / len(cells) for cells, weight in weights for cell in cells}


def best_worst_gap(evidence: Evidence, curve: Curve) -> Measure | None:
    """Best minus worst position of a curve, with limits from those of all pairs of positions (`largest`)."""
    differences = _differences(
        evidence, curve, ({first: 1, second: -1} for first, second in combinations(curve.cells, 2))
    )
    both_ways = [*differences, *map(negated, differences)]
    return largest(both_ways) if both_ways else None


def middle_above_between(evidence: Evidence, curve: Curve) -> Measure | None:
    """The smaller of: middle minus the lowest position before it, and middle minus the lowest after it; else None."""
    at = [curve.cells.index(cell) for cell in curve.middle]
    sides = [
        _differences(evidence, curve, [curve.middle | {cell: -1} for cell in cells])
        for cells in (curve.cells[1 : at[0]], curve.cells[at[-1] + 1 : -1])
    ]
    return lowest([largest(side) for side in sides]) if all(sides) else None


def _differences(evidence: Evidence, curve: Curve, weights: Iterable[dict[Cell, float]]) -> list[Measure]:
    """The difference for each of these weights, on the complete cases of the whole curve; [] without these."""
    rest = dict.fromkeys(curve.cells, 0.0)
    differences = [evidence.contrast(rest | weight) for weight in weights]
    return [difference for difference in differences if difference]
