"""Figures of results, and of published values alone."""

from litm.config.figures import PBI_FOREST
from litm.figures.kinds import KINDS

FIGURE = Each(lambda wildcards: STUDY.figures[wildcards.figure])
PUBLISHED = Each(lambda wildcards: STUDY.published_figures[wildcards.figure])


rule plot_figure:
    input:
        accuracy=FIGURES.drawn("accuracy"),
        scores=FIGURES.drawn("scores"),
        recall=FIGURES.drawn_recall,
        published=FIGURES.drawn_published,
        token_counts=FIGURES.drawn("token_counts"),
        tables=FIGURES.drawn_tables,
    output:
        png=picture("{figure}", "../resources/captions/figure.rst"),
        pdf="results/figures/{figure}.pdf",
        untitled="results/figures/untitled/{figure}.png",
    log:
        "results/logs/plot_figure/{figure}.log",
    priority: EARLY
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(figure=FIGURES.figure),
        **compared(order=TABLES.order_of_models),
        code=code("figures", FIGURE.module),
        files=named_files,
    shell:
        command("plot_figure", "{params.figure} {params.files}")


use rule plot_figure as plot_pbi_forest with:
    input:
        tables="results/tables/position_bias.csv",
    output:
        png=picture("pbi_forest", "../resources/captions/pbi_forest.rst"),
        pdf="results/figures/pbi_forest.pdf",
    log:
        "results/logs/plot_pbi_forest.log",
    priority: 0
    params:
        **settings(figure=FIGURES.pbi_forest),
        code=code("figures", KINDS[PBI_FOREST].module),
        files=named_files,


use rule plot_pbi_forest as plot_published with:
    input:
        published=TABLES.published("accuracy"),
        token_counts=TABLES.published("token_counts"),
    output:
        png="results/published/figures/{figure}.png",
        pdf="results/published/figures/{figure}.pdf",
    log:
        "results/logs/plot_published/{figure}.log",
    params:
        **settings(figure=FIGURES.published_figure),
        code=code("figures", PUBLISHED.module),
        files=named_files,
