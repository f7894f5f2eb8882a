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
        **settings(**asked(ANSWER)),
        **compared(number_format=SWEEPS.number_format),
        code=ASKING_MODULE,
        # What `dtype: auto` is here: the program chooses it where it runs.
    shell:
        command(
            "generate",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} --run {resources.run:q} "
            "--gpus {resources.model_gpus} --answers {resources.answers} --digests results/store/file_digests "
            "{params.settings} {params.decoding} {params.context_window} {params.on_failure} "
            "{params.on_overflow} {params.tokenizer} {params.shard} {params.gather} {params.verdicts} "
            "--examples {input.examples:q} --source {input.source:q} --template {input.template:q} "
            "--responses {output.responses:q} --manifest {output.manifest:q}",
        )


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
        **settings(**asked(LOG_PROBABILITY)),
        **compared(number_format=SWEEPS.number_format),
        code=ASKING_MODULE,


use rule measure as measure_shard with:
    output:
        responses=FILES[LOG_PROBABILITY].part_responses,
        manifest=FILES[LOG_PROBABILITY].part_manifest,
    log:
        "results/logs/measure/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/measure/{model}/{experiment}/{part}.tsv"


rule make_judge_prompts:
    input:
        examples=SWEEPS.examples,
        responses=FILES[ANSWER].responses,
        template=SWEEPS.judge_template,
    output:
        "results/judging/{model}/{experiment}.jsonl.gz",
    log:
        "results/logs/make_judge_prompts/{model}/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            swap=EXPERIMENT(lambda entry: entry.judge.swap),
            only_unclear=EXPERIMENT(lambda entry: entry.judge.only_unclear),
        ),
    shell:
        command(
            "make_judge_prompts",
            "{params.swap} {params.only_unclear} --template {input.template:q} --examples {input.examples:q} "
            "--responses {input.responses:q} --output {output:q}",
        )


# Questions about passages, and answers that check them, by the same program.
use rule generate as write with:
    input:
        *waits_for(WRITING),
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses=FILES[WRITING].responses,
        manifest=FILES[WRITING].manifest,
    log:
        "results/logs/write/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/write/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(STUDY.writers),
        experiment=any_of(STUDY.writings),
    resources:
        **needs(WRITING),
    params:
        **settings(**asked(WRITING)),
        **compared(number_format=SWEEPS.number_format),
        code=ASKING_MODULE,


use rule write as write_shard with:
    output:
        responses=FILES[WRITING].part_responses,
        manifest=FILES[WRITING].part_manifest,
    log:
        "results/logs/write/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/write/{model}/{experiment}/{part}.tsv"


# Verdicts of a judge, by the same program; {model} is the judge.
use rule generate as judge with:
    input:
        *waits_for(VERDICT),
        examples=SWEEPS.examples,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        responses=FILES[VERDICT].responses,
        manifest=FILES[VERDICT].manifest,
    log:
        "results/logs/judge/{model}/{experiment}.log",
    benchmark:
        "results/benchmarks/judge/{model}/{experiment}.tsv"
    wildcard_constraints:
        model=any_of(STUDY.judges),
        experiment=any_of(STUDY.judgings),
    resources:
        **needs(VERDICT),
    params:
        **settings(**asked(VERDICT)),
        **compared(number_format=SWEEPS.number_format),
        code=ASKING_MODULE,


use rule judge as judge_shard with:
    output:
        responses=FILES[VERDICT].part_responses,
        manifest=FILES[VERDICT].part_manifest,
    log:
        "results/logs/judge/{model}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/judge/{model}/{experiment}/{part}.tsv"


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
            fields=MODEL.fields,
            settings=MODEL(reasoning),
            cells=SWEEPS.recorded_cells,
            log=MODEL.log,
            position_scale=MODEL.position_scale,
            rows=SWEEPS.recorded_rows,
            decoding=SWEEPS.decoding_of_log,
        ),
    shell:
        command(
            "import_responses",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.fields} "
            "{params.settings} {params.cells} {params.log} {params.position_scale} {params.rows} {params.decoding} "
            "--examples {input.examples:q} --recorded {input.recorded:q} "
            "--responses {output.responses:q} --manifest {output.manifest:q}",
        )
