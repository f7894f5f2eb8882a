"""One table over studies: the models of several results folders, side by side where their numbers are comparable.

Writes studies.html (a page with sortable tables), studies.csv and studies.json. Their format, and what is comparable,
is in docs/studies.md. Folders are only read, and may be of another version of the project.

results: results folders. A study has the name of its folder, or of the one above a folder `results`; NAME=FOLDER gives
    it another
output: a folder for the files
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from litm.analysis.studies import PLACES, Sweep, comparable
from litm.base.cli import program
from litm.base.files import read_text, write_text
from litm.base.groups import grouped
from litm.base.json_files import read_json, write_json
from litm.base.messages import UserError, note
from litm.base.store import digest
from litm.base.table_files import csv_text, plain_rows, read_csv
from litm.figures.chart import places_in_words
from litm.notebook import Results
from litm.report.page import template
from litm.report.page_tables import NOTED, noted_as
from litm.report.provenance import NOT_KNOWN, Making, making, placements
from litm.report.sizes import SizeNames
from litm.scoring.doubts import doubt_in_words
from litm.tables.table import TEXT, tables

if TYPE_CHECKING:
    from litm.tables.commands import StudiesRow

#: Files of the page, and their folder in the project.
SOURCES = ("studies/studies.html.j2", "studies/studies.js", "report/report.css")
RESOURCES = Path(__file__).parents[2] / "resources"
#: Fields of a study's selection in studies.json.
SELECTED = ("config", "models", "datasets", "seed")
#: Tables of a study that are read, and columns of the page's tables of effective lengths.
READ = ("accuracy", "position_bias", "effective_length", "token_counts")
LENGTHS = ("model", "study", "size_in_words", "tokens", "loss", "loss_confidence", "effective_length")
LOSS = "loss: best position of the smallest size minus worst position of this one, with limits at the given confidence"
#: Files of a model folder that may have its chat template, the likelier first.
CHAT_TEMPLATES = ("chat_template.jinja", "tokenizer_config.json")
TABLE = tables()["studies"]


@program
def main(results: tuple[str, ...], output: Path) -> None:
    studies = named_studies(results)
    if any(output.resolve().is_relative_to(study.folder.resolve()) for study in studies.values()):
        raise UserError(f"--output {output}: in one of the results folders, which are only read: name another")
    groups = comparable(sweep for name, study in studies.items() for sweep in read_sweeps(name, study))
    about = [{"study": name, **{key: study.selection.get(key) for key in SELECTED}} for name, study in studies.items()]
    write_text(output / "studies.csv", csv_text(TABLE.frame(row for group in groups for row in group["rows"])))
    write_json(output / "studies.json", {"version": 1, "studies": about, "tables": groups})
    shown = [*map(_of_group, groups), *_lengths(groups)]
    source, script, style = (Markup(read_text(RESOURCES / name)) for name in SOURCES)
    made_of = {"about": about, "tables": shown, "script": script, "style": style}
    write_text(output / "studies.html", template({"page": source}, "page").render(made_of))
    note(f"{output}: studies.html, .csv and .json, {len(groups)} tables over {len(studies)} studies")


def named_studies(results: Sequence[str]) -> dict[str, Results]:
    """The studies by name; `UserError` for a folder that is none, and for two of one name."""
    named: dict[str, Results] = {}
    for word in results:
        name, _, folder = word.rpartition("=") if not Path(word).exists() else ("", "", word)
        whole = Path(folder).resolve()
        name = name or (whole.parent.name if whole.name == "results" else whole.name)
        if name in named:
            raise UserError(f"{named[name].folder} and {folder} are both named '{name}': name one as ANOTHER={folder}")
        named[name] = Results(Path(folder))
    return named


# --- Reading -------------------------------------------------------------------------------------------------


def read_sweeps(name: str, study: Results) -> Iterator[Sweep]:
    """The sweeps of one study by size; `UserError` for a study of a version that cannot be read."""
    try:
        yield from _sweeps(name, study)
    except (KeyError, TypeError, ValueError) as error:
        why = f"of a version of the project that this one cannot read ({type(error).__name__}: {error})"
        raise UserError(f"{study.folder}: {why}: run the study again, which asks nothing, or leave it out") from error


def _sweeps(name: str, study: Results) -> Iterator[Sweep]:
    accuracy, curves, lengths, counts = (_by_size(study, table) for table in READ)
    sizes = SizeNames([*study.selection.get("figures", {}).values()])
    answers = cache(partial(_answers, study))
    for key, cells in accuracy.items():
        (model, experiment, size), settings = key, study.experiments[key[1]]
        length, tokens = lengths.get(key, [{}])[0], [count["tokens_mean"] for count in counts.get(key, ())]
        scores, why = answers(model, experiment)
        about: StudiesRow = {
            "study": name,
            "label": f"{name}: {model}",
            "title": settings["title"],
            "size_in_words": sizes(experiment, size),
            **how_made(study, model, experiment),
            "tokens": fmean(tokens) if tokens and None not in tokens else None,
            "loss": length.get("loss"),
            "loss_ci_low": length.get("ci_low"),
            "loss_ci_high": length.get("ci_high"),
            "loss_confidence": length.get("confidence"),
            "effective_length": length.get("effective_length"),
        }
        for curve in curves.get(key, cells):
            placed = [cell for cell in cells if curve["placement"] in (None, cell["placement"])]
            row: dict = {key: curve.get(key) for key in TABLE.columns}
            row |= {**about, **_counts(placed), **_accuracies(placed, curve)}
            row["shape"] = row["shape"] or (curve.get("reason") and f"none ({doubt_in_words(curve['reason'])})")
            row["positions"] = ", ".join(dict.fromkeys(places_in_words(cell["placement"]) for cell in placed))
            if (rows := scores) is not None:
                rows = rows[(rows["size"] == size) & (rows["placement"].isin([cell["placement"] for cell in placed]))]
                row["prompts"] = digest(sorted({*rows["id"]}))[:12]
            yield Sweep(row, settings, rows, why, bool(manifest_of(study, model, experiment).get("not_compared")))


def how_made(study: Results, model: str, experiment: str) -> "StudiesRow":
    """How the answers of a sweep were made, by column; positions: of all sizes."""
    settings, manifest = study.experiments[experiment], manifest_of(study, model, experiment)
    details = making(manifest) if manifest else Making("")
    data = {
        dataset["name"]: f"{dataset['name']} ({dataset['version'] or 'no version'}, sha256 {dataset['sha256']:.12})"
        for dataset in study.selection["datasets"]
    }
    return {
        "prompt": settings["prompt"],
        "positions": placements(settings.get("cells", ())),
        "data": ", ".join(data.get(name, name) for name in dict.fromkeys(settings["datasets"].values()))
        or ("generated" if settings["prompt"] else NOT_KNOWN),
        "decoding": details.decoding,
        "number_format": details.dtype,
        "prompt_format": _prompt_format(details.prompt_format, manifest.get("identity_fields", {})),
    }


def _prompt_format(name: str, identity: Mapping) -> str:
    """A prompt format with the digest of its template, unless prompts are sent as they are."""
    template, files = identity.get("template"), identity.get("source", {}).get("files", {})
    if name in ("raw", NOT_KNOWN):
        return name
    sha256 = digest(template) if template else next((files[file] for file in CHAT_TEMPLATES if file in files), None)
    return f"{name} (template {f'sha256 {sha256:.12}' if sha256 else 'not known'})"


def manifest_of(study: Results, model: str, experiment: str) -> dict[str, Any]:
    """The manifest of a sweep's responses; {} for a study without it."""
    path = study.folder / "responses" / model / f"{experiment}.manifest.json"
    return read_json(path) if path.exists() else {}


