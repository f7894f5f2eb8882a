"""Remote data: from the mirror folder or the network, and checked."""


rule fetch_file:
    input:
        code=code("fetch_file.py"),
    output:
        "results/data/{file}",
    log:
        "results/logs/fetch_file/{file}.log",
    wildcard_constraints:
        file="|".join(map(re.escape, REMOTE_FILES)),
    conda:
        "../envs/analysis.yaml"
    resources:
        # Where a file comes from does not change what it is: another mirror re-runs nothing.
        mirror=STUDY.data_mirror or "",
    params:
        url=lambda wildcards: REMOTE_FILES[wildcards.file].url,
        sha256=lambda wildcards: REMOTE_FILES[wildcards.file].sha256,
    shell:
        "python {input.code[0]:q}"
        " --url {params.url:q}"
        " --sha256 {params.sha256}"
        " --mirror {resources.mirror:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
