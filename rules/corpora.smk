"""Passages of corpora, and the questions of generated corpora."""


rule make_passages:
    input:
        files=PLAN.corpora.files,
        code=PLAN.corpora.code,
    output:
        shards=directory("results/passages/{corpus}/shards"),
        manifest="results/passages/{corpus}/manifest.json",
    log:
        "results/logs/make_passages/{corpus}.log",
    # Sweeps wait for this job, and it should not wait for one of them.
    priority: 1
    conda:
        "../envs/retrieval.yaml"
    # One thread compresses.
    threads: 2
    params:
        content=PLAN.content(PLAN.corpora.files, PLAN.corpora.code),
        source=PLAN.corpora.source,
        settings=PLAN.corpora.settings,
        location=PLAN.corpora.location,
        passages_per_shard=PLAN.corpora.passages_per_shard,
        shards=PLAN.corpora.shards,
    shell:
        "python {input.code[0]:q}"
        " --source {params.source}"
        " --settings {params.settings:q}"
        " --input {params.location:q}"
        " --passages-per-shard {params.passages_per_shard}"
        " --shards {params.shards}"
        " --folder {output.shards:q}"
        " --manifest {output.manifest:q}"
        " 2>&1 | tee -i {log:q}"


rule generate_questions:
    input:
        code=PLAN.questions.generator_code,
    output:
        "results/questions/{generated}.jsonl.gz",
    log:
        "results/logs/generate_questions/{generated}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        content=PLAN.content(PLAN.questions.generator_code),
        source=PLAN.questions.generator,
        settings=PLAN.questions.generator_settings,
        taken=PLAN.questions.taken,
    shell:
        "python {input.code[0]:q}"
        " --source {params.source}"
        " --settings {params.settings:q}"
        " --taken {params.taken}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
