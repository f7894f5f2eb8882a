"""Remote data: from the mirror folder or the network, and checked."""

REMOTE_FILES = {d.file: d for d in STUDY.datasets.values() if d.url is not None}


rule fetch_file:
    input:
        code=code("fetch_file.py"),
    output:
        "results/data/{file}",
    params:
        url=lambda wildcards: REMOTE_FILES[wildcards.file].url,
        sha256=lambda wildcards: REMOTE_FILES[wildcards.file].sha256,
    resources:
        # Where a file comes from does not change what it is: another mirror re-runs nothing.
        mirror=STUDY.data_mirror or "",
    wildcard_constraints:
        file="|".join(map(re.escape, REMOTE_FILES)),
    log:
        "results/logs/fetch_file/{file}.log",
    conda:
        "../envs/analysis.yaml"
    shell:
        "python {input.code[0]:q}"
        " --url {params.url:q}"
        " --sha256 {params.sha256}"
        " --mirror {resources.mirror:q}"
        " --output {output:q}"
        " 2>&1 | tee {log:q}"
