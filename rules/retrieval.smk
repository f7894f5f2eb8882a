"""Retrieval: indexes of a corpus, hits for each question, and the candidate sets of contexts.

Indexes, vectors and search results lie in results/store, named by the digest of their inputs; the outputs of the rules refer to them.
An existing entry is not made again, whatever re-runs the rule.
The shards of a corpus are `ancient` inputs: the manifest has their hashes, and tells when they have changed.
"""

from litm.retrieval.search import METHODS
from litm.workflow.data_inputs import batch_tokens, bm25_threads, bm25s_memory, gpus, identity_file, index_memory

ENCODING = {"device": RETRIEVER.device, "gpu": gpus_here(RETRIEVER(gpus)), "batch_tokens": RETRIEVER(batch_tokens)}


rule index_bm25:
    input:
        ancient("results/passages/{corpus}/shards"),
        passages="results/passages/{corpus}/manifest.json",
    output:
        "results/indexes/{corpus}/bm25.json",
    log:
        "results/logs/index_bm25/{corpus}.log",
    priority: EARLY
    conda:
        "../envs/retrieval.yaml"
    threads: CORPUS(bm25_threads)
    resources:
        mem_mb=4000,
    params:
        **settings(),
    shell:
        command(
            "index_bm25",
            "--threads {threads} --memory-mb {resources.mem_mb} --store results/store/bm25 "
            "--passages {input.passages:q} --output {output:q}",
        )


rule index_bm25s:
    input:
        ancient("results/passages/{corpus}/shards"),
        passages="results/passages/{corpus}/manifest.json",
    output:
        "results/indexes/{corpus}/{retriever}/bm25s.json",
    log:
        "results/logs/index_bm25s/{corpus}/{retriever}.log",
    priority: EARLY
    conda:
        "../envs/retrieval.yaml"
    resources:
        mem_mb=CORPUS(bm25s_memory),
    params:
        **settings(k1=RETRIEVER.k1, b=RETRIEVER.b),
    shell:
        command(
            "index_bm25s",
            "--store results/store/bm25s {params.k1} {params.b} --passages {input.passages:q} --output {output:q}",
        )


rule encode_passages:
    input:
        ancient("results/passages/{corpus}/shards"),
        passages="results/passages/{corpus}/manifest.json",
        encoder="results/retrievers/{retriever}.json",
    output:
        "results/vectors/{corpus}/{retriever}/{shard}.json",
    log:
        "results/logs/encode_passages/{corpus}/{retriever}/{shard}.log",
    benchmark:
        "results/benchmarks/encode_passages/{corpus}/{retriever}/{shard}.tsv"
    conda:
        "../envs/retrieval.yaml"
    threads: RETRIEVER.threads
    resources:
        **ENCODING,
    params:
        **settings(encoding=RETRIEVER.encoding),
    shell:
        command(
            "encode_passages",
            "--shard {wildcards.shard:q} --device {resources.device} --batch-tokens {resources.batch_tokens} "
            "--store results/store/vectors {params.encoding} "
            "--passages {input.passages:q} --encoder {input.encoder:q} --output {output:q}",
        )


rule index_vectors:
    input:
        vectors="results/vectors/{corpus}/{retriever}/{shard}.json",
    output:
        "results/indexes/{corpus}/{retriever}/{shard}.json",
    log:
        "results/logs/index_vectors/{corpus}/{retriever}/{shard}.log",
    conda:
        "../envs/retrieval.yaml"
    resources:
        mem_mb=CORPUS(index_memory),
    params:
        **settings(index=RETRIEVER.index),
    shell:
        command(
            "index_vectors",
            "--store results/store/indexes {params.index} --vectors {input.vectors:q} --output {output:q}",
        )


rule read_run:
    input:
        ancient("results/passages/{corpus}/shards"),
        run=RETRIEVER.path,
        questions=DATA.files(RETRIEVER.questions),
        passages="results/passages/{corpus}/manifest.json",
    output:
        "results/indexes/{corpus}/{retriever}/run.json",
    log:
        "results/logs/read_run/{corpus}/{retriever}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command(
            "read_run",
            "--run {input.run:q} --questions {input.questions:q} --passages {input.passages:q} " "--output {output:q}",
        )


rule retrieve:
    input:
        ancient("results/passages/{corpus}/shards"),
        questions=DATA.files(JOB.questions),
        passages="results/passages/{corpus}/manifest.json",
        indexes=DATA.indexes,
        vectors=DATA.vectors,
        encoder=RETRIEVER(identity_file),
    output:
        hits="results/retrieved/{corpus}/{retriever}/{questions}.jsonl.gz",
        manifest="results/retrieved/{corpus}/{retriever}/{questions}.manifest.json",
    log:
        "results/logs/retrieve/{corpus}/{retriever}/{questions}.log",
    priority: EARLY
    conda:
        "../envs/retrieval.yaml"
    threads: DATA.search_threads
    resources:
        **ENCODING,
        mem_mb=4000,
    params:
        **settings(
            approximate=RETRIEVER.index,
            **RETRIEVER.keys("method search encoding"),
        ),
        code=code("retrieval", RETRIEVER(lambda one: METHODS[one.method])),
    shell:
        command(
            "retrieve",
            "--device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads} "
            "--memory-mb {resources.mem_mb} --store results/store/hits {params.approximate} {params.method} "
            "{params.search} {params.encoding} "
            "--questions {input.questions:q} --passages {input.passages:q} --indexes {input.indexes:q} "
            "--vectors {input.vectors:q} --encoder {input.encoder:q} "
            "--output {output.hits:q} --manifest {output.manifest:q}",
        )


