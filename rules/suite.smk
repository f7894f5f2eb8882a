"""The formats of the benchmark suite: a summary of each curve and of all, and its own layout of results."""


rule summarize:
    input:
        accuracy="results/tables/accuracy.csv",
        position_bias=PLAN.tables.position_bias,
        code=PLAN.code("make_summaries.py"),
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
        files=PLAN.suite.files,
        code=PLAN.code("export_suite.py"),
    output:
        directory("results/suite_export/{model}"),
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
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule zip_export:
    input:
        folder=rules.export_suite.output,
        code=PLAN.code("zip_export.py"),
    output:
        "results/suite_export/{model}.zip",
    log:
        "results/logs/zip_export/{model}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --folder {input.folder:q}"
        " --name {wildcards.model:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
