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
            task=EXPERIMENT.task,
            placements=SWEEPS.placements,
            settings=EXPERIMENT.example_settings,
            **SIZING.keys("tokenizer prompt_template reasoning"),
        ),
        code=code("", TASK_MODULE),
    shell:
        command(
            "find_size",
            "--tokens {wildcards.size:q} {params.task} {params.placements} {params.settings} {params.tokenizer} "
            "{params.prompt_template} {params.reasoning} "
            "--source {input.source:q} --template {input.template:q} --prompt {input.prompt:q} "
            "--output {output:q}",
        )


rule count_tokens:
    input:
        PROMPTING.tokenizer_files,
        **PROMPTING.keys("source template"),
        examples=SWEEPS.examples,
    output:
        counts="results/token_counts/{model}/{experiment}.csv",
        positions="results/token_positions/{model}/{experiment}.parquet",
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.counted),
    priority: EARLY
    conda:
        "../envs/inference.yaml"
    params:
        **settings(**PROMPTING.keys("tokenizer prompt_template reasoning")),
    shell:
        command(
            "count_tokens",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.tokenizer} "
            "{params.prompt_template} {params.reasoning} "
            "--source {input.source:q} --template {input.template:q} --examples {input.examples:q} "
            "--output {output.counts:q} --positions {output.positions:q}",
        )


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
        **settings(**PROMPTING.keys("tokenizer prompt_template reasoning")),
    shell:
        command(
            "make_prompt_format",
            "{params.tokenizer} {params.prompt_template} {params.reasoning} "
            "--source {input.source:q} --template {input.template:q} --output {output:q}",
        )
