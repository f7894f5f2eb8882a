"""Examples: one file per experiment, size and placement, and their checks."""


rule make_examples:
    input:
        dataset=SWEEPS.dataset,
        labels=DATA.files(EXPERIMENT.subset),
        length=SWEEPS.length,
        prompt=EXPERIMENT(SWEEPS.prompt),
        curve=EXPERIMENT(SWEEPS.curve),
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
            "--curve {input.curve:q} --output {output:q}",
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
        compacted=QUESTIONS(lambda entry: [entry.compacted] if entry.compacted else []),
    output:
        "results/questions/{in_session}.jsonl.gz",
    log:
        "results/logs/plant_in_session/{in_session}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            taken=QUESTIONS.questions, **QUESTIONS.keys("facts repeat result_words keep_results"), seed=STUDY.seed
        ),
    shell:
        command(
            "plant_in_session",
            "{params.facts} {params.taken} {params.repeat} {params.result_words} {params.keep_results} {params.seed} "
            "--session {input.session:q} --compacted {input.compacted:q} --output {output:q}",
        )


# Questions that a model writes: prompts about passages, prompts that check what it wrote, and the questions that are kept.
rule make_writing_prompts:
    input:
        ancient(QUESTIONS("results/passages/{corpus}/shards")),
        passages=QUESTIONS("results/passages/{corpus}/manifest.json"),
        template=PROGRAMS.file("resources", "question_writing", "write.txt"),
    output:
        "results/question_writing/{written}/write.jsonl.gz",
    log:
        "results/logs/make_writing_prompts/{written}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(number=QUESTIONS.questions, seed=STUDY.seed),
    shell:
        command(
            "make_writing_prompts",
            "{params.number} {params.seed} --passages {input.passages:q} --template {input.template:q} "
            "--output {output:q}",
        )


rule make_checking_prompts:
    input:
        ancient(QUESTIONS("results/passages/{corpus}/shards")),
        passages=QUESTIONS("results/passages/{corpus}/manifest.json"),
        replies=SWEEPS.written,
        with_passage=PROGRAMS.file("resources", "prompts", "multi_document_qa.txt"),
        alone=PROGRAMS.file("resources", "prompts", "closed_book_qa.txt"),
    output:
        pairs="results/question_writing/{written}/pairs.jsonl.gz",
        prompts="results/question_writing/{written}/check.jsonl.gz",
    log:
        "results/logs/make_checking_prompts/{written}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command(
            "make_checking_prompts",
            "--name {wildcards.written:q} --passages {input.passages:q} --replies {input.replies:q} "
            "--with-passage {input.with_passage:q} --alone {input.alone:q} "
            "--pairs {output.pairs:q} --output {output.prompts:q}",
        )


rule keep_questions:
    input:
        pairs="results/question_writing/{written}/pairs.jsonl.gz",
        replies=SWEEPS.checked,
    output:
        questions="results/questions/{written}.jsonl.gz",
        kept="results/written_questions/{written}.csv",
        table="results/question_writing/{written}/questions.csv",
    log:
        "results/logs/keep_questions/{written}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(writer=QUESTIONS.written_by, checker=QUESTIONS(lambda entry: entry.checked_by or entry.written_by)),
    shell:
        command(
            "keep_questions",
            "--name {wildcards.written:q} {params.writer} {params.checker} --pairs {input.pairs:q} "
            "--replies {input.replies:q} --output {output.questions:q} --kept {output.kept:q} --table {output.table:q}",
        )
