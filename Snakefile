"""What can be asked for: tables, figures, the report, or all of them (the default)."""

from snakemake.utils import min_version

min_version("9.0")


include: "rules/common.smk"
include: "rules/corpus.smk"
include: "rules/examples.smk"
include: "rules/inference.smk"
include: "rules/scoring.smk"
include: "rules/report.smk"


localrules:
    all,
    tables,
    figures,
    report,


rule all:
    default_target: True
    input:
        TABLES,
        FIGURES,
        REPORT,


rule tables:
    input:
        TABLES,


rule figures:
    input:
        FIGURES,


rule report:
    input:
        REPORT,
