"""Question sets derived from others."""


rule derive_questions:
    input:
        nq_open=DATA.files(QUESTIONS.nq_open),
        annotations=DATA.files(QUESTIONS.annotations),
    output:
        "results/questions/{derived}.jsonl.gz",
        funnel="results/questions/{derived}.funnel.csv",
    log:
        "results/logs/derive_questions/{derived}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **settings("derive_questions"),
    shell:
        command("derive_questions")


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
        **settings("take_questions", taken=QUESTIONS.questions),
    shell:
        command("take_questions")
