"""Before and after a run: what is missing on this machine, what a run would cost, and whether its answers are those of
the plain way of asking. Nothing here is part of `all`.
"""


rule doctor:
    input:
        code=code("doctor.py"),
        lock=project_file("requirements.lock"),
    log:
        "results/logs/doctor.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        config=canonical_json(string_keys(config)),
        project=project_file(),
    shell:
        "python {input.code[0]:q}"
        " --config {params.config:q}"
        " --project {params.project:q}"
        " 2>&1 | tee -i {log:q}"


rule estimate_sweep:
    input:
        examples=of_experiment("examples"),
        source=source_of_estimate,
        tokenizer=of_model("tokenizer_files"),
        template=of_model("template"),
        code=code("estimate_sweep.py"),
    output:
        "results/estimates/{model}/{experiment}.json",
    log:
        "results/logs/estimate_sweep/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(MODELS),
    conda:
        "../envs/inference.yaml"
    params:
        journal=journal_of,
        # A journal only grows, and is no input: that it has grown is all that says there are more answers.
        answered=lambda wildcards: sum(
            file.stat().st_size for file in journal_files(journal_of(wildcards))
        ),
        model=of_model("settings"),
        tokenizer=of_model("tokenizer_location"),
        context_window=of_model("context_window"),
        decoding=of_experiment("decoding"),
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
        " --examples {input.examples:q}"
        " --journal {params.journal:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule estimate:
    input:
        sweeps=for_each_sweep("results/estimates/{model}/{experiment}.json", MODELS),
        code=code("estimate.py"),
    log:
        "results/logs/estimate.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        rates=canonical_json(
            {
                name: model.tokens_per_second
                for name, model in STUDY.models.items()
                if name in MODELS
            }
        ),
        prices=canonical_json(
            {
                name: model.prices
                for name, model in STUDY.models.items()
                if isinstance(model, ApiModel)
            }
        ),
        # Beside the point of the target, which is always made: a table, and no output.
        table="results/estimate.csv",
    shell:
        "python {input.code[0]:q}"
        " --sweeps {input.sweeps:q}"
        " --rates {params.rates:q}"
        " --prices {params.prices:q}"
        " --table {params.table:q}"
        " 2>&1 | tee -i {log:q}"


rule ask_again:
    input:
        examples=of_experiment("examples"),
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        source="results/models/{model}.json",
        tokenizer=of_model("tokenizer_files"),
        template=of_model("template"),
        code=of_model("audit_code"),
    output:
        "results/audit_responses/{model}/{experiment}.jsonl.gz",
    log:
        "results/logs/ask_again/{model}/{experiment}.log",
    wildcard_constraints:
        model=any_of(MODELS),
    conda:
        "../envs/inference.yaml"
    threads: of_model("threads")
    resources:
        device=of_model("device"),
        gpu=of_model("gpu"),
        model_gpus=of_model("gpu"),
        gpu_model=of_model("gpu_model"),
        mem_mb=sweep_memory,
        runtime=sweep_minutes,
    params:
        # The audit's own: an audit that was interrupted goes on, and no sweep is ever served from it.
        journal="results/audit_journal/{model}/{experiment}.jsonl",
        model=of_model("settings"),
        tokenizer=of_model("own_tokenizer"),
        decoding=of_experiment("decoding"),
        prompts_per_cell=STUDY.audited_per_cell,
        seed=STUDY.seed,
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --experiment {wildcards.experiment:q}"
        " --source {input.source:q}"
        " --settings {params.model:q}"
        " --decoding {params.decoding:q}"
        " --tokenizer {params.tokenizer:q}"
        " --template {input.template:q}"
        " --device {resources.device}"
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
        examples=of_experiment("examples"),
        responses="results/responses/{model}/{experiment}.jsonl.gz",
        again="results/audit_responses/{model}/{experiment}.jsonl.gz",
        code=code("audit_sweep.py"),
    output:
        "results/audits/{model}/{experiment}.csv",
    log:
        "results/logs/audit_sweep/{model}/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        metric=of_experiment("metric"),
        seed=STUDY.seed,
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
        code=code("audit.py"),
    log:
        "results/logs/audit.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}" " --table {input.table:q}" " 2>&1 | tee -i {log:q}"
