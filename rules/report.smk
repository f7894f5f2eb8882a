"""Figures, and the report that shows them with the tables and a sample of the questions."""


rule plot_figure:
    input:
        accuracy=PLAN.figures.accuracy,
        scores=PLAN.figures.scores,
        recall=PLAN.figures.recall,
        published=PLAN.figures.published,
        code=PLAN.figures.code,
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
        figure=PLAN.figures.settings,
        order=PLAN.sweeps.model_order,
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
        code=PLAN.figures.pbi_forest_code,
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
        figure=PLAN.figures.pbi_forest_settings,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --position-bias {input.position_bias:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule sample_questions:
    input:
        examples=PLAN.examples.files,
        responses=PLAN.report.responses,
        scores=PLAN.report.scores,
        code=PLAN.code("sample_questions.py"),
    output:
        "results/question_samples/{experiment}.jsonl.gz",
    log:
        "results/logs/sample_questions/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        models=PLAN.report.models,
        questions=PLAN.study.sampled_per_size,
        seed=PLAN.study.seed,
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
        tables=PLAN.tables.shown,
        figures=PLAN.figures.shown,
        samples=PLAN.report.samples,
        manifests=PLAN.sweeps.files(
            "results/responses/{model}/{experiment}.manifest.json"
        ),
        datasets=PLAN.report.datasets,
        sources=PLAN.report.sources,
        code=PLAN.report.code,
    output:
        report(
            PLAN.report.file,
            caption="../resources/captions/report.rst",
            category="Report",
        ),
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        order=PLAN.sweeps.order,
        settings=PLAN.report.settings,
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
