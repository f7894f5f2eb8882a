"""Scores: one row per prompt and target for each sweep, and the accuracy of its cells; rows of log-probabilities."""


rule score:
    input:
        examples=SWEEPS.examples,
        responses=FILES[ANSWER].responses,
        manifest=FILES[ANSWER].manifest,
        source=SWEEPS.source,
        verdicts=SWEEPS.verdicts,
        labels=SWEEPS.labels,
    output:
        scores=FILES[ANSWER].scores,
        accuracy="results/accuracy/{model}/{experiment}.csv",
    log:
        "results/logs/score/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.answering),
    priority: EARLY
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            **EXPERIMENT.keys("task metric"),
            **answer_to(ANSWER),
            only_unclear=EXPERIMENT(lambda entry: entry.judge and entry.judge.only_unclear),
        ),
        code=code("", EXPERIMENT(lambda one: [module_of(one.task), *modules_of_metric(one)])),
    shell:
        command(
            "score",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.task} {params.metric} "
            "{params.settings} {params.decoding} {params.only_unclear} "
            "--examples {input.examples:q} --responses {input.responses:q} --manifest {input.manifest:q} "
            "--source {input.source:q} --verdicts {input.verdicts:q} --labels {input.labels:q} "
            "--output {output.scores:q} --accuracy {output.accuracy:q}",
        )


# Somebody's verdicts on answers that are not known.
rule import_scores:
    input:
        SWEEPS.recorded_files,
    output:
        scores=FILES[ANSWER].scores,
        accuracy="results/accuracy/{model}/{experiment}.csv",
        manifest=FILES[ANSWER].manifest,
    log:
        "results/logs/import_scores/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.scored),
    priority: EARLY
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            cells=SWEEPS.recorded_cells,
            columns=MODEL.columns,
            position_scale=MODEL.position_scale,
            full_score=MODEL.full_score,
            rows=SWEEPS.recorded_rows,
        ),
    shell:
        command(
            "import_scores",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.cells} {params.columns} "
            "{params.position_scale} {params.full_score} {params.rows} --table {input:q} "
            "--scores {output.scores:q} --accuracy {output.accuracy:q} --manifest {output.manifest:q}",
        )


# A person fills in a copy of it, which the judge of the experiment names as its labels.
rule draw_labels:
    input:
        examples=SWEEPS.examples,
        responses=SWEEPS.files_of(FILES[ANSWER].responses),
        scores=SWEEPS.files_of(FILES[ANSWER].scores),
    output:
        "results/labels/{experiment}.csv",
    log:
        "results/logs/draw_labels/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(number=EXPERIMENT(lambda entry: entry.judge.draw), seed=STUDY.seed),
    shell:
        command(
            "draw_labels",
            "--experiment {wildcards.experiment:q} {params.number} {params.seed} --examples {input.examples:q} "
            "--scores {input.scores:q} --responses {input.responses:q} --output {output:q}",
        )


rule score_log_probabilities:
    input:
        examples=SWEEPS.examples,
        responses=FILES[LOG_PROBABILITY].responses,
        manifest=FILES[LOG_PROBABILITY].manifest,
        source=SWEEPS.source,
    output:
        FILES[LOG_PROBABILITY].scores,
    log:
        "results/logs/score_log_probabilities/{model}/{experiment}.log",
    priority: EARLY
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(task=EXPERIMENT.task, **answer_to(LOG_PROBABILITY)),
    shell:
        command(
            "score_log_probabilities",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.task} {params.settings} "
            "{params.decoding} "
            "--examples {input.examples:q} --responses {input.responses:q} --manifest {input.manifest:q} "
            "--source {input.source:q} "
            "--output {output:q}",
        )
