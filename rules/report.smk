"""Figures, and the report that shows them with the tables."""


rule plot_figure:
    input:
        scores=of_figure("scores"),
        recall=of_figure("recall"),
        code=code("plot_figure.py"),
    output:
        png=report(
            "results/figures/{figure}.png",
            caption="../resources/captions/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        pdf="results/figures/{figure}.pdf",
    log:
        "results/logs/plot_figure/{figure}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        figure=of_figure("settings"),
        order=MODEL_ORDER,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --scores {input.scores:q}"
        " --recall {input.recall:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule plot_pbi_forest:
    input:
        position_bias="results/tables/position_bias.csv",
        code=code("plot_bias_forest.py"),
    output:
        png=report(
            "results/figures/pbi_forest.png",
            caption="../resources/captions/pbi_forest.rst",
            category="Figures",
            labels={"figure": "pbi_forest"},
        ),
        pdf="results/figures/pbi_forest.pdf",
    log:
        "results/logs/plot_pbi_forest.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --position-bias {input.position_bias:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule make_report:
    input:
        accuracy="results/tables/accuracy.csv",
        token_counts=TOKEN_TABLE,
        answer_checks="results/tables/answer_checks.csv",
        position_bias=POSITION_TABLES[:1],
        utilisation=UTILISATION_TABLE,
        retrieval=RETRIEVAL_TABLE,
        candidates=CANDIDATE_TABLE,
        figures=expand("results/figures/{figure}.png", figure=FIGURE_NAMES),
        manifests=for_each_sweep("results/responses/{model}/{experiment}.manifest.json"),
        template=project_file("resources", "report", "report.html.j2"),
        code=code("make_report.py"),
    output:
        "results/report.html",
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=SWEEP_ORDER,
        titles=canonical_json(
            {
                PBI_FOREST: "Position Bias Index",
                **{f.name: f.title for f in STUDY.figures.values()},
            }
        ),
    shell:
        "python {input.code[0]:q}"
        " --titles {params.titles:q}"
        " --accuracy {input.accuracy:q}"
        " --token-counts {input.token_counts:q}"
        " --answer-checks {input.answer_checks:q}"
        " --position-bias {input.position_bias:q}"
        " --utilisation {input.utilisation:q}"
        " --retrieval {input.retrieval:q}"
        " --candidates {input.candidates:q}"
        " --figures {input.figures:q}"
        " --manifests {input.manifests:q}"
        " --template {input.template:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
