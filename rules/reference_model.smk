"""Training of the reference model, in results/reference_model; resources/ has a model trained by these rules. Nothing here
is part of `all`.
"""


rule make_vocabulary:
    input:
        recipe=PLAN.reference_model.recipe,
        prompts=PLAN.reference_model.prompts,
        code=PLAN.code("make_vocabulary.py"),
    output:
        directory("results/reference_model/vocabulary"),
    log:
        "results/logs/make_vocabulary.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        content=PLAN.content(
            PLAN.reference_model.recipe,
            PLAN.reference_model.prompts,
            PLAN.code("make_vocabulary.py"),
        ),
    shell:
        "python {input.code[0]:q}"
        " --recipe {input.recipe:q}"
        " --prompts {input.prompts:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule train_reference_model:
    input:
        recipe=PLAN.reference_model.recipe,
        prompts=PLAN.reference_model.prompts,
        vocabulary="results/reference_model/vocabulary",
        code=PLAN.code("train_reference_model.py"),
    output:
        model=directory("results/reference_model/model"),
        curve="results/reference_model/training.csv",
    log:
        "results/logs/train_reference_model.log",
    benchmark:
        "results/benchmarks/train_reference_model.tsv"
    conda:
        "../envs/inference.yaml"
    resources:
        mem_mb=4000,
        runtime=180,
    params:
        content=PLAN.content(
            PLAN.reference_model.recipe,
            PLAN.reference_model.prompts,
            PLAN.code("train_reference_model.py"),
        ),
        store="results/store/reference_model",
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --recipe {input.recipe:q}"
        " --prompts {input.prompts:q}"
        " --vocabulary {input.vocabulary:q}"
        " --store {params.store:q}"
        " --threads {threads}"
        " --model {output.model:q}"
        " --curve {output.curve:q}"
        " 2>&1 | tee -i {log:q}"


rule plot_training:
    input:
        curve=rules.train_reference_model.output.curve,
        code=PLAN.code("plot_training.py"),
    output:
        png="results/reference_model/training.png",
        pdf="results/reference_model/training.pdf",
    log:
        "results/logs/plot_training.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.code("plot_training.py")),
    shell:
        "python {input.code[0]:q}"
        " --curve {input.curve:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"
