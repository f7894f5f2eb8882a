"""Retrieval: indexes of a corpus, hits for each question, and the candidate sets of contexts.

Indexes, vectors and search results lie in results/store, named by the digest of their inputs; the outputs of the rules refer to them.
An existing entry is not made again, whatever re-runs the rule.
The shards of a corpus are `ancient` inputs: the manifest has their hashes, and tells when they have changed.
"""


rule index_bm25:
    input:
        passages="results/passages/{corpus}/manifest.json",
        shards=ancient("results/passages/{corpus}/shards"),
        code=PLAN.code("index_bm25.py"),
    output:
        "results/indexes/{corpus}/bm25.json",
    log:
        "results/logs/index_bm25/{corpus}.log",
    # Sweeps wait for this job, and it should not wait for one of them.
    priority: 1
    conda:
        "../envs/retrieval.yaml"
    threads: PLAN.retrieval.bm25_threads
    resources:
        mem_mb=4000,
    params:
        content=PLAN.content(PLAN.code("index_bm25.py")),
        store="results/store/bm25",
    shell:
        "python {input.code[0]:q}"
        " --passages {input.passages:q}"
        " --threads {threads}"
        " --memory-mb {resources.mem_mb}"
        " --store {params.store:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule encode_passages:
    input:
        passages="results/passages/{corpus}/manifest.json",
        shards=ancient("results/passages/{corpus}/shards"),
        encoder="results/retrievers/{retriever}.json",
        code=PLAN.code("encode_passages.py"),
    output:
        "results/vectors/{corpus}/{retriever}/{shard}.json",
    log:
        "results/logs/encode_passages/{corpus}/{retriever}/{shard}.log",
    benchmark:
        "results/benchmarks/encode_passages/{corpus}/{retriever}/{shard}.tsv"
    conda:
        "../envs/retrieval.yaml"
    threads: PLAN.retrieval.threads
    resources:
        device=PLAN.retrieval.device,
        gpu=PLAN.retrieval.gpu,
        batch_tokens=PLAN.retrieval.batch_tokens,
    params:
        content=PLAN.content(PLAN.code("encode_passages.py")),
        encoding=PLAN.retrieval.encoding,
        store="results/store/vectors",
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --passages {input.passages:q}"
        " --shard {wildcards.shard}"
        " --encoder {input.encoder:q}"
        " --encoding {params.encoding:q}"
        " --device {resources.device}"
        " --batch-tokens {resources.batch_tokens}"
        " --store {params.store:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule index_vectors:
    input:
        vectors="results/vectors/{corpus}/{retriever}/{shard}.json",
        code=PLAN.code("index_vectors.py"),
    output:
        "results/indexes/{corpus}/{retriever}/{shard}.json",
    log:
        "results/logs/index_vectors/{corpus}/{retriever}/{shard}.log",
    conda:
        "../envs/retrieval.yaml"
    resources:
        mem_mb=PLAN.retrieval.index_memory,
    params:
        content=PLAN.content(PLAN.code("index_vectors.py")),
        index=PLAN.retrieval.index_settings,
        store="results/store/indexes",
    shell:
        "python {input.code[0]:q}"
        " --vectors {input.vectors:q}"
        " --index {params.index:q}"
        " --store {params.store:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule read_run:
    input:
        run=PLAN.retrieval.run_file,
        questions=PLAN.retrieval.run_questions,
        passages="results/passages/{corpus}/manifest.json",
        shards=ancient("results/passages/{corpus}/shards"),
        code=PLAN.code("read_run.py"),
    output:
        "results/indexes/{corpus}/{retriever}/run.json",
    log:
        "results/logs/read_run/{corpus}/{retriever}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(
            PLAN.retrieval.run_file,
            PLAN.retrieval.run_questions,
            PLAN.code("read_run.py"),
        ),
    shell:
        "python {input.code[0]:q}"
        " --run {input.run:q}"
        " --questions {input.questions:q}"
        " --passages {input.passages:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule retrieve:
    input:
        questions=PLAN.data.questions,
        passages="results/passages/{corpus}/manifest.json",
        shards=ancient("results/passages/{corpus}/shards"),
        indexes=PLAN.retrieval.indexes,
        vectors=PLAN.retrieval.vectors,
        encoder=PLAN.retrieval.encoder,
        code=PLAN.retrieval.code,
    output:
        retrieved="results/retrieved/{corpus}/{retriever}/{questions}.jsonl.gz",
        manifest="results/retrieved/{corpus}/{retriever}/{questions}.manifest.json",
    log:
        "results/logs/retrieve/{corpus}/{retriever}/{questions}.log",
    # Sweeps wait for this job, and it should not wait for one of them.
    priority: 1
    conda:
        "../envs/retrieval.yaml"
    threads: PLAN.retrieval.search_threads
    resources:
        device=PLAN.retrieval.device,
        gpu=PLAN.retrieval.gpu,
        batch_tokens=PLAN.retrieval.batch_tokens,
        mem_mb=4000,
    params:
        content=PLAN.content(PLAN.data.questions, PLAN.retrieval.code),
        method=PLAN.retrieval.method,
        search=PLAN.retrieval.search_settings,
        encoding=PLAN.retrieval.encoding,
        index=PLAN.retrieval.index_settings,
        store="results/store/hits",
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --method {params.method}"
        " --questions {input.questions:q}"
        " --passages {input.passages:q}"
        " --indexes {input.indexes:q}"
        " --vectors {input.vectors:q}"
        " --encoder {input.encoder:q}"
        " --search {params.search:q}"
        " --encoding {params.encoding:q}"
        " --approximate {params.index:q}"
        " --device {resources.device}"
        " --batch-tokens {resources.batch_tokens}"
        " --threads {threads}"
        " --memory-mb {resources.mem_mb}"
        " --store {params.store:q}"
        " --output {output.retrieved:q}"
        " --manifest {output.manifest:q}"
        " 2>&1 | tee -i {log:q}"


