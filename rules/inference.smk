"""Inference: one job per sweep that asks prompts without an answer, or imports recorded responses."""


rule generate:
    input:
        *waits_for(ANSWER),
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses=FILES[ANSWER].responses,
        manifest=FILES[ANSWER].manifest,
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
        **needs(ANSWER),
    params:
        # What `dtype: auto` is here is a param too: the program chooses it where it runs.
        **settings("generate", ASKING_MODULE, SWEEPS.number_format, **asked(ANSWER)),
    shell:
        command("generate", "model", "experiment", "--run {resources.run:q} --gpus {resources.model_gpus} --answers {resources.answers}")


use rule generate as generate_shard with:
    output:
        responses=FILES[ANSWER].part_responses,
        manifest=FILES[ANSWER].part_manifest,
    log:
        "results/logs/generate/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/generate/{model}/{experiment}/{part}.tsv"


# Log-probabilities of the accepted answers, by the same program.
use rule generate as measure with:
    input:
        *waits_for(LOG_PROBABILITY),
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses=FILES[LOG_PROBABILITY].responses,
        manifest=FILES[LOG_PROBABILITY].manifest,
    log:
        "results/logs/measure/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/measure/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(dict.fromkeys(model for model, _ in STUDY.pairs(LOG_PROBABILITY))),
        experiment=any_of(dict.fromkeys(experiment for _, experiment in STUDY.pairs(LOG_PROBABILITY))),
    resources:
        **needs(LOG_PROBABILITY),
    params:
        **settings("measure", ASKING_MODULE, SWEEPS.number_format, **asked(LOG_PROBABILITY)),


use rule measure as measure_shard with:
    output:
        responses=FILES[LOG_PROBABILITY].part_responses,
        manifest=FILES[LOG_PROBABILITY].part_manifest,
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
        responses=FILES[ANSWER].responses,
        manifest=FILES[ANSWER].manifest,
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
