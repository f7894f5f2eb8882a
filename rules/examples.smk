"""Examples: the prompts of one experiment at one size and one placement, with the answers that count; and their check."""


rule find_size:
    input:
        prompt=PLAN.examples.prompt,
        tokenizer=PLAN.sizes.tokenizer_files,
        source=PLAN.sizes.hub_source,
        template=PLAN.sizes.template,
        code=PLAN.sizes.code,
    output:
        "results/lengths/{experiment}/{size}.json",
    log:
        "results/logs/find_size/{experiment}/{size}.log",
    conda:
        "../envs/inference.yaml"
    params:
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


rule make_examples:
    input:
        dataset=PLAN.examples.dataset,
        labels=PLAN.examples.labels,
        length=PLAN.examples.items,
        prompt=PLAN.examples.prompt,
        code=PLAN.examples.code,
    output:
        "results/examples/{experiment}/{size}/{placement}.jsonl.gz",
    log:
        "results/logs/make_examples/{experiment}/{size}/{placement}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        task=PLAN.examples.task,
        settings=PLAN.examples.settings,
    shell:
        "python {input.code[0]:q}"
        " --task {params.task}"
        " --size {wildcards.size}"
        " --placement {wildcards.placement}"
        " --settings {params.settings:q}"
        " --prompt {input.prompt:q}"
        " --dataset {input.dataset:q}"
        " --labels {input.labels:q}"
        " --length {input.length:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule check_examples:
    input:
        examples=PLAN.examples.files,
        code=PLAN.code("check_examples.py"),
    output:
        "results/example_checks/{experiment}.json",
    log:
        "results/logs/check_examples/{experiment}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        generated=PLAN.examples.generated,
        design=PLAN.examples.design,
    shell:
        "python {input.code[0]:q}"
        " --experiment {wildcards.experiment:q}"
        " --examples {input.examples:q}"
        " {params.generated}"
        " --design {params.design}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
