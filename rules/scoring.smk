"""Scores: one row per prompt and target for each sweep, and the accuracy of its cells; rows of log-probabilities."""


rule score:
    input:
        examples=SWEEPS.examples,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
        source=SWEEPS.source,
    output:
        "results/scores/{model}/{experiment}.parquet",
        accuracy="results/accuracy/{model}/{experiment}.csv",
    log:
        "results/logs/score/{model}/{experiment}.log",
    priority: EARLY
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            "score",
            code("", EXPERIMENT(lambda one: [module_of(one.task), *modules_of_metric(one)])),
            **EXPERIMENT.keys("task metric"),
            **ASKED,
        ),
    shell:
        command("score", "model", "experiment")


rule score_log_probabilities:
    input:
        examples=SWEEPS.examples,
        responses="results/log_probabilities/{model}/{experiment}.jsonl.gz",
        manifest="results/log_probabilities/{model}/{experiment}.manifest.json",
        source=SWEEPS.source,
    output:
        "results/log_probabilities/{model}/{experiment}.parquet",
    log:
        "results/logs/score_log_probabilities/{model}/{experiment}.log",
    priority: EARLY
    conda:
        "../envs/analysis.yaml"
    params:
        **settings("score_log_probabilities", task=EXPERIMENT.task, **MEASURED),
    shell:
        command("score_log_probabilities", "model", "experiment")