def _answers(study: Results, model: str, experiment: str) -> tuple[pd.DataFrame | None, str]:
    """The scores of a sweep with ids by prompts; None with the reason if the study does not have them.

    Questions of verdicts without prompts are compared within their study alone.
    """
    try:
        if study.experiments[experiment]["prompt"] is None:
            scores = study.scores(model, experiment)
            return scores.assign(id=f"{study.selection['config']} " + scores["id"], text=None, folder=""), ""
        return study.scores_by_prompt(model, experiment), ""
    except UserError as error:
        return None, str(error).removeprefix(f"{study.folder}/")


def _by_size(study: Results, name: str) -> dict[tuple, list[dict]]:
    """Rows of a table by model, experiment and size, with its columns there; {} without one but the first."""
    path = study.folder / "tables" / f"{name}.csv"
    rows = plain_rows(read_csv(path, tables()[name].dtypes)) if path.exists() or name == READ[0] else ()
    return grouped(rows, itemgetter("model", "experiment", "size"))


def _counts(cells: Sequence[Mapping]) -> dict[str, Any]:
    """Counts of answers in these cells, None where one is unknown, and the same in words."""
    values = {words: [cell[name] for cell in cells] for words, name in NOTED.items()}
    counts = {words: None if None in numbers else sum(numbers) for words, numbers in values.items()}
    parts = [f"{noted_as(words, counts)}: {count:,}" for words, count in counts.items() if count]
    if unknown := [noted_as(words, counts) for words, count in counts.items() if count is None]:
        parts.append(f"{', '.join(unknown)}: {NOT_KNOWN}")
    answers = f"{sum(cell['n'] for cell in cells):,}"
    return {NOTED[words]: count for words, count in counts.items()} | {"noted": ", ".join([answers, *parts])}


