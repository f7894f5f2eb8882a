"""The page: the template with all contents, rendered as one self-contained file."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
import pandas as pd
from markupsafe import Markup

from litm.analysis.questions_to_check import gold_counts
from litm.figures.chart import models_in
from litm.report import page_tables, phrases, provenance
from litm.report.charts import chart, forest
from litm.report.page_tables import COMPARISONS, SHOWN, shown_tables
from litm.report.question_samples import most_of_a_size, pack

#: Characters for the questions, whatever figures and tables take.
SAMPLE_CHARACTERS = 16_000_000
#: Pixels of a picture from which on it takes the page's whole width.
WIDE_PIXELS = 1_700
#: Scripts of the page, in their order.
SCRIPTS = ("packed.js", "charts.js", "question_filters.js", "question_samples.js", "downloads.js")


@dataclass(frozen=True)
class Contents:
    """Contents of a report."""

    tables: Mapping[str, pd.DataFrame]
    """By name."""
    figures: Sequence[Mapping]
    """Settings of each, with `recall`, see `charts.chart`."""
    pictures: Mapping[str, bytes]
    """PNG files by figure name, empty if there is nothing to draw."""
    manifests: Sequence[Mapping]
    samples: Mapping[str, Sequence[Mapping]]
    """Records of `question_samples.question_records` by experiment."""
    experiments: Sequence[Mapping]
    """Settings of each, with the description `asks` of its task."""
    prices: Mapping[str, Mapping | None]
    """By model, None for free ones."""
    datasets: Sequence[Mapping]
    """One row by heading per file of questions."""
    seed: int
    models: Sequence[str]
    """In the order of the study, which decides their colours."""
    commit: str | None
    """The workflow's, None if unknown."""
    config: str
    """Digest of the config's selection."""
    about: Mapping[str, Mapping]
    """The catalogue's descriptions, by model."""
    formats: Mapping[str, Mapping]
    """Output of make_prompt_format.py by model."""
    stand_ins: Sequence[str] = ()
    """See `ModelPlan`."""
    filled: Sequence[str] = ()
    """Sentences on few clusters and filled-in documents."""

    @property
    def titles(self) -> dict[str, str]:
        """The title of each experiment."""
        return {experiment["name"]: experiment["title"] for experiment in self.experiments}

    @property
    def sizes(self) -> phrases.SizeNames:
        """Sizes in words."""
        return phrases.SizeNames(self.figures, self.experiments, self.tables.get("token_counts"))


def render_report(sources: Mapping[str, str], contents: Contents) -> str:
    """The report's HTML; the same contents give the same text.

    sources: the text of template, style and scripts, by the names of their files in resources/report.
    """
    return template(sources, "report.html.j2").render(
        style=Markup(sources["report.css"]),
        scripts=[Markup(sources[name]) for name in SCRIPTS],
        **_first_screen(contents),
        **_numbers(contents),
        **_questions(contents),
        **_provenance(contents),
    )


def template(sources: Mapping[str, str], name: str) -> jinja2.Template:
    """One of the templates, by the names of their files."""
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _first_screen(contents: Contents) -> dict:
    """The first screen: counts, advice, warnings, and the curves with one sentence each."""
    tables, models = contents.tables, models_in(contents.tables["accuracy"])
    counted, *sentences = phrases.overview(
        tables["accuracy"], tables.get("position_bias"), tables.get("published_comparison")
    )
    figures = [
        _figure(figure, contents, len(models) > 1) for figure in contents.figures if contents.pictures[figure["name"]]
    ]
    return {
        "counted": counted,
        "told": sentences,
        **phrases.first_answers(tables, contents.manifests, contents.experiments, contents.stand_ins, contents.filled),
        "asked": phrases.named_briefly([*dict.fromkeys(contents.titles.values())]),
        "asked_of": phrases.named_briefly(models),
        "figures": [figure for figure in figures if not figure["is_wrong"]],
        "wrong_figures": [figure for figure in figures if figure["is_wrong"]],
        "kinds": phrases.kinds_told(tables.get("wrong_answers")),
        "several": len(models) > 1,
        "charts": {
            "models": list(contents.models),
            "charts": [figure["chart"] for figure in figures if figure["chart"]],
        },
    }


