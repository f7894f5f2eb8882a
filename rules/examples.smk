"""Examples: one file per experiment, size and placement, and their checks."""


rule make_examples:
    input:
        dataset=SWEEPS.dataset,
        labels=DATA.files(EXPERIMENT.subset),
        length=SWEEPS.length,
        prompt=EXPERIMENT(SWEEPS.prompt),
    output:
        "results/examples/{experiment}/{size}/{placement}.jsonl.gz",
    log:
        "results/logs/make_examples/{experiment}/{size}/{placement}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            "make_examples",
            code("", TASK_MODULE),
            task=EXPERIMENT.task,
            settings=EXPERIMENT.example_settings,
        ),
    shell:
        command("make_examples", "size", "placement")


rule check_examples:
    input:
        examples=SWEEPS.examples,
    output:
        "results/example_checks/{experiment}.json",
    log:
        "results/logs/check_examples/{experiment}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **settings("check_examples", generated=EXPERIMENT(lambda one: not one.datasets), design=EXPERIMENT.design),
    shell:
        command("check_examples", "experiment")
