"""Corpora: remote data, passages in shards, and the questions that are derived or generated."""


rule fetch_file:
    input:
        code=code("fetch_file.py"),
    output:
        "results/data/{file}",
    log:
        "results/logs/fetch_file/{file}.log",
    wildcard_constraints:
        file=any_of(REMOTE_FILES),
    localrule: True
    conda:
        "../envs/analysis.yaml"
    resources:
        # Where a file comes from does not change what it is: another mirror re-runs nothing.
        mirror=STUDY.data_mirror or "",
    params:
        url=lambda wildcards: REMOTE_FILES[wildcards.file].url,
        sha256=lambda wildcards: REMOTE_FILES[wildcards.file].sha256,
    shell:
        "python {input.code[0]:q}"
        " --url {params.url:q}"
        " --sha256 {params.sha256}"
        " --mirror {resources.mirror:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule make_passages:
    input:
        files=of_corpus("files"),
        code=of_corpus("source_code"),
    output:
        shards=directory("results/passages/{corpus}/shards"),
        manifest="results/passages/{corpus}/manifest.json",
    log:
        "results/logs/make_passages/{corpus}.log",
    # Sweeps wait for it, and it should not wait for one of them.
    priority: 1
    conda:
        "../envs/retrieval.yaml"
    # One of them compresses.
    threads: 2
    params:
        source=of_corpus("source"),
        settings=of_corpus("settings"),
        location=of_corpus("location"),
        passages_per_shard=of_corpus("passages_per_shard"),
        shards=of_corpus("shards"),
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
        code=of_generated("source_code"),
    output:
        "results/questions/{generated}.jsonl.gz",
    log:
        "results/logs/generate_questions/{generated}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        source=of_generated("source"),
        settings=of_generated("settings"),
    shell:
        "python {input.code[0]:q}"
        " --source {params.source}"
        " --settings {params.settings:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule derive_questions:
    input:
        nq_open=of_derived("nq_open"),
        annotations=of_derived("annotations"),
        code=code("derive_questions.py"),
    output:
        questions="results/questions/{derived}.jsonl.gz",
        funnel="results/questions/{derived}.funnel.csv",
    log:
        "results/logs/derive_questions/{derived}.log",
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --nq-open {input.nq_open:q}"
        " --annotations {input.annotations:q}"
        " --output {output.questions:q}"
        " --funnel {output.funnel:q}"
        " 2>&1 | tee -i {log:q}"
