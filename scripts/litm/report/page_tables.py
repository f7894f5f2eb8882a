"""Numbers of the page: findings in words, the study's tables, accuracies by position, tokens used; files to save."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import cast

import pandas as pd

from litm.analysis.questions_to_check import gold_counts
from litm.base.groups import grouped
from litm.base.messages import in_range, interval_of, money, percent
from litm.base.table_files import csv_text, plain_rows
from litm.claims.statements import CLAIMS
from litm.figures.chart import places_in_words, target_labels
from litm.findings.kinds import KINDS
from litm.findings.record import Finding
from litm.findings.words import sentence
from litm.records.bills import Prices, Usage
from litm.report.charts import forest
from litm.report.question_samples import packed
from litm.report.sizes import SizeNames
from litm.scoring.doubts import doubt_in_words
from litm.scoring.metrics import METRICS, own_label
from litm.scoring.scores import by_chance, chances
from litm.tables.table import TEXT, Table, as_latex, tables

_ALL = [table for table in tables().values() if table.report]
#: Tables of the section `Tables`, in their order.
SHOWN = tuple(table for table in _ALL if not table.section)
#: Tables with a section of their own.
COMPARISONS = tuple(table for table in _ALL if table.section)
#: Names of the tables that are shown unfolded, and the number of rows up to which they are.
OPEN_TABLES, FEW_ROWS = ("advice",), 24


#: Words on bills, by whether some tokens have one, and some have none.
RECORDED = {(True, False): "recorded", (True, True): "partly", (False, True): "not recorded", (False, False): ""}
#: Characters: a longer text counts as a sentence.
SENTENCE = 80


@dataclass(frozen=True)
class Numbers:
    """The numbers of the page, after the first screen and the figures."""

    measures: str
    accuracies: Sequence[Mapping]
    """See `accuracy_tables`."""
    forest: Mapping | None
    """See `charts.forest`."""
    sentences: Mapping[str, Sequence[str]]
    """Findings in words, without warnings and advice, by the title of their experiments."""
    claims: Mapping | None
    """See `claims_in_words`."""
    comparisons: Sequence[Mapping]
    """Tables with a section of their own, see `shown_tables`; also the next two."""
    tables: Sequence[Mapping]
    tokens: Sequence[Mapping]
    tokens_in_words: Sequence[str]
    files: str
    """See `packed_files`."""
    files_left_out: Sequence[str]


def numbers(
    findings: Sequence[Finding],
    frames: Mapping[str, pd.DataFrame],
    manifests: Sequence[Mapping],
    prices: Mapping[str, Mapping | None],
    titles: Mapping[str, str],
    names: SizeNames,
    models: Sequence[str],
) -> Numbers:
    """The numbers of the page.

    findings: all of the study; frames: its tables by name; prices: by model, None for free ones; titles: of
    experiments; models: in the order of the study, which decides their colours.
    """
    if (gold := frames.get("gold_passages")) is not None:
        frames = {**frames, "gold_counts": gold_counts(gold)}
    used = token_table(manifests, prices)
    accuracies = accuracy_tables(frames["accuracy"], titles, names)
    files = table_files([*SHOWN, *COMPARISONS], {**frames, "tokens_used": used})
    kept, left_out = packed_files({**files, **accuracy_files(accuracies)})
    return Numbers(
        measures=measures(frames["accuracy"]),
        accuracies=accuracies,
        forest=forest(frames.get("position_bias"), models, names),
        sentences=findings_in_words(findings, titles),
        claims=claims_in_words(frames),
        comparisons=shown_tables(frames, COMPARISONS),
        tables=shown_tables(frames, SHOWN),
        tokens=shown_tables({"tokens_used": used}, COMPARISONS),
        tokens_in_words=[*tokens_in_words(used, prices)],
        files=kept,
        files_left_out=left_out,
    )


def findings_in_words(findings: Iterable[Finding], titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Findings as sentences, without warnings and advice, by the title of their experiments."""
    by_title: dict[str, list[str]] = {}
    for finding in findings:
        if finding.kind not in ("advice", "session_remedies") and not KINDS[finding.kind].is_warning:
            title = ", ".join(titles.get(experiment, experiment) for experiment in finding.experiments)
            by_title.setdefault(title or "All experiments", []).append(sentence(finding))
    return by_title


