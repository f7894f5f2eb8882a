"""Figures, and the report that shows them with the tables and a sample of the questions."""


include: "report_inputs.smk"


rule plot_figure:
    input:
        accuracy=of_figure("accuracy"),
        scores=of_figure("scores"),
        recall=of_figure("recall"),
        published=of_figure("published"),
        code=of_figure("code"),
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
        " --accuracy {input.accuracy:q}"
        " --scores {input.scores:q}"
        " --recall {input.recall:q}"
        " --published {input.published:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule plot_pbi_forest:
    input:
        position_bias="results/tables/position_bias.csv",
        code=code("plot_figure.py", f"figures/{PBI_FOREST}.py"),
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
    params:
        # A function, because Snakemake would take braces for wildcards.
        figure=lambda wildcards: canonical_json({"kind": PBI_FOREST}),
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --position-bias {input.position_bias:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule sample_questions:
    input:
        examples=of_experiment("examples"),
        responses=for_each_model("results/responses/{model}/{experiment}.jsonl.gz"),
        scores=for_each_model("results/scores/{model}/{experiment}.parquet"),
        code=code("sample_questions.py"),
    output:
        "results/question_samples/{experiment}.jsonl.gz",
    log:
        "results/logs/sample_questions/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        models=lambda wildcards: models_of(wildcards.experiment),
        questions=STUDY.explored_per_size,
        seed=STUDY.seed,
    shell:
        "python {input.code[0]:q}"
        " --models {params.models:q}"
        " --examples {input.examples:q}"
        " --responses {input.responses:q}"
        " --scores {input.scores:q}"
        " --questions {params.questions}"
        " --seed {params.seed}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule make_report:
    input:
        tables=REPORT_TABLES,
        figures=expand("results/figures/{figure}.png", figure=list(FIGURES)),
        samples=expand(
            "results/question_samples/{experiment}.jsonl.gz",
            experiment=list(EXPERIMENTS) if STUDY.explored_per_size else [],
        ),
        manifests=for_each_sweep("results/responses/{model}/{experiment}.manifest.json"),
        datasets=list(REPORT_DATASETS.values()),
        sources=[
            project_file("resources", "report", name)
            for name in (
                "report.html.j2",
                "report.css",
                "charts.js",
                "question_samples.js",
            )
        ],
        code=code(
            "make_report.py",
            *TABLE_MODULES,
            *(f"figures/{kind}.py" for kind in REPORT_KINDS),
        ),
    output:
        report(
            REPORT_FILE,
            caption="../resources/captions/report.rst",
            category="Report",
        ),
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=SWEEP_ORDER,
        # A function, because a panel's title has braces, which Snakemake would take for wildcards.
        settings=lambda wildcards: REPORT_SETTINGS,
    shell:
        "python {input.code[0]:q}"
        " --settings {params.settings:q}"
        " --tables {input.tables:q}"
        " --figures {input.figures:q}"
        " --samples {input.samples:q}"
        " --manifests {input.manifests:q}"
        " --datasets {input.datasets:q}"
        " --sources {input.sources:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
