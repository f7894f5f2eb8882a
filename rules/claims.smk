"""The paper's claims, each asked of whatever was run, or of the published accuracies alone."""


rule make_claims_table:
    input:
        scores=PLAN.sweeps.files("results/scores/{model}/{experiment}.parquet"),
        recall=PLAN.claims.recall,
        code=PLAN.code("make_claims_table.py"),
    output:
        csv=report(
            "results/tables/claims.csv",
            caption="../resources/captions/claims.rst",
            category="Tables",
        ),
        summary="results/tables/claims_summary.csv",
        markdown="results/tables/claims.md",
    log:
        "results/logs/make_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
        relations=PLAN.claims.relations,
        recall_of=PLAN.claims.recall_of,
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


rule make_published_claims_table:
    input:
        published=PLAN.paper.accuracy,
        code=PLAN.code("make_claims_table.py"),
    output:
        csv="results/published/tables/claims.csv",
        summary="results/published/tables/claims_summary.csv",
        markdown="results/published/tables/claims.md",
    log:
        "results/logs/make_published_claims_table.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        relations=PLAN.claims.published_relations,
    shell:
        "python {input.code[0]:q}"
        " --published {input.published:q}"
        " --relations {params.relations:q}"
        " --csv {output.csv:q}"
        " --summary {output.summary:q}"
        " --markdown {output.markdown:q}"
        " 2>&1 | tee -i {log:q}"
