"""What goes into the keys of answers and into the params of their rules: settings of entries, as programs get them."""

from collections.abc import Iterable

from planned_jobs import Job, cut, options

#: A rule, the wildcards that its settings depend on, and the options that say what a job's result is a result of.
KEYS = (
    ("identify_model", ("model",), ("location", "tokenizer")),
    ("generate", ("model",), ("source", "settings", "context-window", "on-failure", "tokenizer", "template")),
    ("generate", ("experiment",), ("decoding", "on-overflow")),
    ("import_responses", ("model", "experiment"), ("files", "cells", "fields", "reasoning", "decoding")),
    ("make_examples", ("experiment", "size"), ("task", "settings", "prompt", "dataset", "labels", "length")),
    ("check_examples", ("experiment",), ("design", "generated")),
    ("score", ("experiment",), ("task", "metric", "decoding")),
    ("score", ("model",), ("settings",)),
    ("find_size", ("experiment", "size"), ("task", "placements", "settings", "tokenizer", "prompt-template")),
    ("make_prompt_format", ("model",), ("tokenizer", "prompt-template", "reasoning", "template")),
    ("fetch_file", ("file",), ("url", "checksum")),
    ("make_passages", ("corpus",), ("source", "settings", "shards", "passages-per-shard")),
    ("generate_questions", ("generated",), ("source", "settings", "questions", "seed")),
    ("make_candidates", ("candidates",), ("settings",)),
    ("retrieve", ("corpus", "retriever", "questions"), ("method", "search", "encoding", "approximate")),
    ("rerank", ("reranker", "dataset"), ("settings",)),
)


def identity_lines(jobs: Iterable[Job]) -> list[str]:
    """One line for each set of values of each rule, with the models, experiments or files that have it."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for job in jobs:
        own = options(job)
        for rule, wildcards, keys in KEYS:
            if job["rule"] == rule:
                values = " | ".join(f"{key} {own[key]}" for key in keys if own.get(key))
                name = "/".join(job["wildcards"][wildcard] for wildcard in wildcards)
                found.setdefault((f"{rule} by {'/'.join(wildcards)}", values), {})[name] = None
    return [cut(f"{rule} [{' '.join(names)}] {values}", 3000) for (rule, values), names in sorted(found.items())]
