"""How long prompts are in tokens, which is known before any weights are loaded."""


rule count_tokens:
    input:
        examples=PLAN.examples.files,
        tokenizer=PLAN.models.tokenizer_files,
        source=PLAN.models.hub_source,
        template=PLAN.models.template,
        code=PLAN.code("count_tokens.py"),
    output:
        counts="results/token_counts/{model}/{experiment}.csv",
        positions="results/token_positions/{model}/{experiment}.parquet",
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.asked),
    conda:
        "../envs/inference.yaml"
    params:
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
