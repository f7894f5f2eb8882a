"""What can be asked for: tables, figures, the report, or all of them (the default), and figures and tables of published values
alone; estimate, doctor and audit are in rules/checks.smk.
"""

from snakemake.utils import min_version

min_version("9.17")


include: "rules/common.smk"
include: "rules/base.smk"
include: "rules/models.smk"
include: "rules/questions.smk"
include: "rules/corpora.smk"
include: "rules/retrieval.smk"
include: "rules/examples.smk"
include: "rules/prompting.smk"
include: "rules/inference.smk"
include: "rules/scoring.smk"
include: "rules/analysis.smk"
include: "rules/figures.smk"
include: "rules/report.smk"
include: "rules/checks.smk"


rule tables:
    input:
        TABLES.files,
        TABLES.in_the_paper,
        TABLES.to_label,
        EXPORTS.summaries,
        FINDINGS,
        RECORD,


rule figures:
    input:
        FIGURES.figures,


rule report:
    input:
        REPORTS.pages,


rule all:
    default_target: True
    input:
        rules.tables.input,
        rules.figures.input,
        rules.report.input,


rule published:
    input:
        FIGURES.published,


rule suite_export:
    input:
        EXPORTS.exports(),


rule suite_zip:
    input:
        EXPORTS.exports(".zip"),


rule export_tasks:
    input:
        rules.export_card.output,
