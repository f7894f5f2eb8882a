"""Figures of results, and of published values alone."""


rule plot_figure:
    input:
        accuracy=PLAN.figures.accuracy,
        scores=PLAN.figures.scores,
        recall=PLAN.figures.recall,
        published=PLAN.figures.published,
        differences=PLAN.figures.differences,
        advice=PLAN.figures.advice,
        token_counts=PLAN.figures.token_counts,
        wrong_answers=PLAN.figures.wrong_answers,
        code=PLAN.figures.code,
    output:
        png=report(
            "results/figures/{figure}.png",
            caption="../resources/captions/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        pdf="results/figures/{figure}.pdf",
        untitled="results/figures/untitled/{figure}.png",
    log:
        "results/logs/plot_figure/{figure}.log",
    # Before the next sweep: figures come as soon as they can.
    priority: 1
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.figures.published, PLAN.figures.code),
        figure=PLAN.figures.settings,
        order=PLAN.sweeps.model_order,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --accuracy {input.accuracy:q}"
        " --scores {input.scores:q}"
        " --recall {input.recall:q}"
        " --published {input.published:q}"
        " --differences {input.differences:q}"
        " --advice {input.advice:q}"
        " --token-counts {input.token_counts:q}"
        " --wrong-answers {input.wrong_answers:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " --untitled {output.untitled:q}"
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
        content=PLAN.content(PLAN.figures.pbi_forest_code),
        figure=PLAN.figures.pbi_forest_settings,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --position-bias {input.position_bias:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"


rule plot_published:
    input:
        published=PLAN.paper.accuracy,
        token_counts=PLAN.paper.token_counts,
        code=PLAN.figures.published_code,
    output:
        png="results/published/figures/{figure}.png",
        pdf="results/published/figures/{figure}.pdf",
    log:
        "results/logs/plot_published/{figure}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(
            PLAN.paper.accuracy,
            PLAN.paper.token_counts,
            PLAN.figures.published_code,
        ),
        figure=PLAN.figures.published_settings,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --published {input.published:q}"
        " --token-counts {input.token_counts:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"
