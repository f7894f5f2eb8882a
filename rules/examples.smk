"""Examples: the prompts of one experiment at one size and one placement, with the answers that count."""


def task_code(wildcards):
    task = STUDY.experiments[wildcards.experiment].task
    return code("make_examples.py", f"tasks/{task}.py")


def prompt_file(wildcards):
    prompt = STUDY.experiments[wildcards.experiment].prompt
    return project_file("resources", "prompts", f"{prompt}.txt")


def questions_file(wildcards):
    datasets = STUDY.experiments[wildcards.experiment].datasets
    return dataset_file(datasets[int(wildcards.size)]) if datasets else []


def task_name(wildcards):
    return STUDY.experiments[wildcards.experiment].task


def example_settings(wildcards):
    return canonical_json(STUDY.experiments[wildcards.experiment].example_settings())


rule make_examples:
    input:
        dataset=questions_file,
        prompt=prompt_file,
        code=task_code,
    output:
        "results/examples/{experiment}/{size}/{placement}.jsonl.gz",
    params:
        task=task_name,
        settings=example_settings,
    log:
        "results/logs/make_examples/{experiment}/{size}/{placement}.log",
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --task {params.task}"
        " --size {wildcards.size}"
        " --placement {wildcards.placement}"
        " --settings {params.settings:q}"
        " --prompt {input.prompt:q}"
        " --dataset {input.dataset:q}"
        " --output {output:q}"
        " 2>&1 | tee {log:q}"
