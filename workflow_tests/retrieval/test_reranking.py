"""Reranking: a cross-encoder's order is its library's; fusion follows the published formula."""

import json
import math
import random
from collections import Counter

import pytest
import torch
from conftest import write_lines
from encoders import WORDS, make_cross_encoder
from programs import run_program
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from litm.base.json_files import read_jsonl, write_json
from litm.base.messages import UserError
from litm.models.identity import folder_identity
from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.reranking import bm25_ranking, by_score, count_terms, fused, terms_in
from litm.retrieval.scoring_models import CrossEncoder

#: What `CrossEncoder(folder, max_length=48).rank` of sentence-transformers 6.2.0 makes of `some_texts()`, best first.
LIBRARY_RANKING = [8, 3, 0, 10, 7, 9, 1, 11, 2, 4, 5, 6]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_cross_encoder(tmp_path_factory.mktemp("cross") / "encoder")


def cross_encoder(folder, max_tokens=48, batch_tokens=200) -> CrossEncoder:
    source = {"location": str(folder), "revision": None}
    return CrossEncoder(source, {"max_tokens": max_tokens, "dtype": "float32"}, "cpu", batch_tokens)


def some_texts() -> tuple[str, list[str]]:
    rng = random.Random(0)
    question = " ".join(rng.choices(WORDS, k=5))
    return question, [" ".join(rng.choices(WORDS, k=rng.randint(1, 80))) for _ in range(12)]


def test_a_score_equals_the_models_for_the_single_pair_in_any_batch(folder):
    question, documents = some_texts()
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    for batch_tokens in (1, 10_000):
        scores = cross_encoder(folder, batch_tokens=batch_tokens).score([(question, one) for one in documents])
        for document, score in zip(documents, scores, strict=True):
            with torch.inference_mode():
                alone = tokenizer(question, document, truncation=True, max_length=48, return_tensors="pt")
                assert score[0] == pytest.approx(model(**alone).logits.item(), abs=1e-4)


def test_a_classifier_with_several_scores_and_more_tokens_than_the_model_reads_are_refused(folder, tmp_path):
    with pytest.raises(UserError, match="has 3 scores for a pair, a reranker has one"):
        cross_encoder(make_cross_encoder(tmp_path / "classes", labels=3))
    with pytest.raises(UserError, match="takes at most 64 tokens: set the reranker's 'max_tokens', which is 65"):
        cross_encoder(folder, max_tokens=65)


def documents(*names: str, **fields) -> list[Document]:
    return [Document.from_fields(f"title {name}", f"text {name}", id=name, **fields) for name in names]


def ids(ranking) -> list[str | None]:
    return [document.id for document in ranking]


def test_fusion_sums_the_reciprocal_ranks_of_every_ranking_that_has_a_document():
    ranking = fused([documents("a", "b", "c"), documents("c", "a", "d")], k=60)
    scores = {"a": 1 / 61 + 1 / 62, "b": 1 / 62, "c": 1 / 63 + 1 / 61, "d": 1 / 63}
    assert ids(ranking) == sorted(scores, key=lambda name: -scores[name])
    assert [float(one.fields["score"]) for one in ranking] == pytest.approx(sorted(scores.values())[::-1], abs=1e-6)


def test_documents_without_ids_are_the_same_where_title_and_text_are_and_equal_scores_keep_their_order():
    one, other = Document.from_fields("t", "same"), Document.from_fields("t", "another")
    assert [document.text for document in fused([[one, other], [other]], k=60)] == ["another", "same"]
    assert ids(by_score(documents("a", "b", "c"), [1.0, 2.0, 1.0])) == ["b", "a", "c"]


def record(question: str, texts: list[str]) -> dict:
    ctxs = [{"id": f"d{n}", "title": "", "text": text, "hasanswer": "x" in text} for n, text in enumerate(texts)]
    return {"question": question, "answers": ["x"], "ctxs": ctxs}


