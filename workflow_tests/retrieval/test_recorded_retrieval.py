"""Recorded hits of an existing retrieval system: formats, order and errors."""

import json
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, write_lines
from programs import refused, run_program

from litm.base.formats import read_json, write_json
from litm.checks.doctor import packages
from litm.config.study import load_study
from litm.corpora.passages import CorpusSettings, CountedPassages, Passage, write_shards
from litm.corpora.retrieved import hits_of_questions, read_retrieved, retrieved
from litm.questions.released_format import QuestionRecord, write_question_records
from litm.retrieval.search import SearchTask, find
from litm.workflow.data_inputs import needs_of

DEFAULT = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
MILL = {"page_content": "The mill.", "metadata": {"source": "towns.txt"}, "id": "m"}
LLAMA = {"node": {"id_": "m", "text": "The mill.", "metadata": {"file_name": "towns.txt"}}, "score": 0.5}
QUESTIONS = [
    QuestionRecord({"question": text, "answers": ["x"], "ctxs": [], "id": id_}) for text, id_ in (("a?", 1), ("b?", 2))
]


@pytest.mark.parametrize(
    "record",
    [
        {"question": "a?", "documents": [{**MILL, "score": 0.5}]},
        {"query": " a?\r\n", "source_documents": [[{**MILL, "page_content": "The mi\u00adll."}, 0.5]]},
        {"input": "a?", "source_nodes": [LLAMA]},
    ],
    ids=["langchain", "langchain with scores", "llamaindex"],
)
def test_the_shapes_of_libraries_are_one_passage_with_its_score(tmp_path, record):
    (one,) = read_retrieved(write_lines(tmp_path / "r.jsonl", [record]))
    assert (one.question, one.hits) == ("a?", ((Passage("m", "towns", "The mill.", "towns.txt"), 0.5),))


def test_texts_without_ids_and_scores_keep_their_order_and_are_one_passage_each(tmp_path):
    records = [{"question": "a?", "contexts": ["one", "two"]}, {"question": "b?", "contexts": ["two", " one "]}]
    path = write_lines(tmp_path / "r.jsonl", records)
    corpus = [passage for _, passage in retrieved(path, CorpusSettings())]
    assert [passage.text for passage in corpus] == ["one", "two"]
    hits = hits_of_questions(path, QUESTIONS)
    one, two = (passage.id for passage in corpus)
    assert hits == {"a?": [(one, 0.0), (two, -1.0)], "b?": [(two, 0.0), (one, -1.0)]}


def test_a_trec_run_is_read_by_the_ids_of_questions_and_ordered_by_score(tmp_path):
    path = write_lines(tmp_path / "run.trec", ["1 Q0 d1 1 0.5 x", "1 Q0 d2 2 0.9 x", "2 Q0 d1 1 3 x", "9 Q0 d1 1 3 x"])
    assert hits_of_questions(path, QUESTIONS) == {"a?": [("d2", 0.9), ("d1", 0.5)], "b?": [("d1", 3.0)]}


