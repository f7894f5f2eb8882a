"""The estimate: what sweeps will take and can show, one table and its notes, before and after anything is here."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from litm.analysis import power
from litm.base.groups import grouped
from litm.base.messages import first_of, in_columns, money
from litm.config.study import Study
from litm.config.sweeps import Model, Sweep
from litm.planning.counting import Estimate
from litm.planning.speed import GPU_FLOPS, SERVED_SECONDS, Rate, gpu_hours, seconds
from litm.planning.tokens import BOUND, COUNTED, MEAN, assumed, cached_shares, fitting, lengths_of, mean_work, too_long
from litm.planning.words import SHOWN, dollars
from litm.records.measures import ANSWER

#: Columns that are summed, and their types; unknown numbers are missing.
SUMMED = {
    **dict.fromkeys(
        ("prompts", "distinct_prompts", "answered", "too_long", "to_ask", "prompt_tokens", "computed_tokens",
         "max_new_tokens"), "Int64"
    ),
    **dict.fromkeys(("hours", "gpu_hours", "dollars", "dollars_as_set"), "Float64"),
}  # fmt: skip
#: All columns of the estimate.
COLUMNS = {
    **dict.fromkeys(("model", "experiment", "measure", "basis"), "string"),
    **SUMMED,
    "n": "Int64",
    "pbi_mde": "Float64",
    "difference_mde": "Float64",
    "n_for_5_points_pbi": "Int64",
    "n_for_5_points_difference": "Int64",
}
#: Columns of money, and headings other than the columns' names.
MONEY = ["dollars", "dollars_as_set"]
HEADINGS = {
    "distinct_prompts": "distinct",
    "computed_tokens": "to compute",
    "max_new_tokens": "new tokens, at most",
    "gpu_hours": "GPU-hours",
    "dollars": "US$, at most",
    "dollars_as_set": "cached or in batches",
}
#: Bases in words.
BASES = {BOUND: "by characters", MEAN: "rule of thumb", COUNTED: "counted"}
#: GPU-hours below which none are printed; short jobs that every study has.
LEAST_HOURS, OTHER_JOBS = 0.1, 40
SERVED_RATE = f"at {SERVED_SECONDS} seconds a prompt, `concurrency` of them at a time, not measured"
UNKNOWN_RATE = "unknown: run one small experiment first, or set tokens_per_second"
UNKNOWN_PRICE = "unknown: set prices, {input: 0, output: 0} if it costs nothing"
#: Heading of the lines on sweeps.
HEADING = "What these numbers of questions can show, with a chance of 80 % (docs/evidence.md):"


def estimates_of(study: Study, counted: Sequence[Estimate]) -> list[Estimate]:
    """The estimates of all sweeps that ask a model: the counted ones, and others by rules of thumb."""
    by_sweep = {(estimate.model, estimate.experiment, estimate.measure): estimate for estimate in counted}
    asked = [sweep for sweep in study.sweeps if sweep.is_asked]
    return [by_sweep.get((*sweep.pair, sweep.measure)) or by_rules_of_thumb(study, sweep) for sweep in asked]


def by_rules_of_thumb(study: Study, sweep: Sweep) -> Estimate:
    """The estimate of a sweep before its prompts are made."""
    fits = fitting(study, sweep)
    work, model = mean_work(study, fits), sweep.model
    cached = cached_shares(study, model, fits.experiment) if model.is_served else None
    questions = sweep.experiment.curve_questions
    return Estimate(*sweep.pair, work.prompts, work, questions=questions, cached=cached, measure=sweep.measure)


def estimate_table(
    study: Study,
    estimates: Sequence[Estimate],
    rates: Mapping[str, Rate | None],
    shown: Mapping[tuple[str, str], Mapping[str, object]] | None = None,
) -> pd.DataFrame:
    """One row per sweep, and one with sums, whose model and experiment are `total`; columns as in `COLUMNS`.

    A sum is missing if one of its parts is. shown: detectable effects, see `what_is_shown`.
    """
    rows = []
    for estimate in estimates:
        work, model = estimate.work, study.asked_models[estimate.model]
        time = seconds(model, work, rates[estimate.model])
        rows.append({
            **{name: getattr(estimate, name) for name in ("model", "experiment", "measure")},
            "basis": BASES[work.basis],
            **{name: getattr(estimate, name) for name in ("prompts", "distinct_prompts", "answered", "too_long")},
            "to_ask": work.prompts,
            "prompt_tokens": round(work.prompt_tokens),
            "computed_tokens": round(work.computed_tokens),
            "max_new_tokens": round(work.answer_tokens),
            "hours": None if time is None else time / 3600,
            "gpu_hours": gpu_hours(model, work) if model.is_local else 0.0,
            "dollars": _dollars(model, estimate),
            "dollars_as_set": _dollars(model, estimate, as_set=True),
            **(shown or {}).get((estimate.model, estimate.experiment), {}),
        })  # fmt: skip
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    total = {name: table[name].sum(skipna=False) for name in SUMMED}
    sums = pd.DataFrame([{"model": "total", "experiment": "total", **total}], columns=list(COLUMNS)).astype(COLUMNS)
    return pd.concat([table, sums], ignore_index=True)


def _dollars(model: Model, estimate: Estimate, as_set: bool = False) -> float | None:
    """The most that an API costs, if each answer has full length; None if unknown. as_set: with the provider's cache,
    or in batches, whose requests are not expected in the cache.
    """
    if not model.is_served or not estimate.work.prompts:
        return 0.0
    if model.all_prices is None:
        return None
    shares = estimate.cached or {} if as_set and not model.batch else {}
    return dollars(model.all_prices, estimate.work, shares, as_set and model.batch)


def as_text(table: pd.DataFrame) -> str:
    """The table for a terminal: a model's sweeps by rules of thumb in one row, thousands separated, a question mark for
    unknown numbers, and only columns that say something.
    """

    def group(row: dict) -> tuple:
        return row["model"], row["measure"], row["basis"] == BASES[MEAN] or row["experiment"]

    rows = []
    for sweeps in grouped(table.astype(object).fillna({"measure": "", "basis": ""}).to_dict("records"), group).values():
        if len(sweeps) > 1:
            sweeps[0] |= {name: _sum([row[name] for row in sweeps]) for name in SUMMED}
            sweeps[0]["experiment"] = f"{len(sweeps)} experiments"
        rows.append(sweeps[0])
    shown = [name for name in ("model", "experiment", "measure", "basis", *SUMMED) if _is_told(table, name)]
    headings = [HEADINGS.get(name, name.replace("_", " ")) for name in shown]
    texts = [[_cell(row[name], name) for name in shown] for row in rows]
    return in_columns([headings, *texts], left=sum(name not in SUMMED for name in shown))


def _sum(values: list) -> Any:
    return None if any(map(pd.isna, values)) else sum(values)


def _is_told(table: pd.DataFrame, name: str) -> bool:
    """Whether a column is worth its room on a terminal."""
    column = table[name].iloc[:-1]
    if name in ("measure", "basis"):
        return not column.eq(ANSWER if name == "measure" else BASES[COUNTED]).all()
    if name == "gpu_hours":
        return bool(column.ge(LEAST_HOURS).any())
    if name in MONEY:
        is_saved = name == MONEY[0] or not table[name].equals(table[MONEY[0]])
        return is_saved and not table["dollars"].eq(0).fillna(False).all()
    return bool(column.notna().any()) or name == "hours"


def _cell(value: Any, column: Hashable) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "?"
    if column in MONEY:
        return money(value)
    return f"{value:,.{0 if value >= 1_000 else 2}f}" if isinstance(value, float) else f"{value:,}"


def notes(study: Study, estimates: Sequence[Estimate], rates: Mapping[str, Rate | None]) -> Iterator[str]:
    """Notes on the table: the origin of its numbers, and what is unknown."""
    asked = {estimate.model: study.asked_models[estimate.model] for estimate in estimates if estimate.work.prompts}
    known_rates = {name: rate for name in asked if (rate := rates[name])}
    for source, names in grouped(known_rates, lambda name: known_rates[name].source).items():
        speeds = first_of([_rounded(known_rates[name].tokens_per_second) for name in names], SHOWN)
        yield f"{first_of(names, SHOWN)}: hours at {speeds} prompt tokens a second, {source}"
    unknown = [name for name in asked if name not in known_rates]
    for is_served, names in grouped(unknown, lambda name: asked[name].is_served).items():
        yield f"{first_of(names, SHOWN)}: hours {SERVED_RATE if is_served else UNKNOWN_RATE}"
    for name, model in asked.items():
        if model.is_served and model.all_prices is None:
            yield f"{name}: US$ {UNKNOWN_PRICE}"
        if model.is_served and model.all_prices and (table := model.all_prices.get("table")):
            yield f"{name}: US$ by {table}, {in_words(model.all_prices)}; its own 'prices' would count instead"
        if any(estimate.model == name and estimate.work.basis == BOUND for estimate in estimates):
            yield (
                f"{name}: tokens estimated from characters, usually too many; to count them, set 'tokenizer' to its "
                "server's, or one like it"
            )
    if any(_dollars(study.asked_models[estimate.model], estimate) != 0 for estimate in estimates):
        yield "US$ are at most: they count each answer as long as is allowed"


def in_words(prices: Mapping[str, Any]) -> str:
    """Prices of a table in words: those of prompts and answers, and of long prompts, which count for a whole sweep."""
    above = [f"{_pair(higher)} above {int(start):,} tokens" for start, higher in prices.get("above", {}).items()]
    plain = f"{_pair(prices)} per million tokens of prompts and answers"
    return f"{plain} ({', '.join(above)}, by a sweep's longest prompt)" if above else plain


def _pair(prices: Mapping[str, Any]) -> str:
    return f"{prices['input']:g} and {prices['output']:g}"


def _rounded(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def notes_on_rules(study: Study, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Notes on what is not counted, by the rules of thumb for it."""
    sweeps = [
        study.sweep(estimate.model, estimate.experiment, estimate.measure)
        for estimate in estimates
        if estimate.work.basis == MEAN
    ]
    is_printed = any(lengths_of(study, sweep.model.name, sweep.experiment).printed for sweep in sweeps)
    printed = "as in Tables 2 to 4 of the paper, or by these, else " if is_printed else ""
    yield (
        f"Rules of thumb: tokens {printed}by the kind of context; to compute, common beginnings of prompts once; "
        f"GPU-hours, of all GPUs together{_several_gpus(study)}, two operations for each parameter and token, "
        f"{GPU_FLOPS:.0e} a second, wrong by up to a factor of three"
    )
    yield from [*too_long(study, sweeps), *assumed(study, dict.fromkeys(sweep.experiment.name for sweep in sweeps))]
    yield from (f"Not counted, {line}" for line in study.left_out)
    asking = sum(getattr(sweep.model, "shards", 1) for sweep in study.sweeps if sweep.is_asked)
    cells = sum(len(experiment.cells) for experiment in study.experiments.values())
    others = cells + 2 * len(study.experiments) + 3 * len(study.pairs()) + OTHER_JOBS
    yield f"Jobs: {asking:,} that ask a model, about {others:,} short ones (examples, scores, tables, figures)."


