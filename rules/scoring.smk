"""Scoring: one row a prompt and target for each sweep, and the tables made of them."""


rule score:
    input:
        examples=PLAN.examples.files,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        code=PLAN.code("score.py"),
    output:
        "results/scores/{model}/{experiment}.parquet",
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
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule accuracy_table:
    input:
        scores=PLAN.sweeps.files("results/scores/{model}/{experiment}.parquet"),
        code=PLAN.code("make_accuracy_table.py"),
    output:
        report(
            "results/tables/accuracy.csv",
            caption="../resources/captions/accuracy.rst",
            category="Tables",
        ),
    log:
        "results/logs/accuracy_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule position_bias_table:
    input:
        scores=PLAN.sweeps.files("results/scores/{model}/{experiment}.parquet"),
        code=PLAN.code("make_position_bias_table.py"),
    output:
        report(
            "results/tables/position_bias.csv",
            caption="../resources/captions/position_bias.rst",
            category="Tables",
        ),
    log:
        "results/logs/position_bias_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
        seed=PLAN.study.seed,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --seed {params.seed}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule position_pair_table:
    input:
        scores=PLAN.sweeps.files("results/scores/{model}/{experiment}.parquet"),
        code=PLAN.code("make_position_pair_table.py"),
    output:
        report(
            "results/tables/position_pairs.csv",
            caption="../resources/captions/position_pairs.rst",
            category="Tables",
        ),
    log:
        "results/logs/position_pair_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule model_difference_table:
    input:
        scores=PLAN.sweeps.files("results/scores/{model}/{experiment}.parquet"),
        code=PLAN.code("make_model_difference_table.py"),
    output:
        report(
            "results/tables/model_differences.csv",
            caption="../resources/captions/model_differences.rst",
            category="Tables",
        ),
    log:
        "results/logs/model_difference_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule utilisation_table:
    input:
        scores=PLAN.tables.utilisation_scores,
        closed_book=PLAN.tables.closed_book_scores,
        oracle=PLAN.tables.oracle_scores,
        code=PLAN.code("make_utilisation_table.py"),
    output:
        report(
            "results/tables/utilisation.csv",
            caption="../resources/captions/utilisation.rst",
            category="Tables",
        ),
    log:
        "results/logs/utilisation_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
        seed=PLAN.study.seed,
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --closed-book {input.closed_book:q}"
        " --oracle {input.oracle:q}"
        " --seed {params.seed}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule pbi_table:
    input:
        position_bias="results/tables/position_bias.csv",
        code=PLAN.code("make_pbi_table.py"),
    output:
        csv=report(
            "results/tables/pbi.csv",
            caption="../resources/captions/pbi.rst",
            category="Tables",
        ),
        markdown="results/tables/pbi.md",
    log:
        "results/logs/pbi_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --position-bias {input.position_bias:q}"
        " --csv {output.csv:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"


rule token_count_table:
    input:
        counts=PLAN.tables.counts,
        code=PLAN.code("concat_tables.py"),
    output:
        report(
            "results/tables/token_counts.csv",
            caption="../resources/captions/token_counts.rst",
            category="Tables",
        ),
    log:
        "results/logs/token_count_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
    shell:
        "python {input.code[0]:q}"
        " --tables {input.counts:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule answer_check_table:
    input:
        examples=PLAN.tables.checked_examples,
        code=PLAN.code("make_answer_check_table.py"),
    output:
        report(
            "results/tables/answer_checks.csv",
            caption="../resources/captions/answer_checks.rst",
            category="Tables",
        ),
    log:
        "results/logs/answer_check_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        experiments=PLAN.tables.checked_experiments,
    shell:
        "python {input.code[0]:q}"
        " --experiments {params.experiments:q}"
        " --examples {input.examples:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
