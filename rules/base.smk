"""Remote files, which need a network."""


rule fetch_file:
    input:
        code=PLAN.code("fetch_file.py"),
    output:
        "results/data/{file}",
    log:
        "results/logs/fetch_file/{file}.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    resources:
        # The origin of a file does not change its content: another mirror re-runs nothing.
        mirror=PLAN.data.mirror,
    params:
        url=PLAN.data.url,
        checksum=PLAN.data.checksum,
    shell:
        "python {input.code[0]:q}"
        " --url {params.url:q}"
        " --checksum {params.checksum}"
        " --mirror {resources.mirror:q}"
        " --output {output:q}"
        " 2>&1 | tee -i {log:q}"