def test_an_id_that_pandas_has_made_a_float_is_the_same_id(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [{"id": 1.0, "documents": ["x"]}, {"id": "2.0", "documents": ["x"]}])
    assert [*hits_of_questions(path, QUESTIONS)] == ["a?", "b?"]


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("r.jsonl", [{"documents": []}], "r.jsonl, line 1: neither 'question' nor 'id' says what it was retrieved for"),
        ("r.jsonl", [{"question": "a?", "dcos": []}], "r.jsonl, line 1: no list of what was retrieved (keys: q"),
        ("r.jsonl", [{"question": "a?", "docs": [{"text": ""}]}], "r.jsonl, line 1, docs[0]: 'text' must be text that"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", "y"]]}], "docs[0]: a pair must be a document and its score"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", float("nan")]]}], "docs[0]: the score must be a number, found"),
        ("r.jsonl", [{"question": "a?", "docs": [{**MILL, "score": float("inf")}]}], "docs[0]: the score must be a"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", 10**400]]}], "docs[0]: the score must be a number, found"),
        ("run.txt", ["1 Q0 d1 1 nan x"], "run.txt, line 1: the score must be a number, found 'nan'"),
        ("r.jsonl", [{"question": "a?", "docs": ["x", "x"]}], "r.jsonl, line 1: a document occurs twice for one"),
        ("r.jsonl", [{"question": "a?", "docs": []}] * 2, "r.jsonl, line 2: the question 'a?' occurs twice"),
        ("r.jsonl", [{"question": "a?", "docs": []}], "r.jsonl: nothing for 1 of 2 questions, such as 'b?'; its"),
        ("run.txt", ["1 Q0 d1 1 0.5"], "run.txt, line 1: 5 fields, but a line of a TREC run has six"),
        ("run.txt", ["1 Q0 d1 1 high x"], "run.txt, line 1: the score must be a number, found 'high'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it_is_one_line_with_its_place(tmp_path, name, lines, said):
    path = write_lines(tmp_path / name, lines)
    assert said in refused(hits_of_questions, path, QUESTIONS)


def test_two_texts_with_one_id_are_refused(tmp_path):
    records = [{"question": "a?", "docs": [MILL]}, {"question": "b?", "docs": [{**MILL, "page_content": "Other."}]}]
    path = write_lines(tmp_path / "r.jsonl", records)
    said = refused(lambda: list(retrieved(path, CorpusSettings())))
    assert f"{path}, line 2: the document m has another text than at {path}, line 1" in said


def test_the_program_writes_the_hits_that_the_method_gives_and_refuses_an_unknown_document(tmp_path):
    corpus = CountedPassages([Passage("d1", "", "x"), Passage("d2", "", "x", copy_of="d1")], lambda: None)
    made = write_shards(corpus, tmp_path / "shards", 9, 1)
    write_json(tmp_path / "manifest.json", {**made, "copies": corpus.copies})
    write_question_records(tmp_path / "q.jsonl", QUESTIONS)
    # The copy d2 stands for d1.
    run = write_lines(tmp_path / "run.txt", ["1 Q0 d2 1 2 x", "1 Q0 d1 2 1 x", "2 Q0 d1 1 1 x"])
    words = ["--run", run, "--questions", tmp_path / "q.jsonl", "--passages", tmp_path / "manifest.json"]
    assert run_program("read_run", *words, "--output", tmp_path / "run.json").returncode == 0
    settings = dict.fromkeys(SearchTask.__dataclass_fields__)
    task = SearchTask(**{**settings, "indexes": [str(tmp_path / "run.json")], "search": {"hits": 5}})
    assert find(task, ["b?", "a?"]).hits == [[("d1", 1.0)], [("d1", 2.0)]]
    first = read_json(tmp_path / "run.json")["entry"]
    write_lines(run, ["1 Q0 d1 1 2 x", "2 Q0 d7 1 1 x"])
    ran = run_program("read_run", *words, "--output", tmp_path / "run.json")
    assert ran.returncode == 1 and "the document d7, retrieved for 'b?', is no passage of the corpus" in ran.stderr
    assert len(first) > 10


def study(tmp_path: Path, **more):
    write_lines(tmp_path / "q.csv", ["id,question,answer", *(f"{n},Which {n}?,Town {n}" for n in range(30))])
    mine = {"questions": str(tmp_path / "q.csv"), **more}
    return load_study({**DEFAULT, "models": ["dummy"], "my_data": mine}, ROOT)


def test_retrieved_files_are_used_unchanged_and_their_length_decides_the_sizes_and_need_no_packages(tmp_path):
    docs = [[f"Town {n} of {one}" for n in range(12)] for one in range(30)]
    write_lines(tmp_path / "r.jsonl", [{"question": f"Which {n}?", "documents": docs[n]} for n in range(30)])
    one = study(tmp_path, retrieved=str(tmp_path / "r.jsonl"))
    assert one.corpora["my_documents"].source == "retrieved" and one.candidates["my_retrieved"].retriever == "my_system"
    assert [cell.size for cell in one.experiments["my_as_retrieved"].cells] == [1, 3, 5, 10]
    assert any("9 of 10 questions have 12 retrieved" in note for note in one.notes)
    assert [retriever.name for retriever in needs_of(one).retrievers] == ["my_system"]
    assert packages(one, needs_of(one)) == []


def test_a_trec_run_needs_documents_which_may_be_a_beir_folder_and_stay_whole(tmp_path):
    run = write_lines(tmp_path / "run.trec", [f"{q} Q0 d{n} {n} {9 - n} x" for q in range(30) for n in range(6)])
    assert "'documents' is missing" in refused(lambda: study(tmp_path, retrieved=str(run)))
    (tmp_path / "beir").mkdir()
    corpus = [{"_id": f"d{n}", "title": "T", "text": "word " * 200, "metadata": {}} for n in range(60)]
    write_lines(tmp_path / "beir" / "corpus.jsonl", corpus)
    write_lines(tmp_path / "beir" / "queries.jsonl", [json.dumps({"_id": "0", "text": "Which 0?"})])
    one = study(tmp_path, retrieved=str(run), documents=str(tmp_path / "beir"))
    assert one.corpora["my_documents"].path.endswith("corpus.jsonl")
    assert one.corpora["my_documents"].settings.passage_words is None


def test_texts_and_documents_together_are_refused(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [{"question": "a?", "documents": []}])
    said = refused(lambda: study(tmp_path, retrieved=str(path), documents=str(tmp_path)))
    assert "'retrieved' has the texts: leave 'documents' out" in said
