"""Scores: one row per prompt and target for each sweep, and the accuracy of its cells."""


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
            code("examples.tasks", TASK_MODULE),
            **EXPERIMENT.keys("task metric"),
            **ASKED,
        ),
    shell:
        command("score", "model", "experiment")
