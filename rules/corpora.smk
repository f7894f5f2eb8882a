"""Passages of corpora, and the questions of generated corpora."""

from litm.corpora.passages import SOURCES

GENERATOR = Each(DATA.generator)


rule make_passages:
    input:
        CORPUS(DATA.corpus_files),
    output:
        folder=directory("results/passages/{corpus}/shards"),
        manifest="results/passages/{corpus}/manifest.json",
    log:
        "results/logs/make_passages/{corpus}.log",
    priority: EARLY
    conda:
        "../envs/retrieval.yaml"
    # One thread compresses.
    threads: 2
    params:
        **settings(
            input=CORPUS(DATA.corpus_location),
            **CORPUS.keys("source settings passages_per_shard shards"),
        ),
        code=code("corpora", CORPUS(lambda corpus: SOURCES[corpus.source].module)),
    shell:
        command(
            "make_passages",
            "{params.input} {params.source} {params.settings} {params.passages_per_shard} {params.shards} "
            "--folder {output.folder:q} --manifest {output.manifest:q}",
        )


rule generate_questions:
    output:
        "results/questions/{generated}.jsonl.gz",
    log:
        "results/logs/generate_questions/{generated}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        **settings(
            taken=QUESTIONS.questions,
            **GENERATOR.keys("source settings"),
        ),
        code=code("corpora", GENERATOR(lambda corpus: SOURCES[corpus.source].module)),
    shell:
        command("generate_questions", "{params.taken} {params.source} {params.settings} --output {output:q}")
