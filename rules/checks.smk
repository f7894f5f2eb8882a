"""Checks before and after a run: missing software and data, the cost of a run, and an audit of its answers, asked one
prompt at a time. Nothing here is part of `all`.
"""

from litm.workflow.sweep_inputs import config_text


rule doctor:
    input:
        code=PLAN.code("doctor.py"),
        lock=PLAN.project.file("requirements.lock"),
    log:
        "results/logs/doctor.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        # A function, because Snakemake fills in the braces of a text, and paths of responses have some.
        config=lambda wildcards, text=config_text(config): text,
    shell:
        "python {input.code[0]:q}"
        " --config {params.config:q}"
        " --lock {input.lock:q}"
        " 2>&1 | tee -i {log:q}"


rule estimate_sweep:
    input:
        examples=PLAN.examples.files,
        source=PLAN.estimate.source,
        tokenizer=PLAN.models.tokenizer_files,
        template=PLAN.models.template,
        code=PLAN.code("estimate_sweep.py"),
    output:
        "results/estimates/{model}/{experiment}.json",
    log:
        "results/logs/estimate_sweep/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.asked),
    conda:
        "../envs/inference.yaml"
    resources:
        run=PLAN.inference.run,
    params:
        content=PLAN.content(
            PLAN.models.tokenizer_files,
            PLAN.models.template,
            PLAN.code("estimate_sweep.py"),
        ),
        journal=PLAN.estimate.journal,
        # A journal only grows, and is no input: its size alone tells that there are more answers.
        answered=PLAN.estimate.answered,
        model=PLAN.inference.settings,
        tokenizer=PLAN.models.tokenizer,
        context_window=PLAN.models.context_window,
        decoding=PLAN.inference.decoding,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --source {input.source:q}"
        " --settings {params.model:q}"
        " --decoding {params.decoding:q}"
        " --context-window {params.context_window}"
        " --tokenizer {params.tokenizer:q}"
        " --template {input.template:q}"
        " --run {resources.run:q}"
        " --examples {input.examples:q}"
        " --journal {params.journal:q}"
        " --journals results/journal"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule estimate:
    input:
        sweeps=PLAN.estimate.sweeps,
        code=PLAN.code("estimate.py"),
    log:
        "results/logs/estimate.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        rates=PLAN.estimate.rates,
        predicted=PLAN.estimate.predicted,
        prices=PLAN.estimate.prices,
        # A by-product of the target, which always runs: a table that is no output.
        table="results/estimate.csv",
    shell:
        "python {input.code[0]:q}"
        " --sweeps {input.sweeps:q}"
        " --rates {params.rates:q}"
        " --predicted {params.predicted:q}"
        " --prices {params.prices:q}"
        " --table {params.table:q}"
        " 2>&1 | tee -i {log:q}"


rule ask_again:
    input:
        examples=PLAN.examples.files,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        source="results/models/{model}.json",
        tokenizer=PLAN.models.tokenizer_files,
        template=PLAN.models.template,
        code=PLAN.audit.code,
    output:
        "results/audit_responses/{model}/{experiment}.jsonl.gz",
    log:
        "results/logs/ask_again/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.asked),
    conda:
        "../envs/inference.yaml"
    threads: PLAN.inference.threads
    resources:
        run=PLAN.inference.run,
        gpu=PLAN.audit.gpus,
        model_gpus=PLAN.audit.gpus,
        gpu_model=PLAN.audit.gpu_model,
        mem_mb=PLAN.inference.memory,
        runtime=PLAN.inference.minutes,
    params:
        content=PLAN.content(
            PLAN.models.tokenizer_files, PLAN.models.template, PLAN.audit.code
        ),
        # The audit's own journal: an interrupted audit resumes from it, and no sweep uses it.
        journal="results/audit_journal/{model}/{experiment}.jsonl",
        model=PLAN.inference.settings,
        tokenizer=PLAN.models.own_tokenizer,
        digests="results/store/file_digests",
        decoding=PLAN.inference.decoding,
        prompts_per_cell=PLAN.study.audited_per_cell,
        seed=PLAN.study.seed,
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --source {input.source:q}"
        " --settings {params.model:q}"
        " --decoding {params.decoding:q}"
        " --tokenizer {params.tokenizer:q}"
        " --digests {params.digests:q}"
        " --template {input.template:q}"
        " --run {resources.run:q}"
        " --gpus {resources.model_gpus}"
        " --prompts-per-cell {params.prompts_per_cell}"
        " --seed {params.seed}"
        " --examples {input.examples:q}"
        " --responses {input.responses:q}"
        " --journal {params.journal:q}"
        " --output {output:q}"
        " 2>&1 | (trap '' TERM; tee -i {log:q})"


rule audit_sweep:
    input:
        examples=PLAN.examples.files,
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        again="results/audit_responses/{model}/{experiment}.jsonl.gz",
        code=PLAN.code("audit_sweep.py"),
    output:
        "results/audits/{model}/{experiment}.csv",
    log:
        "results/logs/audit_sweep/{model}/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.code("audit_sweep.py")),
        metric=PLAN.examples.metric,
        seed=PLAN.study.seed,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --metric {params.metric}"
        " --seed {params.seed}"
        " --examples {input.examples:q}"
        " --responses {input.responses:q}"
        " --again {input.again:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule audit:
    input:
        table="results/tables/audit.csv",
        code=PLAN.code("audit.py"),
    log:
        "results/logs/audit.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}" " --table {input.table:q}" " 2>&1 | tee -i {log:q}"
