"""Training of the reference model, in results/reference_model; resources/ has a model trained by these rules. Nothing here
is part of `all`.
"""

from litm.reference_model.recipe import TASKS

RECIPE = PROGRAMS.file("config", "reference_model.yaml")
#: The prompt files of the tasks in its lessons.
PROMPTS = [PROGRAMS.file("resources", "prompts", f"{task}.txt") for task in TASKS]


rule make_vocabulary:
    input:
        recipe=RECIPE,
        prompts=PROMPTS,
    output:
        directory("results/reference_model/vocabulary"),
    log:
        "results/logs/make_vocabulary.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        **settings("make_vocabulary"),
    shell:
        command("make_vocabulary")


rule train_reference_model:
    input:
        recipe=RECIPE,
        prompts=PROMPTS,
        vocabulary="results/reference_model/vocabulary",
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
        **settings("train_reference_model", store="results/store/reference_model"),
    shell:
        command("train_reference_model", "--threads {threads}")


rule plot_training:
    input:
        curve=rules.train_reference_model.output.curve,
    output:
        png="results/reference_model/training.png",
        pdf="results/reference_model/training.pdf",
    log:
        "results/logs/plot_training.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings("plot_training"),
    shell:
        command("plot_training")