rule read_questions:
    input:
        ancient(QUESTIONS("results/passages/{corpus}/shards")),
        questions=QUESTIONS.file,
        passages=QUESTIONS("results/passages/{corpus}/manifest.json"),
    output:
        "results/questions/{own}.jsonl.gz",
    log:
        "results/logs/read_questions/{own}.log",
    priority: FIRST
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command("read_questions", "--questions {input.questions:q} --passages {input.passages:q} --output {output:q}")


rule find_gold:
    input:
        ancient(QUESTIONS("results/passages/{corpus}/shards")),
        questions=DATA.files(QUESTIONS.gold_of),
        retrieved=QUESTIONS("results/retrieved/{corpus}/{retriever}/{gold_of}.jsonl.gz"),
        passages=QUESTIONS("results/passages/{corpus}/manifest.json"),
        corrections=QUESTIONS("{corrections}"),
    output:
        questions="results/questions/{found}.jsonl.gz",
        table="results/gold_passages/{found}.csv",
    log:
        "results/logs/find_gold/{found}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(seed=STUDY.seed),
    shell:
        command(
            "find_gold",
            "--name {wildcards.found:q} {params.seed} "
            "--questions {input.questions:q} --retrieved {input.retrieved:q} --passages {input.passages:q} "
            "--corrections {input.corrections:q} "
            "--output {output.questions:q} --table {output.table:q}",
        )


rule measure_recall:
    input:
        retrieved=DATA.hits("jsonl.gz"),
        manifest=DATA.hits("manifest.json"),
    output:
        "results/recall/{corpus}/{retriever}/{questions}.csv",
    log:
        "results/logs/measure_recall/{corpus}/{retriever}/{questions}.log",
    wildcard_constraints:
        corpus=any_of([*STUDY.corpora, *STUDY.datasets]),
        retriever=any_of([*STUDY.retrievers, *STUDY.datasets]),
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(sizes=DATA.sizes_as_retrieved),
    shell:
        command(
            "measure_recall",
            "--questions {wildcards.questions:q} --corpus {wildcards.corpus:q} "
            "--retriever {wildcards.retriever:q} {params.sizes} "
            "--retrieved {input.retrieved:q} --manifest {input.manifest:q} --output {output:q}",
        )


rule make_candidates:
    input:
        ancient(CANDIDATES("results/passages/{corpus}/shards")),
        questions=DATA.files(CANDIDATES.questions),
        retrieved=CANDIDATES("results/retrieved/{corpus}/{retriever}/{questions}.jsonl.gz"),
        passages=CANDIDATES("results/passages/{corpus}/manifest.json"),
    output:
        candidates="results/candidates/{candidates}.jsonl.gz",
        table="results/candidates/{candidates}.csv",
    log:
        "results/logs/make_candidates/{candidates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(settings=CANDIDATES.settings),
    shell:
        command(
            "make_candidates",
            "--name {wildcards.candidates:q} {params.settings} "
            "--questions {input.questions:q} --retrieved {input.retrieved:q} --passages {input.passages:q} "
            "--output {output.candidates:q} --table {output.table:q}",
        )


rule rerank:
    input:
        documents=DATA.files(JOB.dataset),
        fused_with=DATA.files(RERANKER.fused_with),
        model=RERANKER(identity_file),
    output:
        "results/reranked/{reranker}/{dataset}.jsonl.gz",
    log:
        "results/logs/rerank/{reranker}/{dataset}.log",
    priority: EARLY
    conda:
        "../envs/retrieval.yaml"
    threads: 8
    resources:
        device=RERANKER.device,
        gpu=gpus_here(RERANKER(gpus)),
        batch_tokens=RERANKER(batch_tokens),
        mem_mb=4000,
    params:
        **settings(settings=RERANKER.settings),
    shell:
        command(
            "rerank",
            "--device {resources.device} --batch-tokens {resources.batch_tokens} --store results/store/reranked "
            "{params.settings} "
            "--documents {input.documents:q} --fused-with {input.fused_with:q} --model {input.model:q} "
            "--output {output:q}",
        )


rule export_released:
    input:
        candidates=DATA.files(JOB.dataset),
    output:
        "results/export/{dataset}/{size}_total_documents/{dataset}-{size}_total_documents_gold_at_{position}.jsonl.gz",
    log:
        "results/logs/export_released/{dataset}/{size}/{position}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(),
    shell:
        command(
            "export_released",
            "--size {wildcards.size:q} --position {wildcards.position:q} --candidates {input.candidates:q} "
            "--output {output:q}",
        )