def test_bm25_among_the_documents_is_the_formula_of_lucene():
    texts = ["red river red", "the river", "a long text that names the town of the lake and the hill"]
    (question,) = [QuestionRecord.from_json(record("Red river?", texts), "here")]
    terms = count_terms([question])
    ranking = bm25_ranking(question.text, question.documents, terms)
    mean = sum(len(text.split()) for text in texts) / 3

    def score(text: str) -> float:
        words = Counter(text.split())
        norm = 0.9 * (1 - 0.4 + 0.4 * sum(words.values()) / mean)
        idf = {term: math.log(1 + (3 - n + 0.5) / (n + 0.5)) for term, n in (("red", 1), ("river", 2))}
        return sum(idf[term] * words[term] / (words[term] + norm) for term in idf)

    assert [one.text for one in ranking] == sorted(texts, key=lambda text: -score(text))
    assert [float(one.fields["score"]) for one in ranking] == pytest.approx(sorted(map(score, texts))[::-1], abs=1e-6)


def test_the_terms_of_a_text_without_spaces_are_its_characters():
    assert terms_in("東京の Mill、2024年") == ["東", "京", "の", "mill", "2024", "年"]


def rerank(tmp_path, *options: str, settings=None) -> tuple[list[dict], str]:
    """What the program makes of in.jsonl, and what it says."""
    output = tmp_path / "out.jsonl.gz"
    output.unlink(missing_ok=True)
    given = ["--documents", tmp_path / "in.jsonl", "--settings", json.dumps(settings or {"k": 60})]
    done = run_program("rerank", *given, "--store", tmp_path / "store", "--output", output, *options)
    return [one for _, one in read_jsonl(output)] if done.returncode == 0 else [], done.stderr


def test_every_question_keeps_its_documents_in_the_order_of_the_cross_encoder_whose_scores_are_computed_once(
    folder, tmp_path, monkeypatch
):
    question, texts = some_texts()
    write_lines(tmp_path / "in.jsonl", [record(question, texts), record("w1 w2", texts[:3])])
    source = {"location": str(folder), "revision": None, "identity": folder_identity(folder)}
    write_json(tmp_path / "model.json", source)
    options = ["--fused-with", "--model", str(tmp_path / "model.json"), "--device", "cpu"]
    settings = {"max_tokens": 48, "dtype": "float32"}
    (first, second), said = rerank(tmp_path, *options, settings=settings)
    assert [one["id"] for one in first["ctxs"]] == [f"d{place}" for place in LIBRARY_RANKING]
    assert sorted(one["text"] for one in second["ctxs"]) == sorted(texts[:3])
    scores = [float(one["score"]) for one in first["ctxs"]]
    assert scores == sorted(scores, reverse=True)
    assert "10 pairs are longer than 48 tokens and were cut there" in said
    monkeypatch.setattr(CrossEncoder, "score", lambda *pairs: pytest.fail("scored again"))
    assert rerank(tmp_path, *options, settings=settings)[0] == [first, second]


def test_rankings_of_other_retrievers_are_fused_question_by_question_and_must_have_all_of_them(tmp_path):
    texts = ["a x", "b", "c"]
    write_lines(tmp_path / "in.jsonl", [record("one?", texts), record("two?", texts)])
    two, one = record("two?", texts), record("one?", texts)
    write_lines(tmp_path / "other.jsonl", [two, {**one, "ctxs": one["ctxs"][:0:-1]}])
    (first, second), said = rerank(tmp_path, "--fused-with", str(tmp_path / "other.jsonl"))
    assert [one["id"] for one in first["ctxs"]] == ["d2", "d1", "d0"]
    assert [one["id"] for one in second["ctxs"]] == ["d0", "d1", "d2"]
    assert "having an answer for 1 of them, before for 2" in said
    write_lines(tmp_path / "other.jsonl", [two])
    made, said = rerank(tmp_path, "--fused-with", str(tmp_path / "other.jsonl"))
    assert not made and "other.jsonl: the question of" in said and "in.jsonl, line 1 is not in it" in said
