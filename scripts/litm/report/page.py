"""The page: everything put into the template, as one file that needs nothing else."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
import pandas as pd
from markupsafe import Markup

from litm.analysis.cut_answers import cut_sentences
from litm.analysis.gold_counts import gold_sentences
from litm.analysis.reading_sensitivity import reading_warnings
from litm.report.charts import chart, forest
from litm.report.findings import findings, overview
from litm.report.provenance import experiment_rows, identities, limits_of_answers, software, sweep_rows
from litm.report.question_samples import pack
from litm.report.tables import COMPARISONS, SHOWN, TOKENS_USED, shown_tables
from litm.report.tokens import token_table, tokens_in_words

#: The file has at most 25 MB; this is for the questions, the rest for figures and tables.
SAMPLE_CHARACTERS = 16_000_000


@dataclass(frozen=True)
class Contents:
    """What a report is made of.

    tables: by name; figures: settings of each, with `recall`, see `charts.chart`; pictures: the PNG of each figure by
    name; samples: records of `question_samples.question_records` by experiment; experiments: settings of each; prices:
    of the models that cost money; datasets: rows by heading, of each file of questions; models: in the order of the
    study, which gives them their colours; commit: of the workflow, None if it is not known.
    """

    tables: Mapping[str, pd.DataFrame]
    figures: Sequence[Mapping]
    pictures: Mapping[str, bytes]
    manifests: Sequence[Mapping]
    samples: Mapping[str, Sequence[Mapping]]
    experiments: Sequence[Mapping]
    prices: Mapping[str, Mapping | None]
    datasets: Sequence[Mapping]
    seed: int
    models: Sequence[str]
    commit: str | None


def render_report(sources: Mapping[str, str], contents: Contents) -> str:
    """The report's HTML; the same contents give the same text.

    sources: the text of template, style and scripts, by the names of their files in resources/report.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables = contents.tables
    bias = tables.get("position_bias")
    used = token_table(contents.manifests, contents.prices)
    figures = [_figure(figure, contents) for figure in contents.figures]
    packed, questions_left = pack(contents.samples, SAMPLE_CHARACTERS)
    return environment.get_template("report.html.j2").render(
        style=Markup(sources["report.css"]),
        scripts=[Markup(sources[name]) for name in ("charts.js", "question_samples.js")],
        advice=[] if "advice" not in tables else [str(text) for text in tables["advice"]["advice"].dropna()],
        overview=[
            *overview(tables["accuracy"], bias, tables.get("published_comparison")),
            *(f"{line}." for line in gold_sentences(tables.get("gold_counts"))),
            *(f"{line}." for line in reading_warnings(tables.get("reading_sensitivity"))),
        ],
        cut=cut_sentences(tables["accuracy"].to_dict("records"), limits_of_answers(contents.manifests)),
        findings=findings(bias),
        figures=figures,
        charts={
            "models": list(contents.models),
            "charts": [figure["chart"] for figure in figures if figure["chart"]],
        },
        forest=forest(bias, contents.models),
        comparisons=[
            {**shown, "id": name} for name, one in COMPARISONS.items() for shown in shown_tables(tables, [one])
        ],
        tables=shown_tables(tables, SHOWN),
        tokens=shown_tables({"tokens_used": used}, [TOKENS_USED]),
        tokens_in_words=tokens_in_words(used, contents.prices),
        questions=packed,
        titles={experiment["name"]: experiment["title"] for experiment in contents.experiments},
        sampled={name: _sampled(records, questions_left) for name, records in contents.samples.items()},
        sweeps=sweep_rows(contents.manifests),
        identities=identities(contents.manifests),
        experiments=experiment_rows(contents.experiments),
        datasets=contents.datasets,
        software=software(contents.commit),
        seed=contents.seed,
    )


def _figure(figure: Mapping, contents: Contents) -> dict:
    """Title, picture and, where the figure's kind has one, chart of a figure."""
    png = contents.pictures[figure["name"]]
    return {
        "title": figure["title"],
        "png": base64.b64encode(png).decode(),
        "width": png_width(png),
        "chart": chart(figure, contents.tables),
    }


def _sampled(records: Sequence[Mapping], questions_left: int | None) -> int:
    """How many questions of each size the page has, at most."""
    sizes = [record["size"] for record in records]
    most = max(map(sizes.count, set(sizes)), default=0)
    return most if questions_left is None else min(most, questions_left)


def png_width(png: bytes) -> int:
    """Width of a PNG picture in pixels, from its header."""
    return int.from_bytes(png[16:20], "big")
