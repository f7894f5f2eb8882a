"""Scores: one row per prompt and target for each sweep, and the accuracy of its cells."""


rule score:
    input:
        examples=PLAN.examples.files,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
        source=PLAN.models.source,
        code=PLAN.examples.score_code,
    output:
        scores="results/scores/{model}/{experiment}.parquet",
        accuracy="results/accuracy/{model}/{experiment}.csv",
    log:
        "results/logs/score/{model}/{experiment}.log",
    # Before the next sweep: figures come as soon as they can.
    priority: 1
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.models.source, PLAN.examples.score_code),
        task=PLAN.examples.task,
        metric=PLAN.examples.metric,
        settings=PLAN.inference.settings,
        decoding=PLAN.inference.decoding,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --task {params.task}"
        " --metric {params.metric}"
        " --examples {input.examples:q}"
        " --responses {input.responses:q}"
        " --manifest {input.manifest:q}"
        " --source {input.source:q}"
        " --settings {params.settings:q}"
        " --decoding {params.decoding:q}"
        " --output {output.scores:q}"
        " --accuracy {output.accuracy:q}"
        " 2>&1 | tee -i {log:q}"
