"""Inference: which model it is, how long its prompts are, and one job a sweep that asks what is missing; or, in the place
of all that, responses that somebody else recorded.
"""


rule identify_model:
    input:
        folder=of_model("folder"),
        tokenizer=of_model("tokenizer"),
        code=code("identify_model.py"),
    output:
        "results/models/{model}.json",
    log:
        "results/logs/identify_model/{model}.log",
    wildcard_constraints:
        model=any_of(MODELS),
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        location=of_model("location"),
    shell:
        "python {input.code[0]:q}"
        " --location {params.location:q}"
        " --tokenizer {input.tokenizer:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule count_tokens:
    input:
        examples=of_experiment("examples"),
        tokenizer=of_model("tokenizer_files"),
        source=of_model("hub_source"),
        template=of_model("template"),
        code=code("count_tokens.py"),
    output:
        counts="results/token_counts/{model}/{experiment}.csv",
        positions="results/token_positions/{model}/{experiment}.parquet",
    log:
        "results/logs/count_tokens/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(MODELS),
    conda:
        "../envs/inference.yaml"
    params:
        tokenizer=of_model("tokenizer_location"),
        prompt_template=of_model("prompt_template"),
        reasoning=of_model("reasoning"),
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --tokenizer {params.tokenizer:q}"
        " --source {input.source:q}"
        " --prompt-template {params.prompt_template:q}"
        " --reasoning {params.reasoning:q}"
        " --template {input.template:q}"
        " --examples {input.examples:q}"
        " --output {output.counts:q}"
        " --positions {output.positions:q}"
        " 2>&1 | tee -i {log:q}"


rule generate:
    input:
        examples=of_experiment("examples"),
        # Nothing is asked about examples that would not measure what they should.
        checked="results/example_checks/{experiment}.json",
        source="results/models/{model}.json",
        tokenizer=of_model("tokenizer_files"),
        template=of_model("template"),
        shards=shard_responses,
        code=of_model("engine_code"),
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/generate/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(MODELS),
    conda:
        "../envs/inference.yaml"
    threads: of_model("threads")
    resources:
        device=of_model("device"),
        # Where shards have asked, this only puts together what they were answered.
        gpu=lambda wildcards, input: 0 if input.shards else of_model("gpu")(wildcards),
        # The same for the program: the one above is lowered in silence to what `--resources gpu=` allows.
        model_gpus=lambda wildcards, input: (
            0 if input.shards else of_model("gpu")(wildcards)
        ),
        gpu_model=lambda wildcards, input: (
            "" if input.shards else of_model("gpu_model")(wildcards)
        ),
        batch_tokens=of_model("batch_tokens"),
        concurrency=of_model("concurrency"),
        request_timeout=of_model("request_timeout"),
        request_attempts=of_model("request_attempts"),
        mem_mb=sweep_memory,
        runtime=sweep_minutes,
    params:
        # A cache that outlives every run: never a declared output, which Snakemake would delete.
        journal="results/journal/{model}/{experiment}.jsonl",
        model=of_model("settings"),
        tokenizer=of_model("own_tokenizer"),
        part=lambda wildcards, input: "--gather" if input.shards else "",
        context_window=of_model("context_window"),
        on_failure=of_model("on_failure"),
        on_overflow=of_experiment("on_overflow"),
        decoding=of_experiment("decoding"),
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --source {input.source:q}"
        " --settings {params.model:q}"
        " --decoding {params.decoding:q}"
        " --context-window {params.context_window}"
        " --on-failure {params.on_failure}"
        " --on-overflow {params.on_overflow}"
        " --tokenizer {params.tokenizer:q}"
        " --template {input.template:q}"
        " --device {resources.device}"
        " --gpus {resources.model_gpus}"
        " --batch-tokens {resources.batch_tokens}"
        " --concurrency {resources.concurrency}"
        " --request-timeout {resources.request_timeout}"
        " --request-attempts {resources.request_attempts}"
        " --examples {input.examples:q}"
        " --journal {params.journal:q}"
        " --responses {output.responses:q}"
        " --manifest {output.manifest:q}"
        " {params.part}"
        # SLURM ends all processes of a job at once: what the program says of it is still to come into the log.
        " 2>&1 | (trap '' TERM; tee -i {log:q})"


use rule generate as generate_shard with:
    input:
        examples=of_experiment("examples"),
        checked="results/example_checks/{experiment}.json",
        source="results/models/{model}.json",
        tokenizer=of_model("tokenizer_files"),
        template=of_model("template"),
        code=of_model("engine_code"),
    output:
        responses="results/shards/{model}/{experiment}/{part}.jsonl.gz",
        manifest="results/shards/{model}/{experiment}/{part}.manifest.json",
    log:
        "results/logs/generate/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}/{part}.tsv"
    resources:
        device=of_model("device"),
        gpu=of_model("gpu"),
        model_gpus=of_model("gpu"),
        gpu_model=of_model("gpu_model"),
        batch_tokens=of_model("batch_tokens"),
        concurrency=of_model("concurrency"),
        request_timeout=of_model("request_timeout"),
        request_attempts=of_model("request_attempts"),
        mem_mb=sweep_memory,
        runtime=sweep_minutes,
    params:
        part="--shard {part}",


rule import_responses:
    input:
        examples=of_experiment("examples"),
        checked="results/example_checks/{experiment}.json",
        recorded=of_recorded("files"),
        code=code("import_responses.py"),
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/import_responses/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(RECORDED),
    conda:
        "../envs/analysis.yaml"
    params:
        fields=lambda wildcards: RECORDED[wildcards.model]["fields"],
        settings=lambda wildcards: RECORDED[wildcards.model]["settings"],
        cells=of_recorded("cells"),
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --fields {params.fields:q}"
        " --settings {params.settings:q}"
        " --cells {params.cells:q}"
        " --recorded {input.recorded:q}"
        " --examples {input.examples:q}"
        " --responses {output.responses:q}"
        " --manifest {output.manifest:q}"
        " 2>&1 | tee -i {log:q}"
