"""Inference: one job per sweep that asks prompts without an answer, or imports recorded responses."""

from litm.workflow.sweep_inputs import answer_settings, reasoning, run_settings, shard_of

#: Settings that change an answer, apart from weights and the text of a template.
ASKED = {"settings": MODEL(answer_settings), "decoding": EXPERIMENT.decoding}


rule generate:
    input:
        # The check of the examples: defective examples are never asked.
        "results/example_checks/{experiment}.json",
        PROMPTING.tokenizer_files,
        # For a sharded sweep: this job only gathers the shards' answers.
        SWEEPS.part_responses,
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/generate/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(SWEEPS.asked),
    priority: SWEEPS.priority
    conda:
        "../envs/inference.yaml"
    threads: MODEL.threads
    resources:
        # Text and no `params`, which would re-run the job although no response changes.
        run=MODEL(run_settings),
        gpu=SWEEPS.gpus,
        # The same for the program: Snakemake silently lowers the one above to the limit of `--resources gpu=`.
        model_gpus=SWEEPS.gpus,
        gpu_model=SWEEPS.gpu_model,
        mem_mb=SWEEPS.memory,
        runtime=SWEEPS.minutes,
    params:
        **settings(
            "generate",
            code("inference.engines", MODEL.engine),
            # What `dtype: auto` is here: the program chooses it where it runs.
            SWEEPS.number_format,
            **ASKED,
            context_window=MODEL(lambda model: model.context_window or 0),
            on_failure=MODEL.on_failure,
            on_overflow=EXPERIMENT.on_overflow,
            tokenizer=PROMPTING.own_tokenizer,
            shard=shard_of,
            gather=SWEEPS.gathers,
            digests="results/store/file_digests",
            # The journal outlives every run: never a declared output, which Snakemake would delete.
            journal=JOB("results/journal/{model}/{experiment}.jsonl"),
            journals="results/journal",
        ),
    shell:
        command("generate", "model", "experiment", "--run {resources.run:q} --gpus {resources.model_gpus}")


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
        "results/example_checks/{experiment}.json",
        examples=SWEEPS.examples,
        recorded=SWEEPS.recorded_files,
    output:
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        manifest="results/responses/{model}/{experiment}.manifest.json",
    log:
        "results/logs/import_responses/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.recorded),
    conda:
        "../envs/analysis.yaml"
    params:
        **settings("import_responses", fields=MODEL.fields, settings=MODEL(reasoning), cells=SWEEPS.recorded_cells),
    shell:
        command("import_responses", "model", "experiment")
