"""The page: the templates with their values, rendered as one self-contained file."""

from collections.abc import Mapping
from dataclasses import dataclass

import jinja2
from markupsafe import Markup

from litm.report.page_tables import Numbers
from litm.report.pictures import Figures
from litm.report.provenance import Provenance
from litm.report.question_samples import Sample
from litm.report.screen import Screen

#: Scripts of the page, in their order.
SCRIPTS = ("packed.js", "charts.js", "question_filters.js", "question_samples.js", "downloads.js")


@dataclass(frozen=True)
class Page:
    """The values of the templates, by parts of the page in their order."""

    titles: Mapping[str, str]
    """Titles of the experiments."""
    screen: Screen
    figures: Figures
    numbers: Numbers
    sample: Sample
    provenance: Provenance


def render_report(sources: Mapping[str, str], contents: Page) -> str:
    """The report's HTML; the same contents give the same text.

    sources: the text of template, style and scripts, by the names of their files in resources/report.
    """
    return template(sources, "report.html.j2").render(
        vars(contents), style=Markup(sources["report.css"]), scripts=[Markup(sources[name]) for name in SCRIPTS]
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
