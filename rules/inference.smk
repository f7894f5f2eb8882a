"""Inference: which model it is, how long its prompts are, and one job a sweep that asks what is missing."""


def model_folder_files(wildcards):
    path = STUDY.models[wildcards.model].path
    return [str(file) for file in model_files(Path(path))] if path else []


def tokenizer_file(wildcards):
    tokenizer = STUDY.models[wildcards.model].tokenizer
    if tokenizer is None:
        return []
    return dataset_file(tokenizer) if tokenizer in STUDY.datasets else tokenizer


def prompt_template_file(wildcards):
    name = STUDY.models[wildcards.model].template_name
    return project_file("resources", "prompt_templates", f"{name}.txt") if name else []


def sweep_examples(wildcards):
    return examples_of(wildcards.experiment)


def engine_code(wildcards):
    return code("generate.py", f"engines/{STUDY.models[wildcards.model].engine}.py")


def model_location(wildcards):
    model = STUDY.models[wildcards.model]
    return canonical_json({"path": model.path, "hub": model.hub, "revision": model.revision})


def answer_settings(wildcards):
    return canonical_json(STUDY.models[wildcards.model].answer_settings())


def context_window(wildcards):
    return STUDY.models[wildcards.model].context_window or 0


def decoding(wildcards):
    return canonical_json(STUDY.experiments[wildcards.experiment].decoding())


def prompt_template(wildcards):
    return STUDY.models[wildcards.model].prompt_template


def model_threads(wildcards):
    return STUDY.models[wildcards.model].threads


def model_device(wildcards):
    return STUDY.models[wildcards.model].device


def model_batch_tokens(wildcards):
    return STUDY.models[wildcards.model].batch_tokens


rule identify_model:
    input:
        folder=model_folder_files,
        tokenizer=tokenizer_file,
        code=code("identify_model.py"),
    output:
        "results/models/{model}.json",
    params:
        location=model_location,
    log:
        "results/logs/identify_model/{model}.log",
    conda:
        "../envs/inference.yaml"
    shell:
        "python {input.code[0]:q}"
        " --location {params.location:q}"
        " --tokenizer {input.tokenizer:q}"
        " --output {output:q}"
        " 2>&1 | tee {log:q}"


rule count_tokens:
    input:
        examples=sweep_examples,
        folder=model_folder_files,
        tokenizer=tokenizer_file,
        template=prompt_template_file,
        code=code("count_tokens.py"),
    output:
        "results/token_counts/{model}/{experiment}.csv",
    params:
        location=model_location,
        prompt_template=prompt_template,
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    conda:
        "../envs/inference.yaml"
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --location {params.location:q}"
        " --tokenizer {input.tokenizer:q}"
        " --prompt-template {params.prompt_template:q}"
        " --template {input.template:q}"
        " --examples {input.examples:q}"
        " --output {output:q}"
        " 2>&1 | tee {log:q}"


rule generate:
    input:
        examples=sweep_examples,
        source="results/models/{model}.json",
        tokenizer=tokenizer_file,
        template=prompt_template_file,
        code=engine_code,
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    params:
        # A cache that outlives every run: never a declared output, which Snakemake would delete.
        journal="results/journal/{model}/{experiment}.jsonl",
        model=answer_settings,
        context_window=context_window,
        decoding=decoding,
    threads: model_threads
    resources:
        device=model_device,
        batch_tokens=model_batch_tokens,
    log:
        "results/logs/generate/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}.tsv"
    conda:
        "../envs/inference.yaml"
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --source {input.source:q}"
        " --settings {params.model:q}"
        " --decoding {params.decoding:q}"
        " --context-window {params.context_window}"
        " --tokenizer {input.tokenizer:q}"
        " --template {input.template:q}"
        " --device {resources.device}"
        " --batch-tokens {resources.batch_tokens}"
        " --examples {input.examples:q}"
        " --journal {params.journal:q}"
        " --responses {output.responses:q}"
        " --manifest {output.manifest:q}"
        " 2>&1 | tee {log:q}"
