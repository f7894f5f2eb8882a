"""What can be asked for: tables, figures, the report, or all of them (the default), and figures and tables of published values
alone; estimate, doctor and audit are in rules/checks.smk.
"""

from snakemake.utils import min_version

min_version("9.0")


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
include: "rules/reference_model.smk"
include: "rules/checks.smk"


rule all:
    default_target: True
    input:
        PLAN.tables.files,
        PLAN.paper.tables,
        PLAN.suite.summaries,
        PLAN.figures.files,
        PLAN.report.file,
        PLAN.report.record,


rule tables:
    input:
        PLAN.tables.files,
        PLAN.paper.tables,
        PLAN.suite.summaries,
        PLAN.report.record,


rule figures:
    input:
        PLAN.figures.files,


rule report:
    input:
        PLAN.report.file,


rule published:
    input:
        PLAN.paper.published_files,


rule suite_export:
    input:
        PLAN.suite.exports,


rule suite_zip:
    input:
        PLAN.suite.zips,


rule reference_model:
    input:
        rules.train_reference_model.output,
        rules.plot_training.output,


onerror:
    for path, message in error_messages("results/logs", since=STARTED):
        say(f"{path}:\n  {message}")
    say(*replaced_lines(PLAN.content.replaced()), CONSOLE.last_line())
