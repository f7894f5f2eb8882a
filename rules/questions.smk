"""Question sets derived from others."""


rule derive_questions:
    input:
        nq_open=DATA.files(QUESTIONS.nq_open),
        annotations=DATA.files(QUESTIONS.annotations),
    output:
        questions="results/questions/{derived}.jsonl.gz",
        funnel="results/questions/{derived}.funnel.csv",
    log:
        "results/logs/derive_questions/{derived}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command(
            "derive_questions",
            "--nq-open {input.nq_open:q} --annotations {input.annotations:q} "
            "--output {output.questions:q} --funnel {output.funnel:q}",
        )


rule take_questions:
    input:
        dataset=DATA.files(QUESTIONS.dataset),
    output:
        "results/questions/{first}.jsonl.gz",
    log:
        "results/logs/take_questions/{first}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(taken=QUESTIONS.questions),
    shell:
        command("take_questions", "{params.taken} --dataset {input.dataset:q} --output {output:q}")
