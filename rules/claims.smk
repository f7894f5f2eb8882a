"""The paper's claims, each asked of whatever was run, or of the published accuracies alone."""


rule claims_table:
    input:
        scores=for_each_sweep("results/scores/{model}/{experiment}.parquet"),
        recall=list(OPEN_DOMAIN_RECALL.values()),
        code=code("make_claims_table.py"),
    output:
        csv=report(
            "results/tables/claims.csv",
            caption="../resources/captions/claims.rst",
            category="Tables",
        ),
        summary="results/tables/claims_summary.csv",
        markdown="results/tables/claims.md",
    log:
        "results/logs/claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=SWEEP_ORDER,
        relations=relations_json(EXPERIMENTS),
        recall_of=list(OPEN_DOMAIN_RECALL),
    shell:
        "python {input.code[0]:q}"
        " --scores {input.scores:q}"
        " --relations {params.relations:q}"
        " --recall {input.recall:q}"
        " --recall-of {params.recall_of:q}"
        " --csv {output.csv:q}"
        " --summary {output.summary:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"


rule published_claims_table:
    input:
        published=PUBLISHED_ACCURACY,
        code=code("make_claims_table.py"),
    output:
        csv="results/published/tables/claims.csv",
        summary="results/published/tables/claims_summary.csv",
        markdown="results/published/tables/claims.md",
    log:
        "results/logs/published_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        relations=relations_json(STUDY.relations["experiments"]),
    shell:
        "python {input.code[0]:q}"
        " --published {input.published:q}"
        " --relations {params.relations:q}"
        " --csv {output.csv:q}"
        " --summary {output.summary:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"