def _numbers(contents: Contents) -> dict:
    """The middle sections: what was measured, accuracies, statistics and all tables."""
    tables, bias = contents.tables, contents.tables.get("position_bias")
    if (gold := tables.get("gold_passages")) is not None:
        tables = {**tables, "gold_counts": gold_counts(gold)}
    used = page_tables.token_table(contents.manifests, contents.prices)
    accuracies = page_tables.accuracy_tables(tables["accuracy"], contents.titles, contents.sizes)
    files = page_tables.table_files([*SHOWN, *COMPARISONS], {**tables, "tokens_used": used})
    packed, left_out = page_tables.packed_files({**files, **page_tables.accuracy_files(accuracies)})
    return {
        "studied": provenance.experiments_studied(contents.experiments, contents.samples, contents.sizes),
        "models": provenance.models_studied(contents.manifests, contents.about),
        "measures": page_tables.measures(tables["accuracy"]),
        "grid": page_tables.overview_table(tables["accuracy"], bias, contents.titles, contents.sizes),
        "accuracies": accuracies,
        "findings": phrases.findings(bias),
        "forest": forest(bias, contents.models, contents.sizes),
        "claims": phrases.claims_told(tables),
        "comparisons": shown_tables(
            tables, [column_set for column_set in COMPARISONS if column_set.section != "claims"]
        ),
        "tables": shown_tables(tables, SHOWN),
        "tokens": shown_tables({"tokens_used": used}, COMPARISONS),
        "tokens_in_words": page_tables.tokens_in_words(used, contents.prices),
        "files": packed,
        "files_left_out": left_out,
    }


def _questions(contents: Contents) -> dict:
    """The sample of questions, and the prompt format of each model."""
    packed, unused = pack(contents.samples, SAMPLE_CHARACTERS)
    curves = [name for figure in contents.figures for name in figure["experiments"] if name in packed]
    of_a_size = {name: most_of_a_size(records) for name, records in contents.samples.items()}
    return {
        "opened": next(iter(curves), None),
        "questions": packed,
        "titles": contents.titles,
        # The most questions per size.
        "sampled": {name: most if unused is None else min(most, unused) for name, most in of_a_size.items()},
        "formats": contents.formats,
        "most_megabytes": SAMPLE_CHARACTERS // 1_000_000,
    }


def _provenance(contents: Contents) -> dict:
    return {
        "sweeps": [provenance.sweep_row(manifest) for manifest in contents.manifests],
        "identities": provenance.identities(contents.manifests),
        "experiments": provenance.experiment_rows(contents.experiments),
        "datasets": contents.datasets,
        "software": provenance.software(contents.commit),
        "cited": provenance.cited(contents.experiments),
        "seed": contents.seed,
        "config": contents.config,
    }


def _figure(figure: Mapping, contents: Contents, several: bool) -> dict:
    """Title, picture, verdicts and, where the figure's kind has one, chart of a figure."""
    png = contents.pictures[figure["name"]]
    drawn = chart(figure, contents.tables)
    return {
        "title": figure["title"],
        "is_wrong": figure["kind"] == "wrong_answers",
        "png": base64.b64encode(png).decode(),
        "width": png_width(png),
        "chart": drawn,
        "is_wide": len(drawn["panels"]) > 1 if drawn else png_width(png) > WIDE_PIXELS,
        "verdicts": phrases.verdicts(figure, contents.tables.get("position_bias"), contents.sizes, several),
    }


def png_width(png: bytes) -> int:
    """Width of a PNG picture in pixels, from its header."""
    return int.from_bytes(png[16:20], "big")