rule read_questions:
    input:
        file=PLAN.questions.own_file,
        passages=PLAN.questions.own_passages,
        shards=ancient(PLAN.questions.own_shards),
        code=PLAN.code("read_questions.py"),
    output:
        "results/questions/{own}.jsonl.gz",
    log:
        "results/logs/read_questions/{own}.log",
    # Run first, because mistakes should be found before anything is indexed.
    priority: 2
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.questions.own_file, PLAN.code("read_questions.py")),
    shell:
        "python {input.code[0]:q}"
        " --questions {input.file:q}"
        " --passages {input.passages:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule find_gold:
    input:
        asked=PLAN.questions.asked,
        retrieved=PLAN.questions.retrieved,
        passages=PLAN.questions.asked_passages,
        shards=ancient(PLAN.questions.asked_shards),
        corrections=PLAN.questions.corrections,
        code=PLAN.code("find_gold.py"),
    output:
        questions="results/questions/{found}.jsonl.gz",
        table="results/gold_passages/{found}.csv",
    log:
        "results/logs/find_gold/{found}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.questions.corrections, PLAN.code("find_gold.py")),
        seed=PLAN.questions.seed,
    shell:
        "python {input.code[0]:q}"
        " --name {wildcards.found:q}"
        " --questions {input.asked:q}"
        " --retrieved {input.retrieved:q}"
        " --passages {input.passages:q}"
        " --corrections {input.corrections:q}"
        " --seed {params.seed}"
        " --output {output.questions:q}"
        " --table {output.table:q}"
        " 2>&1 | tee -i {log:q}"


rule measure_recall:
    input:
        retrieved="results/retrieved/{corpus}/{retriever}/{questions}.jsonl.gz",
        manifest="results/retrieved/{corpus}/{retriever}/{questions}.manifest.json",
        code=PLAN.code("measure_recall.py"),
    output:
        "results/recall/{corpus}/{retriever}/{questions}.csv",
    log:
        "results/logs/measure_recall/{corpus}/{retriever}/{questions}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.code("measure_recall.py")),
    shell:
        "python {input.code[0]:q}"
        " --questions {wildcards.questions:q}"
        " --corpus {wildcards.corpus:q}"
        " --retriever {wildcards.retriever:q}"
        " --retrieved {input.retrieved:q}"
        " --manifest {input.manifest:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule make_candidates:
    input:
        questions=PLAN.candidates.questions,
        retrieved=PLAN.candidates.retrieved,
        passages=PLAN.candidates.passages,
        shards=ancient(PLAN.candidates.shards),
        code=PLAN.code("make_candidates.py"),
    output:
        candidates="results/candidates/{candidates}.jsonl.gz",
        table="results/candidates/{candidates}.csv",
    log:
        "results/logs/make_candidates/{candidates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.candidates.questions, PLAN.code("make_candidates.py")),
        settings=PLAN.candidates.settings,
    shell:
        "python {input.code[0]:q}"
        " --name {wildcards.candidates:q}"
        " --settings {params.settings:q}"
        " --questions {input.questions:q}"
        " --retrieved {input.retrieved:q}"
        " --passages {input.passages:q}"
        " --output {output.candidates:q}"
        " --table {output.table:q}"
        " 2>&1 | tee -i {log:q}"


rule rerank:
    input:
        documents=PLAN.data.dataset,
        fused_with=PLAN.rerank.fused_with,
        model=PLAN.rerank.model,
        code=PLAN.code("rerank.py"),
    output:
        "results/reranked/{reranker}/{dataset}.jsonl.gz",
    log:
        "results/logs/rerank/{reranker}/{dataset}.log",
    # Sweeps wait for this job, and it should not wait for one of them.
    priority: 1
    conda:
        "../envs/retrieval.yaml"
    threads: 8
    resources:
        device=PLAN.rerank.device,
        gpu=PLAN.rerank.gpu,
        batch_tokens=PLAN.rerank.batch_tokens,
        mem_mb=4000,
    params:
        content=PLAN.content(
            PLAN.data.dataset, PLAN.rerank.fused_with, PLAN.code("rerank.py")
        ),
        settings=PLAN.rerank.settings,
        store="results/store/reranked",
    shell:
        "OMP_WAIT_POLICY=PASSIVE"
        " python {input.code[0]:q}"
        " --documents {input.documents:q}"
        " --fused-with {input.fused_with:q}"
        " --model {input.model:q}"
        " --settings {params.settings:q}"
        " --device {resources.device}"
        " --batch-tokens {resources.batch_tokens}"
        " --store {params.store:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule export_released:
    input:
        candidates=PLAN.data.dataset,
        code=PLAN.code("export_released.py"),
    output:
        "results/export/{dataset}/{size}_total_documents/{dataset}-{size}_total_documents_gold_at_{position}.jsonl.gz",
    log:
        "results/logs/export_released/{dataset}/{size}/{position}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.data.dataset, PLAN.code("export_released.py")),
    shell:
        "python {input.code[0]:q}"
        " --candidates {input.candidates:q}"
        " --size {wildcards.size}"
        " --position {wildcards.position}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
