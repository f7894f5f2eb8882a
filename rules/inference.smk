"""Inference: one job per sweep that asks prompts without an answer, or imports recorded responses."""


rule generate:
    input:
        examples=PLAN.examples.files,
        # The check of the examples: defective examples are never asked.
        checked="results/example_checks/{experiment}.json",
        source="results/models/{model}.json",
        tokenizer=PLAN.models.tokenizer_files,
        template=PLAN.models.template,
        # For a sharded sweep: this job only gathers the shards' answers.
        parts=PLAN.inference.part_responses,
        code=PLAN.inference.code,
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/generate/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(PLAN.models.asked),
    priority: PLAN.sweeps.priority
    conda:
        "../envs/inference.yaml"
    threads: PLAN.inference.threads
    resources:
        # Text and no `params`, which would re-run the job although no response changes.
        run=PLAN.inference.run,
        gpu=PLAN.inference.gpus,
        # The same for the program: Snakemake silently lowers the one above to the limit of `--resources gpu=`.
        model_gpus=PLAN.inference.gpus,
        gpu_model=PLAN.inference.gpu_model,
        mem_mb=PLAN.inference.memory,
        runtime=PLAN.inference.minutes,
    params:
        content=PLAN.content(
            PLAN.models.tokenizer_files,
            PLAN.models.template,
            PLAN.inference.code,
        ),
        # The journal outlives every run: never a declared output, which Snakemake would delete.
        journal="results/journal/{model}/{experiment}.jsonl",
        model=PLAN.inference.settings,
        # What `dtype: auto` is here: the program chooses it where it runs.
        number_format=PLAN.inference.number_format,
        tokenizer=PLAN.models.own_tokenizer,
        digests="results/store/file_digests",
        part=PLAN.inference.part_option,
        context_window=PLAN.models.context_window,
        on_failure=PLAN.inference.on_failure,
        on_overflow=PLAN.inference.on_overflow,
        decoding=PLAN.inference.decoding,
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
        " --digests {params.digests:q}"
        " --template {input.template:q}"
        " --run {resources.run:q}"
        " --gpus {resources.model_gpus}"
        " --examples {input.examples:q}"
        " --journal {params.journal:q}"
        " --journals results/journal"
        " --responses {output.responses:q}"
        " --manifest {output.manifest:q}"
        " {params.part}"
        # SLURM and a lost terminal end all processes of a job at once; the log still has to receive the program's last
        # message.
        " 2>&1 | (trap '' TERM HUP; tee -i {log:q})"


use rule generate as generate_shard with:
    output:
        responses="results/parts/{model}/{experiment}/{part}.jsonl.gz",
        manifest="results/parts/{model}/{experiment}/{part}.manifest.json",
    log:
        "results/logs/generate/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}/{part}.tsv"


rule import_responses:
    input:
        examples=PLAN.examples.files,
        checked="results/example_checks/{experiment}.json",
        recorded=PLAN.recorded.files,
        code=PLAN.code("import_responses.py"),
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/import_responses/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(PLAN.recorded.models),
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.recorded.files, PLAN.code("import_responses.py")),
        fields=PLAN.recorded.fields,
        settings=PLAN.recorded.reasoning,
        cells=PLAN.recorded.cells,
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
