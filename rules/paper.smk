"""The paper: what was measured here beside what was published, its tables, and figures and tables of the published alone."""


rule paper_table:
    input:
        measured=lambda wildcards: f"results/tables/{PAPER_TABLES[wildcards.number]}.csv",
        code=code("make_paper_table.py"),
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
        "results/logs/paper_table/{number}.log",
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


rule published_table:
    input:
        published=lambda wildcards: (
            PUBLISHED_TOKENS
            if LAYOUTS[int(wildcards.number)].is_of_tokens
            else PUBLISHED_ACCURACY
        ),
        code=code("make_paper_table.py"),
    output:
        csv="results/published/tables/table{number}.csv",
        markdown="results/published/tables/table{number}.md",
        latex="results/published/tables/table{number}.tex",
    log:
        "results/logs/published_table/{number}.log",
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
        published=PUBLISHED_ACCURACY,
        code=lambda wildcards: code(
            "plot_figure.py",
            f"figures/{STUDY.published_figures[wildcards.figure].kind}.py",
        ),
    output:
        png="results/published/figures/{figure}.png",
        pdf="results/published/figures/{figure}.pdf",
    log:
        "results/logs/plot_published/{figure}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        figure=lambda wildcards: canonical_json(
            STUDY.published_figures[wildcards.figure].settings()
        ),
    shell:
        "python {input.code[0]:q}"
        " --figure {params.figure:q}"
        " --published {input.published:q}"
        " --png {output.png:q}"
        " --pdf {output.pdf:q}"
        " 2>&1 | tee -i {log:q}"
