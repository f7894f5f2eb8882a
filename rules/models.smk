"""Identity of models, as a rule of its own: large weights are hashed when they change, not at every run."""


rule identify_model:
    input:
        folder=PLAN.models.folder,
        tokenizer=PLAN.models.identified_tokenizer,
        code=PLAN.code("identify_model.py"),
    output:
        "results/models/{model}.json",
    log:
        "results/logs/identify_model/{model}.log",
    wildcard_constraints:
        model=any_of(PLAN.models.asked),
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        content=PLAN.content(
            PLAN.models.folder,
            PLAN.models.identified_tokenizer,
            PLAN.code("identify_model.py"),
        ),
        location=PLAN.models.location,
        digests="results/store/file_digests",
        # GGUF files are unpacked into it.
        store="results/store/unpacked",
    shell:
        "python {input.code[0]:q}"
        " --location {params.location:q}"
        " --tokenizer {input.tokenizer:q}"
        " --digests {params.digests:q}"
        " --store {params.store:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


use rule identify_model as identify_encoder with:
    input:
        folder=PLAN.retrieval.encoder_folder,
        tokenizer=[],
        code=PLAN.code("identify_model.py"),
    output:
        "results/retrievers/{retriever}.json",
    log:
        "results/logs/identify_encoder/{retriever}.log",
    params:
        content=PLAN.content(
            PLAN.retrieval.encoder_folder, PLAN.code("identify_model.py")
        ),
        location=PLAN.retrieval.encoder_location,
        digests="results/store/file_digests",
        store="results/store/unpacked",


use rule identify_encoder as identify_reranker with:
    input:
        folder=PLAN.rerank.model_folder,
        tokenizer=[],
        code=PLAN.code("identify_model.py"),
    output:
        "results/rerankers/{reranker}.json",
    log:
        "results/logs/identify_reranker/{reranker}.log",
    params:
        content=PLAN.content(PLAN.rerank.model_folder, PLAN.code("identify_model.py")),
        location=PLAN.rerank.model_location,
        digests="results/store/file_digests",
        store="results/store/unpacked",


rule fetch:
    input:
        files=PLAN.fetch.files,
        sources=PLAN.fetch.sources,
        code=PLAN.code("fetch.py"),
    log:
        "results/logs/fetch.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    shell:
        "python {input.code[0]:q}"
        " --sources {input.sources:q}"
        " 2>&1 | tee -i {log:q}"
