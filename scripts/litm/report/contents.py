"""What a report is made of, and the page of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from litm.findings.first_screen import FirstScreen
from litm.findings.record import Finding
from litm.report.page import Page
from litm.report.page_tables import numbers
from litm.report.pictures import figures
from litm.report.provenance import provenance
from litm.report.question_samples import sample
from litm.report.screen import screen
from litm.report.sizes import SizeNames


@dataclass(frozen=True)
class Contents:
    """Contents of a report."""

    tables: Mapping[str, pd.DataFrame]
    """By name."""
    screen: FirstScreen
    findings: Sequence[Finding]
    """All of the study."""
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
    beside: Sequence[str] = ()
    """Models beside those of the study, which only figures and their own tables show."""

    @property
    def titles(self) -> dict[str, str]:
        """The title of each experiment."""
        return {experiment["name"]: experiment["title"] for experiment in self.experiments}


def page_of(contents: Contents) -> Page:
    """The page of these contents."""
    tables, experiments, titles = contents.tables, contents.experiments, contents.titles
    names = SizeNames(contents.figures, experiments, tables.get("token_counts"))
    return Page(
        titles,
        screen(contents.screen, titles, names, contents.models),
        figures(contents.figures, contents.pictures, tables, [*contents.models, *contents.beside]),
        numbers(contents.findings, tables, contents.manifests, contents.prices, titles, names, contents.models),
        sample(contents.samples, contents.figures, contents.formats),
        provenance(
            contents.manifests, experiments, contents.samples, contents.about, names, contents.datasets,
            contents.seed, contents.config, contents.commit,
        ),
    )  # fmt: skip
