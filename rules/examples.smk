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
            task=EXPERIMENT.task,
            settings=EXPERIMENT.example_settings,
        ),
        code=code("", TASK_MODULE),
    shell:
        command(
            "make_examples",
            "--size {wildcards.size:q} --placement {wildcards.placement:q} {params.task} {params.settings} "
            "--dataset {input.dataset:q} --labels {input.labels:q} --length {input.length:q} --prompt {input.prompt:q} "
            "--output {output:q}",
        )


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
        **settings(generated=EXPERIMENT.is_searched, design=EXPERIMENT.design),
    shell:
        command(
            "check_examples",
            "--experiment {wildcards.experiment:q} {params.generated} {params.design} "
            "--examples {input.examples:q} --output {output:q}",
        )


rule plant_facts:
    input:
        ancient(QUESTIONS("results/passages/{corpus}/shards")),
        passages=QUESTIONS("results/passages/{corpus}/manifest.json"),
    output:
        "results/questions/{planted}.jsonl.gz",
    log:
        "results/logs/plant_facts/{planted}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(taken=QUESTIONS.questions, **QUESTIONS.keys("facts documents"), seed=STUDY.seed),
    shell:
        command(
            "plant_facts",
            "{params.facts} {params.taken} {params.documents} {params.seed} --passages {input.passages:q} "
            "--output {output:q}",
        )


rule plant_in_session:
    input:
        session=QUESTIONS.session,
    output:
        "results/questions/{in_session}.jsonl.gz",
    log:
        "results/logs/plant_in_session/{in_session}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(taken=QUESTIONS.questions, **QUESTIONS.keys("facts repeat result_words"), seed=STUDY.seed),
    shell:
        command(
            "plant_in_session",
            "{params.facts} {params.taken} {params.repeat} {params.result_words} {params.seed} "
            "--session {input.session:q} --output {output:q}",
        )
