"""Examples: one file per experiment, size and placement, and their checks."""


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
        content=PLAN.content(
            PLAN.examples.dataset,
            PLAN.examples.labels,
            PLAN.examples.prompt,
            PLAN.examples.code,
        ),
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
        content=PLAN.content(PLAN.code("check_examples.py")),
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
