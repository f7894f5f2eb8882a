"""Tables of results, the paper's claims, and the tables laid out as in the paper."""


rule make_table:
    input:
        unpack(PLAN.tables.inputs),
        code=PLAN.tables.code,
    output:
        report(
            "results/tables/{table}.csv",
            caption="../resources/captions/table.rst",
            category="Tables",
        ),
    log:
        "results/logs/make_table/{table}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.tables.inputs, PLAN.tables.code),
        options=PLAN.tables.options,
        caption=PLAN.tables.caption,
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.table}"
        " {params.options}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule make_markdown:
    input:
        csv="results/tables/{table}.csv",
        code=PLAN.tables.markdown_code,
    output:
        "results/tables/{table}.md",
    log:
        "results/logs/make_markdown/{table}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.tables.markdown_code),
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.table}"
        " --csv {input.csv:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule make_claims_table:
    input:
        scores=PLAN.claims.scores,
        recall=PLAN.claims.recall,
        statements=PLAN.paper.statements,
        statuses=PLAN.paper.claim_statuses,
        code=PLAN.code("make_claims_table.py"),
    output:
        csv=report(
            "results/tables/claims.csv",
            caption="../resources/captions/claims.rst",
            category="Tables",
        ),
        summary="results/tables/claims_summary.csv",
        markdown="results/tables/claims.md",
    log:
        "results/logs/make_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(
            PLAN.paper.statements,
            PLAN.paper.claim_statuses,
            PLAN.code("make_claims_table.py"),
        ),
        order=PLAN.sweeps.order,
        relations=PLAN.claims.relations,
        recall_of=PLAN.claims.recall_of,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --relations {params.relations:q}"
        " --statements {input.statements:q}"
        " --statuses {input.statuses:q}"
        " --recall {input.recall:q}"
        " --recall-of {params.recall_of:q}"
        " --csv {output.csv:q}"
        " --summary {output.summary:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"


rule make_published_claims_table:
    input:
        published=PLAN.paper.accuracy,
        statements=PLAN.paper.statements,
        statuses=PLAN.paper.claim_statuses,
        code=PLAN.code("make_claims_table.py"),
    output:
        csv="results/published/tables/claims.csv",
        summary="results/published/tables/claims_summary.csv",
        markdown="results/published/tables/claims.md",
    log:
        "results/logs/make_published_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(
            PLAN.paper.accuracy,
            PLAN.paper.statements,
            PLAN.paper.claim_statuses,
            PLAN.code("make_claims_table.py"),
        ),
        relations=PLAN.claims.published_relations,
    shell:
        "python {input.code[0]:q}"
        " --published {input.published:q}"
        " --relations {params.relations:q}"
        " --statements {input.statements:q}"
        " --statuses {input.statuses:q}"
        " --csv {output.csv:q}"
        " --summary {output.summary:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"


rule make_paper_table:
    input:
        values=PLAN.paper.measured,
        models=PLAN.paper.models,
        code=PLAN.code("make_paper_table.py"),
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
        content=PLAN.content(PLAN.paper.models, PLAN.code("make_paper_table.py")),
        values="--measured",
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.number}"
        " {params.values} {input.values:q}"
        " --models {input.models:q}"
        " --csv {output.csv:q}"
        " --markdown {output.markdown:q}"
        " --latex {output.latex:q}"
        " 2>&1 | tee -i {log:q}"


use rule make_paper_table as make_published_paper_table with:
    input:
        values=PLAN.paper.published,
        models=PLAN.paper.models,
        code=PLAN.code("make_paper_table.py"),
    output:
        csv="results/published/tables/table{number}.csv",
        markdown="results/published/tables/table{number}.md",
        latex="results/published/tables/table{number}.tex",
    log:
        "results/logs/make_published_paper_table/{number}.log",
    params:
        content=PLAN.content(
            PLAN.paper.published, PLAN.paper.models, PLAN.code("make_paper_table.py")
        ),
        values="--published",
