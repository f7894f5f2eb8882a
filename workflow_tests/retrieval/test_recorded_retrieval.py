"""Recorded hits of an existing retrieval system: formats, order and errors."""

import json
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, write_lines
from programs import refused, run_program

from litm.base.json_files import read_json, write_json
from litm.checks.doctor import packages
from litm.config.needs import needs_of
from litm.config.study import load_study
from litm.corpora.passages import CorpusSettings, CountedPassages, Passage, write_shards
from litm.corpora.retrieved import Run, hits_of_questions, read_retrieved, retrieved
from litm.questions.released_format import QuestionRecord, write_question_records
from litm.retrieval.search import SearchTask, find

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
    hits = hits_of_questions(path, QUESTIONS).hits
    one, two = (passage.id for passage in corpus)
    assert hits == {"a?": [(one, 0.0), (two, -1.0)], "b?": [(two, 0.0), (one, -1.0)]}


def test_a_trec_run_is_read_by_the_ids_of_questions_and_ordered_by_score(tmp_path):
    path = write_lines(tmp_path / "run.trec", ["1 Q0 d1 1 0.5 x", "1 Q0 d2 2 0.9 x", "2 Q0 d1 1 3 x", "9 Q0 d1 1 3 x"])
    assert hits_of_questions(path, QUESTIONS).hits == {"a?": [("d2", 0.9), ("d1", 0.5)], "b?": [("d1", 3.0)]}


def test_an_id_that_pandas_has_made_a_float_is_the_same_id(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [{"id": 1.0, "documents": ["x"]}, {"id": "2.0", "documents": ["x"]}])
    assert [*hits_of_questions(path, QUESTIONS).hits] == ["a?", "b?"]


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("r.jsonl", [{"documents": []}], "r.jsonl, line 1: neither 'question' nor 'id' says what it was retrieved for"),
        ("r.jsonl", [{"question": "a?", "dcos": []}], "r.jsonl, line 1: no list of what was retrieved (keys: q"),
        ("r.jsonl", [{"question": "a?", "docs": [{"text": ""}]}], "r.jsonl: nothing for 2 of 2 questions, such as"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", "y"]]}], "docs[0]: a pair must be a document and its score"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", float("nan")]]}], "docs[0]: the score must be a number, found"),
        ("r.jsonl", [{"question": "a?", "docs": [{**MILL, "score": float("inf")}]}], "docs[0]: the score must be a"),
        ("r.jsonl", [{"question": "a?", "docs": [["x", 10**400]]}], "docs[0]: the score must be a number, found"),
        ("run.txt", ["1 Q0 d1 1 nan x"], "run.txt, line 1: the score must be a number, found 'nan'"),
        ("r.jsonl", [{"question": "a?", "docs": []}], "r.jsonl: nothing for 2 of 2 questions, such as 'a?'; its"),
        ("qrels.txt", ["1 0 d1 1"], "a TREC run has six: question, Q0, document, rank, score, name; four are"),
        ("run.txt", ["1 Q0 d1 1 2 x", "1 Q0 d1 1 2 y"], "run.txt, line 2: a second run, x and y, in one file; keep"),
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
    assert ran.returncode == 0 and "1 documents are no passages of the corpus and left out: d7" in ran.stderr
    write_lines(run, ["1 Q0 d6 1 2 x", "2 Q0 d7 1 1 x"])
    ran = run_program("read_run", *words, "--output", tmp_path / "run.json")
    assert ran.returncode == 1 and "the document d6, retrieved for 'a?', is no passage of the corpus" in ran.stderr
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


MANY = [QuestionRecord.from_documents(f"{number}?", ["x"], []) for number in range(6)]


def listed(tmp_path: Path, scores: list[float], key: str = "score") -> Run:
    """The hits of six questions with documents of these scores, in this order."""
    documents = [{"id": f"d{number}", "text": f"Text {number}", key: score} for number, score in enumerate(scores)]
    records = [{"question": one.text, "documents": documents} for one in MANY]
    return hits_of_questions(write_lines(tmp_path / "r.jsonl", records), MANY)


