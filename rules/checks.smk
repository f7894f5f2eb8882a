"""Checks before and after a run: missing software and data, the cost of a run, and an audit of its answers, asked one
prompt at a time. Nothing here is part of `all`.
"""

from litm.config.catalogue import string_keys
from litm.workflow.sweep_inputs import auditing_module, run_settings


rule doctor:
    input:
        lock=PROGRAMS.file("requirements.lock"),
    log:
        "results/logs/doctor.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        **settings(config=string_keys(config)),
    shell:
        command("doctor", "{params.config} --lock {input.lock:q}")


rule estimate_sweep:
    input:
        PROMPTING.tokenizer_files,
        examples=SWEEPS.counted_examples,
        source=SWEEPS.estimate_source,
        template=PROMPTING.template,
        judge=SWEEPS.counted_judge,
    output:
        "results/estimates/{model}/{experiment}{ending}.json",
    log:
        "results/logs/estimate_sweep/{model}/{experiment}{ending}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.asked),
        ending=any_of(SWEEPS.measures),
    conda:
        "../envs/inference.yaml"
    resources:
        run=MODEL(run_settings),
        answers=ANSWERS,
    params:
        **settings(
            settings=MODEL(answer_settings),
            decoding=Each(SWEEPS.sweep).decoding,
            context_window=MODEL(lambda model: model.context_window or 0),
            tokenizer=PROMPTING.tokenizer,
            # The answers that a judge is asked about are no input: an estimate asks for none.
            judged=SWEEPS.counted_answers,
        ),
        # Kept answers are no input: their size alone tells that there are more.
        **compared(answered=SWEEPS.answered),
    shell:
        command(
            "estimate_sweep",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} --run {resources.run:q} "
            "--answers {resources.answers} {params.settings} {params.decoding} {params.context_window} {params.tokenizer} "
            "{params.judged} --judge {input.judge:q} --examples {input.examples:q} --source {input.source:q} "
            "--template {input.template:q} "
            "--output {output:q}",
        )


rule estimate:
    input:
        lock=PROGRAMS.file("requirements.lock"),
        # Without those whose model or data are not here: they are not fetched for this.
        sweeps=SWEEPS.counted_now,
    log:
        "results/logs/estimate.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        **settings(config=string_keys(config)),
    # The table is a by-product of the target, which always runs, and no output.
    shell:
        command(
            "estimate",
            "--table results/estimate.csv {params.config} --lock {input.lock:q} --sweeps {input.sweeps:q}",
        )


rule ask_again:
    input:
        PROMPTING.tokenizer_files,
        examples=SWEEPS.examples,
        responses=FILES[ANSWER].responses,
        source="results/models/{model}.json",
        template=PROMPTING.template,
    output:
        "results/audit_responses/{model}/{experiment}.jsonl.gz",
    log:
        "results/logs/ask_again/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.asked),
    conda:
        "../envs/inference.yaml"
    threads: MODEL.threads
    resources:
        **SWEEPS.needs(ANSWER),
        run=MODEL(run_settings),
        gpu=gpus_here(MODEL.used_gpus),
        model_gpus=MODEL.used_gpus,
        gpu_model=MODEL(lambda model: model.gpu_model or ""),
    params:
        # The audit has answers of its own: an interrupted audit resumes from them, and no sweep uses them.
        **settings(
            **answer_to(ANSWER),
            tokenizer=PROMPTING.own_tokenizer,
            prompts_per_cell=STUDY.audited_per_cell,
            seed=STUDY.seed,
        ),
        code=code("", MODEL(auditing_module)),
    shell:
        command(
            "ask_again",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} --run {resources.run:q} "
            "--gpus {resources.model_gpus} --digests results/store/file_digests {params.settings} "
            "{params.decoding} {params.tokenizer} {params.prompts_per_cell} {params.seed} "
            "--examples {input.examples:q} --responses {input.responses:q} --source {input.source:q} "
            "--template {input.template:q} "
            "--output {output:q}",
        )


rule audit_sweep:
    input:
        examples=SWEEPS.examples,
        responses=FILES[ANSWER].responses,
        again="results/audit_responses/{model}/{experiment}.jsonl.gz",
    output:
        "results/audits/{model}/{experiment}.csv",
    log:
        "results/logs/audit_sweep/{model}/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(metric=EXPERIMENT.metric, seed=STUDY.seed),
        code=code("", EXPERIMENT(modules_of_metric)),
    shell:
        command(
            "audit_sweep",
            "--model {wildcards.model:q} --experiment {wildcards.experiment:q} {params.metric} {params.seed} "
            "--examples {input.examples:q} --responses {input.responses:q} --again {input.again:q} "
            "--output {output:q}",
        )


rule audit:
    input:
        table="results/tables/audit.csv",
    log:
        "results/logs/audit.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command("audit", "--table {input.table:q}")
