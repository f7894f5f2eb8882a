"""Remote files, which need a network."""

FILE = Each(lambda wildcards: DATA.remote[wildcards.file])


rule fetch_file:
    output:
        "results/data/{file}",
    log:
        "results/logs/fetch_file/{file}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    resources:
        # The origin of a file does not change its content: another mirror re-runs nothing.
        mirror=STUDY.data_mirror or "",
    params:
        **settings(**FILE.keys("url checksum")),
    shell:
        # A file with a known sum is the same whatever fetches it.
        command(
            "fetch_file",
            "--mirror {resources.mirror:q} {params.url} {params.checksum} --output {output:q}",
            is_by_code=False,
        )
