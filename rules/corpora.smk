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
            "make_passages",
            code("corpora", CORPUS(lambda corpus: SOURCES[corpus.source].module)),
            input=CORPUS(DATA.corpus_location),
            **CORPUS.keys("source settings passages_per_shard shards"),
        ),
    shell:
        command("make_passages")


rule generate_questions:
    output:
        "results/questions/{generated}.jsonl.gz",
    log:
        "results/logs/generate_questions/{generated}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        **settings(
            "generate_questions",
            code("corpora", GENERATOR(lambda corpus: SOURCES[corpus.source].module)),
            taken=QUESTIONS.questions,
            **GENERATOR.keys("source settings"),
        ),
    shell:
        command("generate_questions")
