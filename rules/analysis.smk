"""Tables of results, the paper's claims, and the tables laid out as in the paper."""

LAYOUT = Each(lambda wildcards: LAYOUTS[int(wildcards.number)])
TABLE = Each(lambda wildcards: TABLES.tables[wildcards.table])
CLAIM_TABLES = TABLES.declared(lambda job: ["claims"])


rule make_table:
    input:
        TABLES.inputs_of,
    output:
        report("results/tables/{table}.csv", caption="../resources/captions/table.rst", category="Tables"),
    log:
        "results/logs/make_table/{table}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
        **compared(declared=TABLES.declared(lambda job: [job.table])),
        code=code("", TABLES.module_of),
        files=TABLES.options,
        caption=TABLE.doc,
    shell:
        command("make_table", "--table {wildcards.table:q} {params.files} --output {output:q}")


rule make_markdown:
    input:
        csv="results/tables/{table}.csv",
    output:
        "results/tables/{table}.md",
    log:
        "results/logs/make_markdown/{table}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
        **compared(declared=TABLES.declared(lambda job: [job.table])),
    shell:
        command("make_markdown", "--table {wildcards.table:q} --csv {input.csv:q} --output {output:q}")


rule make_claims_table:
    input:
        scores=TABLES.claim_scores,
        recall=TABLES.claim_recall.values(),
        statements=TABLES.published("statements"),
        statuses=TABLES.published("claims"),
    output:
        csv=report("results/tables/claims.csv", caption="../resources/captions/claims.rst", category="Tables"),
        markdown="results/tables/claims.md",
    log:
        "results/logs/make_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(relations=TABLES.relations, recall_of=list(TABLES.claim_recall)),
        **compared(order=TABLES.order, declared=CLAIM_TABLES),
        files=named_files,
    shell:
        command("make_claims_table", "{params.relations} {params.recall_of} {params.files}")


use rule make_claims_table as make_published_claims_table with:
    input:
        published=TABLES.published("accuracy"),
        statements=TABLES.published("statements"),
        statuses=TABLES.published("claims"),
    output:
        csv="results/published/tables/claims.csv",
        markdown="results/published/tables/claims.md",
    log:
        "results/logs/make_published_claims_table.log",
    params:
        **settings(relations=STUDY.relations, recall_of=[]),
        **compared(declared=CLAIM_TABLES),
        files=named_files,


rule make_paper_table:
    input:
        measured=LAYOUT("results/tables/{table}.csv"),
        models=TABLES.published("models"),
    output:
        csv=report(
            "results/tables/paper/table{number}.csv",
            caption="../resources/captions/paper_table.rst",
            category="Tables",
            labels={"table": "table {number} of the paper"},
        ),
        markdown="results/tables/paper/table{number}.md",
        latex="results/tables/paper/table{number}.tex",
    log:
        "results/logs/make_paper_table/{number}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
        files=named_files,
    shell:
        command("make_paper_table", "--table {wildcards.number} {params.files}")


use rule make_paper_table as make_published_paper_table with:
    input:
        published=LAYOUT(lambda layout: TABLES.published(layout.table)),
        models=TABLES.published("models"),
    output:
        csv="results/published/tables/table{number}.csv",
        markdown="results/published/tables/table{number}.md",
        latex="results/published/tables/table{number}.tex",
    log:
        "results/logs/make_published_paper_table/{number}.log",
    params:
        **settings(),
