"""The report with its sample of questions, and the formats of the benchmark suite."""


rule sample_questions:
    input:
        examples=PLAN.examples.files,
        responses=PLAN.report.responses,
        scores=PLAN.report.scores,
        code=PLAN.examples.sample_code,
    output:
        "results/question_samples/{experiment}.jsonl.gz",
    log:
        "results/logs/sample_questions/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.examples.sample_code),
        task=PLAN.examples.task,
        models=PLAN.report.models,
        questions=PLAN.study.sampled_per_size,
        seed=PLAN.study.seed,
    shell:
        "python {input.code[0]:q}"
        " --models {params.models:q}"
        " --task {params.task}"
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
        formats=PLAN.report.formats,
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
        content=PLAN.content(
            PLAN.report.datasets, PLAN.report.sources, PLAN.report.code
        ),
        order=PLAN.sweeps.order,
        settings=PLAN.report.settings,
    shell:
        "python {input.code[0]:q}"
        " --settings {params.settings:q}"
        " --tables {input.tables:q}"
        " --figures {input.figures:q}"
        " --samples {input.samples:q}"
        " --formats {input.formats:q}"
        " --manifests {input.manifests:q}"
        " --datasets {input.datasets:q}"
        " --sources {input.sources:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


rule record_study:
    input:
        tables=PLAN.tables.files,
        datasets=PLAN.report.datasets,
        code=PLAN.code("record_study.py"),
    output:
        PLAN.report.record,
    log:
        "results/logs/record_study.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        content=PLAN.content(PLAN.report.datasets, PLAN.code("record_study.py")),
        selection=PLAN.report.selection,
    shell:
        "python {input.code[0]:q}"
        " --selection {params.selection:q}"
        " --tables {input.tables:q}"
        " --datasets {input.datasets:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"


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
        content=PLAN.content(PLAN.code("summarize.py")),
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
        content=PLAN.content(PLAN.code("export_suite.py")),
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
