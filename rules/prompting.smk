"""Facts about prompts that need no weights: their tokens, and the number of items in a size given in tokens."""


rule find_size:
    input:
        prompt=PLAN.examples.prompt,
        tokenizer=PLAN.sizes.tokenizer_files,
        source=PLAN.sizes.tokenizer_source,
        template=PLAN.sizes.template,
        code=PLAN.sizes.code,
    output:
        "results/sizes/{experiment}/{size}.json",
    log:
        "results/logs/find_size/{experiment}/{size}.log",
    conda:
        "../envs/inference.yaml"
    params:
        content=PLAN.content(
            PLAN.examples.prompt,
            PLAN.sizes.tokenizer_files,
            PLAN.sizes.template,
            PLAN.sizes.code,
        ),
        task=PLAN.examples.task,
        settings=PLAN.examples.settings,
        placements=PLAN.sizes.placements,
        tokenizer=PLAN.sizes.tokenizer,
        prompt_template=PLAN.sizes.prompt_template,
        reasoning=PLAN.sizes.reasoning,
    shell:
        "python {input.code[0]:q}"
        " --task {params.task}"
        " --tokens {wildcards.size}"
        " --placements {params.placements}"
        " --settings {params.settings:q}"
        " --prompt {input.prompt:q}"
        " --tokenizer {params.tokenizer:q}"
        " --source {input.source:q}"
        " --prompt-template {params.prompt_template:q}"
        " --reasoning {params.reasoning:q}"
        " --template {input.template:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule count_tokens:
    input:
        examples=PLAN.examples.files,
        tokenizer=PLAN.models.tokenizer_files,
        source=PLAN.models.tokenizer_source,
        template=PLAN.models.template,
        code=PLAN.code("count_tokens.py"),
    output:
        counts="results/token_counts/{model}/{experiment}.csv",
        positions="results/token_positions/{model}/{experiment}.parquet",
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.counted),
    # Before the next sweep: figures come as soon as they can.
    priority: 1
    conda:
        "../envs/inference.yaml"
    params:
        content=PLAN.content(
            PLAN.models.tokenizer_files,
            PLAN.models.template,
            PLAN.code("count_tokens.py"),
        ),
        tokenizer=PLAN.models.tokenizer,
        prompt_template=PLAN.models.prompt_template,
        reasoning=PLAN.models.reasoning,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --tokenizer {params.tokenizer:q}"
        " --source {input.source:q}"
        " --prompt-template {params.prompt_template:q}"
        " --reasoning {params.reasoning:q}"
        " --template {input.template:q}"
        " --examples {input.examples:q}"
        " --output {output.counts:q}"
        " --positions {output.positions:q}"
        " 2>&1 | tee -i {log:q}"


rule make_prompt_format:
    input:
        tokenizer=PLAN.models.tokenizer_files,
        source=PLAN.models.tokenizer_source,
        template=PLAN.models.template,
        code=PLAN.code("make_prompt_format.py"),
    output:
        "results/prompt_formats/{model}.json",
    log:
        "results/logs/make_prompt_format/{model}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.counted),
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        content=PLAN.content(
            PLAN.models.tokenizer_files,
            PLAN.models.template,
            PLAN.code("make_prompt_format.py"),
        ),
        tokenizer=PLAN.models.tokenizer,
        prompt_template=PLAN.models.prompt_template,
        reasoning=PLAN.models.reasoning,
    shell:
        "python {input.code[0]:q}"
        " --tokenizer {params.tokenizer:q}"
        " --source {input.source:q}"
        " --prompt-template {params.prompt_template:q}"
        " --reasoning {params.reasoning:q}"
        " --template {input.template:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