def claims_in_words(frames: Mapping[str, pd.DataFrame]) -> dict | None:
    """{asked, others} from claims.csv; None without it.

    asked: tested claims {statement, section, finding, status}; others: claims not tested {statement, needs}.
    """
    if "claims" not in frames:
        return None
    asked, others = [], []
    by_claim = grouped(plain_rows(frames["claims"]), itemgetter("claim"))
    for claim in CLAIMS:
        row, *_ = by_claim[claim.name]
        if row["experiment"] is None:
            others.append({"statement": claim.statement, "needs": claim.needs})
            continue
        # What later works say of the paper's claim is no verdict on this study's models.
        status = "Later works support the paper's claim." if row.get("status") == "supported" else ""
        if row.get("contested_by"):
            status = f"Later works contest the paper's claim: {row['contested_by']}."
        asked.append({**{key: row[key] for key in ("statement", "section", "finding")}, "status": status})
    return {"asked": asked, "others": others}


def shown_tables(frames: Mapping[str, pd.DataFrame], tables: Sequence[Table] = SHOWN) -> list[dict]:
    """Tables with rows, each as {name, section, title, note, headings, rows, is_open, is_wordy}.

    Headings are {text, is_text, column}, cells pairs: a text, and whether its column has words. is_open: whether the
    table is unfolded. is_wordy: whether it has sentences, so that a narrow screen shows its cells one below another.
    Columns that a table lacks are left out.
    """
    return [
        {
            **{key: getattr(table, key) for key in ("name", "section", "title", "note")},
            "headings": [
                {"text": text, "is_text": is_text, "column": column}
                for column, text, is_text in zip(names, headings, is_text, strict=True)
            ],
            "rows": [list(zip(row, is_text, strict=True)) for row in cells],
            "is_open": table.name in OPEN_TABLES and len(cells) <= FEW_ROWS,
            "is_wordy": any(len(cell) > SENTENCE for row in cells for cell in row),
        }
        for table, _, names, headings, is_text, cells in _with_rows(tables, frames)
    ]


def _with_rows(tables: Iterable[Table], frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple]:
    """Tables that have rows: itself, its rows, and, of the page's columns, names, headings, whether they are words,
    and cells.
    """
    for table in tables:
        frame = frames.get(table.name)
        if frame is not None and len(frame):
            names = [name for name in table.report if name in frame]
            columns = [table.columns[name] for name in names]
            is_text = [column.dtype == TEXT for column in columns]
            cells = table.cells(_named(frame, frames.get("accuracy")), names)
            yield table, frame, names, [column.heading for column in columns], is_text, cells


def _named(frame: pd.DataFrame, accuracy: pd.DataFrame | None) -> pd.DataFrame:
    """A table as it is shown: `accuracy` among its quantities is the label of the experiment's metric, if it has one
    of its own; accuracy: the table of that name.
    """
    if accuracy is None or not {"experiment", "quantity"} <= {*frame}:
        return frame
    labels = {row["experiment"]: own_label(row["metric"]) for row in plain_rows(accuracy)}
    rows = plain_rows(frame)
    return frame.assign(
        quantity=[(row["quantity"] == "accuracy" and labels.get(row["experiment"])) or row["quantity"] for row in rows]
    )


#: Counts that a row mentions if they are not 0: words and column.
NOTED = {
    "cut": "n_cut", "empty": "n_empty", "refused": "n_refused", "failed": "n_failed",
    "not recorded": "n_not_recorded", "left out": "n_left_out",
}  # fmt: skip


def noted_as(words: str, counts: Mapping[str, int | None]) -> str:
    """The words of a count; empty answers may be among those cut and refused, which are counted too."""
    also = [other for other in ("cut", "refused") if counts[other]] if words == "empty" else []
    return f"{words} ({' and '.join(also)} ones included)" if also else words


