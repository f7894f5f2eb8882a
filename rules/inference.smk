"""Inference: one job per sweep that asks prompts without an answer, or imports recorded responses."""

from litm.workflow.sweep_inputs import MEASURING, answer_settings, asking_module, reasoning, run_settings, shard_of

#: Settings that change an answer, or what is measured in its place, apart from weights and the text of a template.
ASKED = {"settings": MODEL(answer_settings), "decoding": EXPERIMENT.decoding}
MEASURED = {"settings": MODEL(answer_settings), "decoding": MEASURING}
#: The other settings of a sweep's job.
SWEEP = dict(
    context_window=MODEL(lambda model: model.context_window or 0),
    on_failure=MODEL.on_failure,
    on_overflow=EXPERIMENT.on_overflow,
    tokenizer=PROMPTING.own_tokenizer,
    shard=shard_of,
    gather=SWEEPS.gathers,
    digests="results/store/file_digests",
)


rule generate:
    input:
        # The check of the examples: defective examples are never asked.
        "results/example_checks/{experiment}.json",
        PROMPTING.tokenizer_files,
        # For a sharded sweep: this job only gathers the shards' answers.
        SWEEPS.part_responses("results/parts/{model}/{experiment}"),
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
            code("", MODEL(asking_module)),
            # What `dtype: auto` is here: the program chooses it where it runs.
            SWEEPS.number_format,
            **ASKED,
            **SWEEP,
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


# Log-probabilities of the accepted answers, by the same program, with journals of their own beside those of answers.
use rule generate as measure with:
    input:
        "results/example_checks/{experiment}.json",
        PROMPTING.tokenizer_files,
        SWEEPS.part_responses("results/parts/{model}/{experiment}.log_probability"),
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses="results/log_probabilities/{model}/{experiment}.jsonl.gz",
        manifest="results/log_probabilities/{model}/{experiment}.manifest.json",
    log:
        "results/logs/measure/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/measure/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(dict.fromkeys(model for model, _ in STUDY.measured)),
        experiment=any_of(dict.fromkeys(experiment for _, experiment in STUDY.measured)),
    params:
        **settings(
            "measure",
            code("", MODEL(asking_module)),
            SWEEPS.number_format,
            **MEASURED,
            **SWEEP,
            journal=JOB("results/journal/{model}/{experiment}.log_probability.jsonl"),
            journals="results/journal",
        ),


use rule measure as measure_shard with:
    output:
        responses="results/parts/{model}/{experiment}.log_probability/{part}.jsonl.gz",
        manifest="results/parts/{model}/{experiment}.log_probability/{part}.manifest.json",
    log:
        "results/logs/measure/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/measure/{model}/{experiment}/{part}.tsv"


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
        **settings(
            "import_responses",
            fields=MODEL.fields,
            settings=MODEL(reasoning),
            cells=SWEEPS.recorded_cells,
            log=MODEL.log,
            position_scale=MODEL.position_scale,
            decoding=SWEEPS.decoding_of_log,
        ),
    shell:
        command("import_responses", "model", "experiment")
