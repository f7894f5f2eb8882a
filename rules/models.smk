"""Identity of models, as a rule of its own: large weights are hashed when they change, not at every run."""

from litm.workflow.data_inputs import stored_files


rule identify_model:
    input:
        MODEL(stored_files),
        tokenizer=SWEEPS.identified_tokenizer,
    output:
        "results/models/{model}.json",
    log:
        "results/logs/identify_model/{model}.log",
    wildcard_constraints:
        model=any_of(SWEEPS.asked),
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        # GGUF files are unpacked into the store.
        **settings(location=MODEL.location),
    shell:
        command(
            "identify_model",
            "--digests results/store/file_digests --store results/store/unpacked {params.location} "
            "--tokenizer {input.tokenizer:q} --output {output:q}",
        )


use rule identify_model as identify_encoder with:
    input:
        RETRIEVER(stored_files),
        tokenizer=[],
    output:
        "results/retrievers/{retriever}.json",
    log:
        "results/logs/identify_encoder/{retriever}.log",
    params:
        **settings(location=RETRIEVER.location),


use rule identify_model as identify_reranker with:
    input:
        RERANKER(stored_files),
        tokenizer=[],
    output:
        "results/rerankers/{reranker}.json",
    log:
        "results/logs/identify_reranker/{reranker}.log",
    params:
        **settings(location=RERANKER.location),


rule fetch:
    input:
        DATA.needed,
        sources=SWEEPS.sources,
    log:
        "results/logs/fetch.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    params:
        **settings(),
    shell:
        command("fetch", "--sources {input.sources:q}")