def accuracy_tables(accuracy: pd.DataFrame, titles: Mapping[str, str], names: SizeNames) -> list[dict]:
    """One table {title, headings, rows} per experiment and size: rows are models, columns are positions.

    A row is {name, cells, n, noted}, a cell {value, limits}; noted: cut, empty and lost answers in words. An experiment
    without positions has one table whose columns are its sizes. An experiment with several gold items per prompt has
    gold items as columns, and rows of model and placement.
    """
    by_experiment = []
    for name, cells in accuracy.groupby("experiment", sort=False):
        experiment, title = str(name), titles[str(name)] + _in_brackets(cells)
        if (cells.groupby(["model", "size"]).size() == 1).all():
            columns = [names(experiment, int(size)) for size in cells["size"]]
            by_experiment.append(_table(title, cells.assign(column=columns), several=False))
            continue
        for size, of_size in cells.groupby("size", sort=False):
            named = (title, names.with_length(experiment, cast(int, size)), by_chance(chances(of_size)))
            what = ", ".join(filter(None, named))
            several = of_size["target"].nunique() > 1
            column = target_labels(of_size) if several else of_size["placement"].map(places_in_words)
            by_experiment.append(_table(what, of_size.assign(column=column), several))
    return by_experiment


def measures(accuracy: pd.DataFrame) -> str:
    """What the study measures: `Accuracy`, or the labels of its metrics, `Accuracy and Token F1`."""
    return " and ".join(dict.fromkeys(METRICS[metric].label for metric in accuracy["metric"].unique()))


def _in_brackets(cells: pd.DataFrame) -> str:
    """After an experiment's title: the label of its metric, if it is not the usual one."""
    label = own_label(cells["metric"].iloc[0])
    return label and f" ({label})"


def _table(title: str, cells: pd.DataFrame, several: bool) -> dict:
    headings = list(dict.fromkeys(cells["column"]))
    keys = ["model", "placement"] if several else ["model"]
    rows = []
    for key, group in cells.groupby(keys, sort=False):
        model, *placement = cast(tuple[str, ...], key)
        by_column = {row["column"]: row for row in plain_rows(group)}
        counts = {words: int(group[name].fillna(0).sum()) for words, name in NOTED.items()}
        rows.append(
            {
                "name": ", ".join([model, *map(places_in_words, placement)]),
                "cells": [_cell(by_column.get(heading)) for heading in headings],
                "n": in_range(group["n"]),
                "noted": ", ".join(
                    [
                        *(f"{count:,} {noted_as(words, counts)}" for words, count in counts.items() if count),
                        *map(doubt_in_words, group["doubt"].dropna().unique() if "doubt" in group else ()),
                    ]
                ),
            }
        )
    return {"title": title, "headings": headings, "rows": rows, "has_noted": any(row["noted"] for row in rows)}


def _cell(row: Mapping | None) -> dict:
    if row is None or row["accuracy"] is None:
        return {"value": "-", "limits": ""}
    return {"value": percent(row["accuracy"]), "limits": interval_of(row)}


def token_table(manifests: Sequence[Mapping], prices: Mapping[str, Mapping | None]) -> pd.DataFrame:
    """One row per sweep, without recorded responses: its tokens, the tokens of its last run, and its cost.

    prices: `input` and `output` in US dollars per million tokens, by model that costs money; None where unknown.
    saved: fraction of the last run's prompt tokens that were not computed. Values are missing if only a server knows
    them or nothing was asked.
    """
    rows = [_tokens_of(manifest, prices) for manifest in manifests if manifest["prompt_tokens"] is not None]
    return tables()["tokens_used"].frame(rows)


