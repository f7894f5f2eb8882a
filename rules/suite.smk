"""The formats of the benchmark suite: a summary of each curve and of all, and its own layout of results."""


rule summarize:
    input:
        accuracy="results/tables/accuracy.csv",
        position_bias=PLAN.tables.position_bias,
        code=PLAN.code("summarize.py"),
    output:
        directory("results/summaries/{model}"),
    log:
        "results/logs/summarize/{model}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        curves=PLAN.suite.curves,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --curves {params.curves:q}"
        " --accuracy {input.accuracy:q}"
        " --position-bias {input.position_bias:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule export_suite:
    input:
        summaries="results/summaries/{model}",
        accuracy="results/tables/accuracy.csv",
        files=PLAN.suite.files,
        code=PLAN.code("export_suite.py"),
    output:
        folder=directory("results/suite_export/{model}"),
        zip="results/suite_export/{model}.zip",
    log:
        "results/logs/export_suite/{model}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        curves=PLAN.suite.curve_files,
    shell:
        "python {input.code[0]:q}"
        " --model {wildcards.model:q}"
        " --curves {params.curves:q}"
        " --summaries {input.summaries:q}"
        " --accuracy {input.accuracy:q}"
        " --output {output.folder:q}"
        " --zip {output.zip:q}"
        " 2>&1 | tee -i {log:q}"
