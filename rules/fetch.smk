"""What only a machine with a network can do, for those that have none: data, and models of the hub."""

NEEDS = needs_of(STUDY)


rule fetch:
    input:
        files=[dataset_file(one.name) for one in NEEDS.remote_files],
        # The commits of models: looked up once, here.
        sources=[
            *expand("results/models/{model}.json", model=list(MODELS)),
            *expand(
                "results/retrievers/{retriever}.json",
                retriever=[
                    one.name for one in NEEDS.retrievers if one.method == "dense"
                ],
            ),
        ],
        code=code("fetch_models.py"),
    log:
        "results/logs/fetch.log",
    localrule: True
    conda:
        "../envs/inference.yaml"
    shell:
        "python {input.code[0]:q}"
        " --sources {input.sources:q}"
        " 2>&1 | tee -i {log:q}"