def test_distances_become_scores_and_keep_the_order_of_the_lists(tmp_path):
    run = listed(tmp_path, [0.1, 0.2, 0.4])
    assert run.hits["0?"] == [("d0", -0.1), ("d1", -0.2), ("d2", -0.4)]
    assert len(run.notes) == 1 and "scores rise along the lists, as distances do" in run.notes[0]
    assert listed(tmp_path, [0.4, 0.2, 0.2]).notes == ()


@pytest.mark.parametrize(
    ("scores", "key"),
    [
        # Best at both ends, as of LangChain's LongContextReorder, and worst first of what are no distances.
        ([0.9, 0.5, 0.1, 0.3, 0.7], "score"),
        ([0.1, 0.2, 0.4], "similarity"),
    ],
)
def test_lists_that_are_not_best_first_are_refused(tmp_path, scores, key):
    said = refused(listed, tmp_path, scores, key)
    assert "r.jsonl, line 1: the scores contradict the order of the list, as those of 6 of 6 lists do" in said


def test_lists_that_are_not_best_first_by_a_score_in_the_metadata_are_refused(tmp_path):
    scores = [0.9, 0.5, 0.1, 0.3, 0.7]
    chunks = [
        {"page_content": f"text {number}", "metadata": {"relevance_score": one}} for number, one in enumerate(scores)
    ]
    path = write_lines(tmp_path / "r.jsonl", [{"question": "0?", "documents": chunks}])
    asked = [QuestionRecord.from_documents("0?", ["a"], [])]
    assert "the scores contradict the order of the list" in refused(hits_of_questions, path, asked)


def test_a_trec_run_of_distances_is_ordered_by_its_ranks_and_equal_ranks_say_nothing(tmp_path):
    def hits(ranks: list[float]) -> Run:
        lines = [f"{q} Q0 d{d} {ranks[d]} {(d + 1) / 10} x" for q in range(6) for d in range(3)]
        asked = [QuestionRecord({**one.fields, "id": number}) for number, one in enumerate(MANY)]
        return hits_of_questions(write_lines(tmp_path / "run.txt", lines), asked)

    assert [id_ for id_, _ in hits([1, 2, 3]).hits["0?"]] == ["d0", "d1", "d2"]
    assert "scores rise along the ranks" in hits([1, 2, 3]).notes[0]
    # As pandas writes ranks in a column with gaps.
    assert hits([1.0, 2.0, 3.0]) == hits([1, 2, 3])
    assert [id_ for id_, _ in hits([1, 1, 1]).hits["0?"]] == ["d2", "d1", "d0"]
    assert hits([3, 2, 1]).notes == ()


def test_one_bad_entry_is_left_out_and_counted(tmp_path):
    text = {"text": "Mill.", "id": "d"}
    records = [
        {"question": "0?", "documents": [text, {"text": " "}, {**text, "id": "e"}, {"text": "Bridge.", "id": "f"}]},
        *({"question": one.text, "documents": [text]} for one in MANY[1:5]),
        {"question": "1?", "documents": [{"text": "Other."}]},
    ]
    run = hits_of_questions(write_lines(tmp_path / "r.jsonl", records), MANY)
    assert [id_ for id_, _ in run.hits["0?"]] == ["d", "f"] and run.hits["5?"] == []
    said = "\n".join(run.notes)
    assert "documents that occur again for one question, left out" in said and "documents[2]" in said
    assert "entries without text, left out" in said and "documents[1]" in said
    assert "second lists for one question, left out" in said and "line 6" in said
    assert "questions with nothing retrieved" in said and "'5?'" in said


def test_ids_that_differ_only_in_a_decimal_are_two(tmp_path):
    asked = [QuestionRecord.from_documents("a?", ["x"], []), QuestionRecord.from_documents("b?", ["x"], [])]
    asked = [QuestionRecord({**one.fields, "id": id_}) for one, id_ in zip(asked, ("1", "1.0"), strict=True)]
    records = [{"id": "1", "documents": ["one"]}, {"id": "1.0", "documents": ["two"]}]
    run = hits_of_questions(write_lines(tmp_path / "r.jsonl", records), asked)
    assert run.hits["a?"] != run.hits["b?"] and run.notes == ()
