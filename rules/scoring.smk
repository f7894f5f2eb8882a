"""Scoring: one row a prompt and target for each sweep, the accuracy of its cells, and the tables of results."""


rule score:
    input:
        examples=PLAN.examples.files,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        code=PLAN.code("score.py"),
    output:
        scores="results/scores/{model}/{experiment}.parquet",
        accuracy="results/accuracy/{model}/{experiment}.csv",
    log:
        "results/logs/score/{model}/{experiment}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        task=PLAN.examples.task,
        metric=PLAN.examples.metric,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --task {params.task}"
        " --metric {params.metric}"
        " --examples {input.examples:q}"
        " --responses {input.responses:q}"
        " --output {output.scores:q}"
        " --accuracy {output.accuracy:q}"
        " 2>&1 | tee -i {log:q}"


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
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.table}"
        " --csv {input.csv:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
