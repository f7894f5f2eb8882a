"""The report with its sample of questions, and the formats of the benchmark suite."""

from litm.workflow.export_files import TASK_KEYS, TASK_TEMPLATES
from litm.workflow.report_files import FINDINGS, RECORD, REPORT_FILES


rule sample_questions:
    input:
        examples=SWEEPS.examples,
        responses=SWEEPS.files_of(FILES[ANSWER].responses),
        scores=SWEEPS.files_of(FILES[ANSWER].scores),
    output:
        "results/question_samples/{experiment}.jsonl.gz",
    log:
        "results/logs/sample_questions/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            models=SWEEPS.models_of,
            task=EXPERIMENT.task,
            questions=STUDY.sampled_per_size,
            seed=STUDY.seed,
        ),
        code=code("", TASK_MODULE),
    shell:
        command(
            "sample_questions",
            "{params.models} {params.task} {params.questions} {params.seed} "
            "--examples {input.examples:q} --responses {input.responses:q} --scores {input.scores:q} "
            "--output {output:q}",
        )


rule make_findings:
    input:
        tables=TABLES.of_findings,
        manifests=SWEEPS.files(FILES[ANSWER].manifest),
        scores=TABLES.scores_of_findings,
    output:
        FINDINGS,
    log:
        "results/logs/make_findings.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(settings=REPORTS.findings),
        **compared(order=TABLES.order),
    shell:
        command(
            "make_findings",
            "{params.settings} --tables {input.tables:q} --manifests {input.manifests:q} --scores {input.scores:q} "
            "--output {output:q}",
        )


rule make_report:
    input:
        tables=TABLES.shown,
        figures=FIGURES.untitled,
        samples=REPORTS.samples,
        formats=REPORTS.formats,
        manifests=SWEEPS.files(FILES[ANSWER].manifest),
        datasets=REPORTS.datasets,
        findings=FINDINGS,
        sources=[PROGRAMS.file("resources", "report", name) for name in REPORT_FILES],
    output:
        report(REPORT, caption="../resources/captions/report.rst", category="Report"),
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(settings=REPORTS.report),
        **compared(
            order=TABLES.order,
            declared=TABLES.declared(lambda job: ["claims", "gold_counts", "tokens_used", *TABLES.tables]),
        ),
        code=code("figures", FIGURES.figure_modules),
    shell:
        command(
            "make_report",
            "{params.settings} --findings {input.findings:q} "
            "--tables {input.tables:q} --figures {input.figures:q} --samples {input.samples:q} "
            "--formats {input.formats:q} --manifests {input.manifests:q} --datasets {input.datasets:q} "
            "--sources {input.sources:q} "
            "--output {output:q}",
        )


rule record_study:
    input:
        tables=TABLES.files,
        datasets=REPORTS.datasets,
    output:
        RECORD,
    log:
        "results/logs/record_study.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(selection=REPORTS.selection, figures=FIGURES.drawings),
    shell:
        command(
            "record_study",
            "{params.selection} {params.figures} --tables {input.tables:q} --datasets {input.datasets:q} "
            "--output {output:q}",
        )


rule summarize:
    input:
        accuracy="results/tables/accuracy.csv",
        position_bias=TABLES.inputs["position_bias"],
    output:
        directory("results/summaries/{model}"),
    log:
        "results/logs/summarize/{model}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(curves=EXPORTS.curves),
    shell:
        command(
            "summarize",
            "--model {wildcards.model:q} {params.curves} "
            "--accuracy {input.accuracy:q} --position-bias {input.position_bias:q} --output {output:q}",
        )


rule export_suite:
    input:
        EXPORTS.exported,
        summaries="results/summaries/{model}",
        accuracy="results/tables/accuracy.csv",
    output:
        folder=directory("results/suite_export/{model}"),
        zip="results/suite_export/{model}.zip",
    log:
        "results/logs/export_suite/{model}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(curves=EXPORTS.exported_curves),
    shell:
        command(
            "export_suite",
            "--model {wildcards.model:q} {params.curves} "
            "--summaries {input.summaries:q} --accuracy {input.accuracy:q} "
            "--output {output.folder:q} --zip {output.zip:q}",
        )


rule export_task:
    input:
        examples=SWEEPS.examples,
        code=EXPERIMENT(code_of_metric),
        templates=EXPERIMENT(
            lambda one: [PROGRAMS.file("resources", "task_export", name) for name in TASK_TEMPLATES[bool(one.judge)]]
        ),
        judge=SWEEPS.judge_template,
    output:
        directory("results/exports/tasks/{experiment}"),
    log:
        "results/logs/export_task/{experiment}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(
            about=EXPERIMENT(lambda one: {key: getattr(one, key) for key in TASK_KEYS}),
            only_unclear=EXPERIMENT(lambda one: one.judge and one.judge.only_unclear),
        ),
    shell:
        command(
            "export_task",
            "{params.about} {params.only_unclear} "
            "--examples {input.examples:q} --judge {input.judge:q} --code {input.code:q} --templates {input.templates:q} "
            "--output {output:q}",
        )


rule export_card:
    input:
        tasks=expand(
            "results/exports/tasks/{experiment}",
            experiment=[name for name, entry in STUDY.experiments.items() if entry.has_prompts],
        ),
        template=PROGRAMS.file("resources", "task_export", "card.md.j2"),
        project=PROGRAMS.file("resources", "task_export", "pyproject.toml"),
    output:
        card="results/exports/tasks/README.md",
        pyproject="results/exports/tasks/pyproject.toml",
    log:
        "results/logs/export_card.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        **settings(sources=REPORTS.sources),
    shell:
        command(
            "export_card",
            "{params.sources} "
            "--tasks {input.tasks:q} --template {input.template:q} --project {input.project:q} "
            "--output {output.card:q} --pyproject {output.pyproject:q}",
        )