def _accuracies(cells: Sequence[Mapping], curve: Mapping) -> dict[str, Any]:
    """Accuracies with their limits at the places of a curve, or that of the one cell without a curve."""
    places = {f"accuracy_{place}": curve.get(f"position_{place}") for place in PLACES}
    at_places = {
        place: cell for place, at in places.items() for cell in cells if at is not None and cell["position"] == at
    }
    at_places |= {} if "pbi" in curve else {"accuracy": curve}
    columns = {"": "accuracy", "_ci_low": "ci_low", "_ci_high": "ci_high"}
    # A middle of two positions is no cell, and so has no limits here.
    means = {place: curve[place] for place in places if place in curve}
    return means | {f"{place}{end}": cell[name] for place, cell in at_places.items() for end, name in columns.items()}


# --- The page's tables ---------------------------------------------------------------------------------------


def _of_group(group: Mapping) -> dict:
    first = group["rows"][0]
    where = [first["title"], first["size_in_words"]]
    where += [first["positions"]] if first["placement"] and first["accuracy"] is None else []
    about = [f"{key} {first[key] or 'not known'}" for key in ("metric", "prompt", "data", "positions", "prompts")]
    caption = f"Table {first['table']}. {', '.join(where)}"
    return _shown(first["title"], caption, "; ".join(about), group["notes"], TABLE.report, group["rows"])


def _lengths(groups: Sequence[Mapping]) -> Iterator[dict]:
    """Effective lengths, in one table for those over the same groups, so that all their prompts are the same."""
    measured = (row for group in groups for row in group["rows"] if row["effective_length"])
    sweeps = grouped(measured, itemgetter("label", "experiment"))
    over = grouped(sweeps.values(), lambda sweep: tuple(row["table"] for row in sweep))
    for numbers, several in sorted(over.items()):
        rows = [row for sweep in several for row in sweep]
        caption = f"{rows[0]['title']}, tables {', '.join(map(str, numbers))}"
        yield _shown("Effective length", caption, LOSS, (), LENGTHS, rows)


def _shown(title: str, caption: str, about: str, notes: Sequence, names: Sequence[str], rows: Sequence[dict]) -> dict:
    """A table of the page, with the columns that have values: cells are (text, letters, value)."""
    names = [name for name in names if any(row[name] is not None for row in rows)]
    columns = {TABLE.columns[name].heading: TABLE.columns[name].dtype == TEXT for name in names}
    cells = [
        [(text, row.get(f"{name}_letters") or "", row[name]) for name, text in zip(names, texts, strict=True)]
        for row, texts in zip(rows, TABLE.cells(TABLE.frame(rows), names), strict=True)
    ]
    return {"title": title, "caption": caption, "about": about, "notes": notes, "headings": columns, "rows": cells}