def _several_gpus(study: Study) -> str:
    """Words on the models that take several GPUs at once."""
    numbers = {name: model.used_gpus for name, model in study.asked_models.items() if model.is_local}
    several = [f"{number} at once for {name}" for name, number in numbers.items() if number > 1]
    return f" ({'; '.join(several)})" if several else ""


def what_is_shown(
    sweeps: Mapping[tuple[str, str], int | None], results: Path
) -> tuple[dict[tuple[str, str], Mapping[str, object]], list[str]]:
    """What the questions of sweeps with curves detect with a power of 80 %, and the questions that an effect needs.

    By model and experiment, the columns for the table of the estimate: smallest detectable effects, missing if there is
    none, and questions for 5 points. And lines on groups of like sweeps. sweeps: the questions of each one's curves;
    results: the folder with earlier scores.
    """
    columns: dict[tuple[str, str], Mapping[str, object]] = {}
    lines: dict[tuple, list[Any]] = {}
    models = list(dict.fromkeys(model for model, _ in sweeps))
    for (model, experiment), questions in sweeps.items():
        if not questions:
            continue
        assumed, source = power.earlier(results, model, experiment, models)
        columns[model, experiment] = {
            "n": questions,
            "pbi_mde": power.detectable_effect("pbi", questions, assumed),
            "difference_mde": power.detectable_effect("primacy", questions, assumed),
            "n_for_5_points_pbi": power.questions_needed("pbi", power.FIVE_POINTS, assumed),
            "n_for_5_points_difference": power.n_for_five_points(assumed),
        }
        lines.setdefault((experiment, power.shown_in_words(questions, assumed, source)), []).append(model)
    like = [f"{experiment} ({', '.join(models)}): {effects}" for (experiment, effects), models in lines.items()]
    return columns, [HEADING, *like] if like else []
