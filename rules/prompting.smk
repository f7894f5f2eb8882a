"""Facts about prompts that need no weights: their tokens, and the number of items in a size given in tokens."""

SIZING = Each(lambda wildcards: SWEEPS.prompting[STUDY.experiments[wildcards.experiment].tokens_of])


rule find_size:
    input:
        SIZING.tokenizer_files,
        **SIZING.keys("source template"),
        prompt=EXPERIMENT(SWEEPS.prompt),
    output:
        "results/sizes/{experiment}/{size}.json",
    log:
        "results/logs/find_size/{experiment}/{size}.log",
    wildcard_constraints:
        experiment=any_of(name for name, one in STUDY.experiments.items() if one.tokens_of),
    conda:
        "../envs/inference.yaml"
    params:
        **settings(
            "find_size",
            code("", TASK_MODULE),
            task=EXPERIMENT.task,
            tokens=JOB.size,
            placements=SWEEPS.placements,
            settings=EXPERIMENT.example_settings,
            **SIZING.keys("tokenizer prompt_template reasoning"),
        ),
    shell:
        command("find_size")


rule count_tokens:
    input:
        PROMPTING.tokenizer_files,
        **PROMPTING.keys("source template"),
        examples=SWEEPS.examples,
    output:
        "results/token_counts/{model}/{experiment}.csv",
        positions="results/token_positions/{model}/{experiment}.parquet",
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.counted),
    priority: EARLY
    conda:
        "../envs/inference.yaml"
    params:
        **settings("count_tokens", **PROMPTING.keys("tokenizer prompt_template reasoning")),
    shell:
        command("count_tokens", "model", "experiment")


rule make_prompt_format:
    input:
        PROMPTING.tokenizer_files,
        **PROMPTING.keys("source template"),
    output:
        "results/prompt_formats/{model}.json",
    log:
        "results/logs/make_prompt_format/{model}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.prompting),
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        **settings("make_prompt_format", **PROMPTING.keys("tokenizer prompt_template reasoning")),
    shell:
        command("make_prompt_format")