def _tokens_of(manifest: Mapping, prices: Mapping[str, Mapping | None]) -> dict:
    work = manifest["work"] or {}
    all_of_it, computed = work.get("prompt_tokens"), work.get("computed_tokens")
    price = prices.get(manifest["model"])
    billed = [Usage.sum_from_json(counts) for counts in manifest.get("billed", ())]
    unbilled = manifest["prompt_tokens"] - sum(usage.prompt for usage in billed)
    unknown = (
        [Usage(unbilled, 0, 0, manifest["response_tokens"] - sum(usage.output for usage in billed), longest=0)]
        if unbilled > 0
        else []
    )
    return {
        "model": manifest["model"],
        "experiment": manifest["experiment"],
        "n_answers": sum(manifest["made_with"].values()),
        "prompt_tokens": manifest["prompt_tokens"],
        "response_tokens": manifest["response_tokens"],
        "last_asked": manifest["asked"],
        "last_prompt_tokens": all_of_it,
        "last_computed_tokens": computed,
        "saved": 1 - computed / all_of_it if all_of_it and computed is not None else None,
        "dollars": price
        and sum(Prices.from_entry(price).dollars(usage) for usage in [*billed, *unknown] if not usage.elsewhere),
        "bill": (RECORDED[bool(billed), bool(unknown)]) if manifest["model"] in prices else None,
    }


def tokens_in_words(table: pd.DataFrame, prices: Mapping[str, Mapping | None]) -> Iterator[str]:
    """Sums of the token table, one sentence each."""
    if table.empty:
        return
    sums = table[["n_answers", "prompt_tokens", "response_tokens"]].sum()
    yield (
        f"{sums['n_answers']:,} answers to {sums['prompt_tokens']:,} tokens of prompts, with "
        f"{sums['response_tokens']:,} tokens of their own."
    )
    with_savings = table[table["saved"].notna()]
    if not with_savings.empty:
        asked, computed = with_savings["last_prompt_tokens"].sum(), with_savings["last_computed_tokens"].sum()
        yield (
            f"In the last run of {len(with_savings)} sweeps {computed:,} of {asked:,} prompt tokens were computed: "
            f"shared prefixes of prompts saved {100 * (1 - computed / asked):.1f}\u00a0%."
        )
    if table["dollars"].notna().any():
        tables = {name: price["table"] for name, price in prices.items() if price and "table" in price}
        looked_up = [f"{other} ({', '.join(tables)})" for other in dict.fromkeys(tables.values())]
        by = [*(["in the config"] if any(price and "table" not in price for price in prices.values()) else ())]
        sources = " and ".join([*by, *(f"of {source}" for source in looked_up)])
        yield f"By the prices {sources}, these answers cost US$ {money(table['dollars'].sum())}."
    unknown = [model for model, price in prices.items() if price is None and (table["model"] == model).any()]
    if unknown:
        yield f"The cost of {', '.join(unknown)} is unknown: the config has no prices."


#: Characters of all packed tables, at most; the largest tables are left out and the page names them.
MOST_CHARACTERS = 4_000_000


def packed_files(files: Mapping[str, str]) -> tuple[str, list[str]]:
    """Files by name as one gzip in base64, and the names of the files left out, the largest first."""
    kept = dict(files)
    left_out = []
    while len(text := packed(kept)) > MOST_CHARACTERS:
        largest = max(kept, key=lambda name: len(kept[name]))
        left_out.append(largest)
        del kept[largest]
    return text, left_out


def table_files(tables: Iterable[Table], frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """`name.csv` with all columns and `name.tex` with the page's columns, for each table that exists."""
    files = {}
    for table, frame, _, *shown in _with_rows(tables, frames):
        files[f"{table.name}.csv"] = csv_text(frame, p_values=table.p_values)
        files[f"{table.name}.tex"] = as_latex(*shown)
    return files


def accuracy_files(tables: Sequence[Mapping]) -> dict[str, str]:
    """`accuracy_by_position_N.tex` for each table of `accuracies.accuracy_tables`."""
    files = {}
    for number, table in enumerate(tables, start=1):
        headings = ["Model", *table["headings"], "n"]
        rows = [
            [row["name"], *(f"{cell['value']} {cell['limits']}".strip() for cell in row["cells"]), row["n"]]
            for row in table["rows"]
        ]
        is_text = [True] + [False] * (len(headings) - 1)
        files[f"accuracy_by_position_{number}.tex"] = f"% {table['title']}\n{as_latex(headings, is_text, rows)}"
    return files
