"""Examples: the prompts of one experiment at one size and one placement, with the answers that count; and their check."""


rule find_size:
    input:
        prompt=of_experiment("prompt_file"),
        tokenizer=of_experiment("length_tokenizer"),
        source=of_experiment("length_source"),
        template=of_experiment("length_template"),
        code=of_experiment("length_code"),
    output:
        "results/lengths/{experiment}/{size}.json",
    log:
        "results/logs/find_size/{experiment}/{size}.log",
    conda:
        "../envs/inference.yaml"
    params:
        task=of_experiment("task"),
        settings=of_experiment("example_settings"),
        placements=length_placements,
        tokenizer=of_experiment("length_location"),
        prompt_template=of_experiment("length_prompt_template"),
        reasoning=of_experiment("length_reasoning"),
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
        dataset=questions_file,
        labels=of_experiment("labels"),
        length=length_file,
        prompt=of_experiment("prompt_file"),
        code=of_experiment("task_code"),
    output:
        "results/examples/{experiment}/{size}/{placement}.jsonl.gz",
    log:
        "results/logs/make_examples/{experiment}/{size}/{placement}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        task=of_experiment("task"),
        settings=of_experiment("example_settings"),
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
        examples=of_experiment("examples"),
        code=code("check_examples.py"),
    output:
        "results/example_checks/{experiment}.json",
    log:
        "results/logs/check_examples/{experiment}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        generated=of_experiment("generated"),
        design=of_experiment("design"),
    shell:
        "python {input.code[0]:q}"
        " --experiment {wildcards.experiment:q}"
        " --examples {input.examples:q}"
        " {params.generated}"
        " --design {params.design}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
