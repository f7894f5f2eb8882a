"""Question sets derived from others."""


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
    params:
        content=PLAN.content(
            PLAN.questions.nq_open,
            PLAN.questions.annotations,
            PLAN.code("derive_questions.py"),
        ),
    shell:
        "python {input.code[0]:q}"
        " --nq-open {input.nq_open:q}"
        " --annotations {input.annotations:q}"
        " --output {output.questions:q}"
        " --funnel {output.funnel:q}"
        " 2>&1 | tee -i {log:q}"


rule take_questions:
    input:
        dataset=PLAN.questions.all_of,
        code=PLAN.code("take_questions.py"),
    output:
        "results/questions/{first}.jsonl.gz",
    log:
        "results/logs/take_questions/{first}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.questions.all_of, PLAN.code("take_questions.py")),
        taken=PLAN.questions.first_taken,
    shell:
        "python {input.code[0]:q}"
        " --dataset {input.dataset:q}"
        " --taken {params.taken}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
