"""Questions that the workflow makes: generated with a corpus, or derived from NaturalQuestions."""


rule generate_questions:
    input:
        code=PLAN.questions.generator_code,
    output:
        "results/questions/{generated}.jsonl.gz",
    log:
        "results/logs/generate_questions/{generated}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        source=PLAN.questions.generator,
        settings=PLAN.questions.generator_settings,
    shell:
        "python {input.code[0]:q}"
        " --source {params.source}"
        " --settings {params.settings:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule derive_questions:
    input:
        nq_open=PLAN.questions.nq_open,
        annotations=PLAN.questions.annotations,
        code=PLAN.code("derive_questions.py"),
    output:
        questions="results/questions/{derived}.jsonl.gz",
        funnel="results/questions/{derived}.funnel.csv",
    log:
        "results/logs/derive_questions/{derived}.log",
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --nq-open {input.nq_open:q}"
        " --annotations {input.annotations:q}"
        " --output {output.questions:q}"
        " --funnel {output.funnel:q}"
        " 2>&1 | tee -i {log:q}"
