"""The paper: what was measured here beside what was published, its tables, and figures and tables of the published alone."""


rule make_paper_table:
    input:
        measured=PLAN.paper.measured,
        code=PLAN.code("make_paper_table.py"),
    output:
        csv=report(
            "results/tables/paper/table{number}.csv",
            caption="../resources/captions/paper_table.rst",
            category="Tables",
            labels={"table": "table {number} of the paper"},
        ),
        markdown="results/tables/paper/table{number}.md",
        latex="results/tables/paper/table{number}.tex",
    log:
        "results/logs/make_paper_table/{number}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.number}"
        " --measured {input.measured:q}"
        " --csv {output.csv:q}"
        " --markdown {output.markdown:q}"
        " --latex {output.latex:q}"
        " 2>&1 | tee -i {log:q}"


rule make_published_paper_table:
    input:
        published=PLAN.paper.published,
        code=PLAN.code("make_paper_table.py"),
    output:
        csv="results/published/tables/table{number}.csv",
        markdown="results/published/tables/table{number}.md",
        latex="results/published/tables/table{number}.tex",
    log:
        "results/logs/make_published_paper_table/{number}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --table {wildcards.number}"
        " --published {input.published:q}"
        " --csv {output.csv:q}"
        " --markdown {output.markdown:q}"
        " --latex {output.latex:q}"
        " 2>&1 | tee -i {log:q}"


rule plot_published:
    input:
        published=PLAN.paper.accuracy,
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
        figure=PLAN.figures.published_settings,
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --published {input.published:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"
