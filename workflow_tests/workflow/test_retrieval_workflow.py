"""A user's documents and questions, run for real from retrieval to the report; and the effect of edits."""

import json
import re
import shutil
from itertools import islice

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import write_lines
from encoders import WORDS, make_encoder
from reruns import changes, check, with_keys
from workbench import Workbench

from litm.base.json_files import read_jsonl
from litm.retrieval.scoring_models import Encoder

#: Two full shards and an empty one.
DOCUMENTS, PASSAGES_PER_SHARD, SHARDS = 12, 6, 3

CONFIG = yaml.safe_load(f"""
models: [dummy]
experiments: [qa, oracle, open]
define:
  datasets: {{asked: {{path: asked.jsonl}}, labels: {{path: labels.jsonl, labels: jsonl}}}}
  corpora:
    notes: {{source: documents, path: notes, passages_per_shard: {PASSAGES_PER_SHARD}, shards: {SHARDS}}}
  retrievers:
    bm25: {{hits: 8}}
    tiny: {{method: dense, path: encoder, max_tokens: 48, device: cpu, hits: 8, passage_prefix: "w190 w191 ",
      query_prefix: "w192 "}}
  candidates:
    notes_bm25: {{questions: asked, corpus: notes, retriever: bm25, documents: 4}}
    notes_random: {{questions: asked, corpus: notes, kind: gold_and_random, documents: 4}}
    notes_as_retrieved: {{questions: asked, corpus: notes, retriever: tiny, kind: as_retrieved, documents: 6}}
  experiments:
    qa: {{task: multi_document_qa, dataset: notes_bm25, positions: {{3: [0, 2]}}, max_new_tokens: 5}}
    oracle: {{task: oracle_qa, dataset: notes_random, max_new_tokens: 5}}
    open: {{task: open_domain_qa, dataset: notes_as_retrieved, sizes: [1, 5], max_new_tokens: 5}}
""")


def document(number: int) -> dict:
    """A text of five words, which name their document, and two that all have."""
    words = " ".join(WORDS[5 * number : 5 * number + 5])
    return {"id": f"d{number:02}", "title": f"Note {number}", "text": f"{words} common river"}


def question(number: int) -> dict:
    """Asks for a document by two of its words and the common ones; its gold document is given by its id alone."""
    asked = f"which common river has {WORDS[5 * number]} {WORDS[5 * number + 1]}"
    gold = {"id": f"d{number:02}", "isgold": True}
    return {"question": asked, "answers": [WORDS[5 * number + 2]], "ctxs": [gold]}


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory) -> Workbench:
    """A workbench in which everything has been made once."""
    bench = new_project.moved_to(tmp_path_factory.mktemp("retrieval"))
    make_encoder(bench.path("encoder"))
    bench.path("notes/more").mkdir(parents=True)
    write_lines(bench.path("notes/a.jsonl"), [document(number) for number in range(8)])
    write_lines(bench.path("notes/more/b.jsonl.gz"), [document(number) for number in range(8, DOCUMENTS)])
    write_lines(bench.path("asked.jsonl"), [question(number) for number in range(4)])
    write_lines(bench.path("labels.jsonl"), [{"question": question(n)["question"], "keep": n != 1} for n in range(3)])
    bench.configure(CONFIG)
    bench.run()
    return bench


def store(bench: Workbench, kind: str) -> set[str]:
    return {path.name for path in bench.path(f"results/store/{kind}").glob("*.json")}


def records(bench: Workbench, name: str) -> list[dict]:
    return [record for _, record in read_jsonl(bench.path(name))]


CANDIDATES = "results/candidates/notes_bm25.jsonl.gz"
RETRIEVED = "results/retrieved/notes/tiny/asked.jsonl.gz"


def test_each_question_has_its_gold_document_completed_and_ranked_distractors_without_an_answer(finished):
    for number, record in enumerate(records(finished, CANDIDATES)):
        gold, *others = record["ctxs"]
        assert gold["isgold"] and gold["text"] == document(number)["text"] and gold["title"] == f"Note {number}"
        # The gold passage is found first and passed over.
        assert [one["original_retrieval_index"] for one in others] == [1, 2, 3]
        assert not any(record["answers"][0] in one["text"].split() for one in others)


def test_dense_retrieval_over_shards_equals_numpy_over_all_vectors(finished):
    settings = {"pooling": "mean", "normalize": False, "max_tokens": 48, "dtype": "float32"}
    encoder = Encoder({"location": str(finished.path("encoder")), "revision": None}, settings, "cpu")
    documents = [document(number) for number in range(DOCUMENTS)]
    vectors = encoder.encode([f"w190 w191 {one['title']} {one['text']}" for one in documents])
    queries = encoder.encode([f"w192 {question(number)['question']}" for number in range(4)])
    for record, scores in zip(records(finished, RETRIEVED), queries @ vectors.T, strict=True):
        best = np.argsort(-scores)[:8]
        assert [one["id"] for one in record["ctxs"]] == [documents[row]["id"] for row in best]
        np.testing.assert_allclose([float(one["score"]) for one in record["ctxs"]], scores[best], rtol=1e-4)


def documents_of(record: dict, count: int | None = None) -> str:
    """The first documents of a record, as a prompt shows them."""
    shown = enumerate(record["ctxs"][:count], start=1)
    return "\n".join(f"Document [{n}](Title: {one['title']}) {one['text']}" for n, one in shown)


def test_open_domain_contexts_are_the_first_passages_as_they_were_retrieved(finished):
    examples = records(finished, "results/examples/open/5/as_retrieved.jsonl.gz")
    for record, example in zip(records(finished, RETRIEVED), examples, strict=True):
        assert documents_of(record, 5) in example["prompt"] and "Document [6]" not in example["prompt"]
        (target,) = example["targets"]
        assert (target["position"], target["answers"]) == (None, record["answers"])


def test_tables_figures_and_report_show_what_was_retrieved(finished):
    recall, made, accuracy = (
        pd.read_csv(finished.path(f"results/tables/{name}.csv")) for name in ("retrieval", "candidates", "accuracy")
    )
    bm25 = recall[recall["retriever"] == "bm25"].set_index("k")
    assert list(recall["retriever"].unique()) == ["bm25", "tiny"] and list(bm25.index) == [1, 5]
    assert bm25.loc[1, "recall"] == bm25.loc[1, "recall_gold"] == 1.0 and bm25.loc[1, "n_gold"] == 4
    assert list(made["candidates"]) == ["notes_bm25", "notes_random", "notes_as_retrieved"]
    assert list(made["n"]) == [4, 4, 4] and list(made["n_answer_in_others_dpr"])[:2] == [0, 0]
    shown = accuracy[accuracy["experiment"] == "open"]
    assert list(shown["size"]) == [1, 5] and shown["position"].isna().all() and (shown["n"] == 4).all()
    assert finished.path("results/figures/open.png").stat().st_size > 5000
    assert "Gold passage" in finished.path("results/report.html").read_text()


def test_candidates_can_be_exported_in_the_released_format_and_used_as_they_are(bench):
    exported = "results/export/notes_bm25/3_total_documents/notes_bm25-3_total_documents_gold_at_2.jsonl.gz"
    bench.run("--", exported)
    assert [[one["isgold"] for one in record["ctxs"]] for record in records(bench, exported)] == [[0, 0, 1]] * 4
    again = {**CONFIG["define"]["experiments"]["qa"], "dataset": "exported"}
    own = {"define.datasets.exported": {"path": exported}, "define.experiments.again": again}
    bench.configure(with_keys(CONFIG, {"experiments": ["again"], **own}))
    made = [f"results/examples/again/3/gold_at_{position}.jsonl.gz" for position in (0, 2)]
    bench.run("--", *made)
    for name in made:
        assert bench.path(name).read_bytes() == bench.path(name.replace("again", "qa")).read_bytes()


def test_a_file_of_documents_as_retrieved_has_the_recall_of_the_search_that_found_them(bench):
    shutil.copy(bench.path("results/candidates/notes_as_retrieved.jsonl.gz"), bench.path("theirs.jsonl.gz"))
    own = {"datasets.theirs": {"path": "theirs.jsonl.gz"}, "experiments.open.dataset": "theirs"}
    config = with_keys(CONFIG, {"experiments": ["open"], **{f"define.{key}": value for key, value in own.items()}})
    bench.configure(with_keys(config, {"define.experiments.open.sizes": [1, 2, 5]}))
    bench.run("--", "results/tables/retrieval.csv", "results/tables/claims.csv")
    (searched, made) = (
        pd.read_csv(bench.path(f"results/recall/{name}.csv")).set_index("k")["recall"]
        for name in ("notes/tiny/asked", "theirs/theirs/theirs")
    )
    assert list(made.index) == [1, 2, 5] and made[[1, 5]].equals(searched)
    claims = pd.read_csv(bench.path("results/tables/claims.csv")).set_index("claim")
    assert re.search(r"; recall \+[\d.]+ points", claims.loc["readers_saturate", "reason"])


def change_answers(bench: Workbench) -> None:
    records = [question(number) for number in range(4)]
    records[2]["answers"] = ["somebody"]
    write_lines(bench.path("asked.jsonl"), records)


def add_documents(bench: Workbench) -> None:
    write_lines(bench.path("notes/z.jsonl"), [document(12), document(13)])


def edit_the_encoder(bench: Workbench) -> None:
    bench.path("scripts/litm/retrieval/dense.py").open("a").write("# A comment.\n")


@changes("retrieval")
def test_a_change_runs_what_the_page_says(bench, row):
    check(bench, CONFIG, row, globals())


@pytest.mark.parametrize("change", [change_answers, edit_the_encoder])
def test_indexes_vectors_and_hits_are_used_again_for_the_same_questions_and_documents(bench, change):
    change(bench)
    before = {kind: store(bench, kind) for kind in ("bm25", "vectors", "hits")}
    assert bench.run_here("--until", "make_candidates").returncode == 0
    assert {kind: store(bench, kind) for kind in before} == before
    if change is change_answers:
        assert records(bench, CANDIDATES)[2]["answers"] == ["somebody"]


def test_a_new_shard_encodes_only_itself(bench):
    add_documents(bench)
    folder, before = bench.path("results/store/vectors"), store(bench, "vectors")
    stamps = {path: path.stat().st_mtime_ns for path in folder.iterdir() if not path.name.startswith(".")}
    assert bench.run_here("--until", "encode_passages").returncode == 0
    (new,) = store(bench, "vectors") - before
    assert json.loads((folder / new).read_text())["facts"]["rows"] == 2
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())


@pytest.mark.parametrize(
    ("retriever", "key", "value"),
    [("bm25", "k1", 0.2), ("tiny", "pooling", "cls"), ("tiny", "query_prefix", ""), ("tiny", "index", "hnsw")],
)
def test_another_setting_is_another_search_and_going_back_gives_the_first_again(finished, bench, retriever, key, value):
    path = f"results/retrieved/notes/{retriever}/asked.jsonl.gz"
    before = store(bench, "hits")
    bench.configure(with_keys(CONFIG, {f"define.retrievers.{retriever}.{key}": value}))
    assert bench.run_here("--until", "retrieve").returncode == 0
    assert len(store(bench, "hits") - before) == 1
    # An approximate index of twelve passages finds all of them.
    assert (bench.path(path).read_bytes() == finished.path(path).read_bytes()) == (key == "index")
    bench.configure(CONFIG)
    assert bench.run_here("--forcerun", "encode_passages", "retrieve", "--until", "retrieve").returncode == 0
    assert bench.path(path).read_bytes() == finished.path(path).read_bytes()
    assert len(store(bench, "hits") - before) == 1


def test_questions_can_be_restricted_by_labels_and_drawn_at_random(bench):
    keys = {"subset": "labels", "examples": 1, "selection": "random"}
    bench.configure(with_keys(CONFIG, {f"define.experiments.qa.{key}": value for key, value in keys.items()}))
    names = [f"results/examples/qa/3/gold_at_{position}.jsonl.gz" for position in (0, 2)]
    bench.run("--", *names)
    ids = [[one["id"] for one in records(bench, name)] for name in names]
    assert ids[0] == ids[1] and len(ids[0]) == 1
    log = bench.path("results/logs/make_examples/qa/3/gold_at_0.log").read_text()
    assert "3 of 4 questions have a label, 2 are kept, the others left out" in log


#: What is said of changed files, keys of the config, and a folder that is gone.
MISTAKES = {
    "notes/a.jsonl, line 1": {"notes/a.jsonl": [{"id": 1.5, "title": "Note 0", "text": "The note."}]},
    "notes/z.jsonl, line 1: the id 'd00' is also at notes/a.jsonl, line 1": {"notes/z.jsonl": [document(0)]},
    "24 passages do not fit into 3 shards of 6: set 'shards' to 4 or more": {
        "notes/z.jsonl": [document(number) for number in range(12, 24)]
    },
    "asked.jsonl, line 1: its gold passage d99 is not in the corpus": {
        "asked.jsonl": [{**question(0), "ctxs": [{"id": "d99", "isgold": True}]}]
    },
    "has 12 documents, but 'documents' is 13": {"define.candidates.notes_random.documents": 13},
    "is gone from the store: make it again with `snakemake --forcerun index_bm25": {
        "define.retrievers.bm25.k1": 2, "results/store": None
    },
}  # fmt: skip


@pytest.mark.parametrize(("said", "changed"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_in_the_data_is_one_line_at_the_end_and_no_traceback(bench, said, changed):
    keys = {key: value for key, value in changed.items() if key.startswith("define.")}
    bench.configure(with_keys(CONFIG, keys))
    for name in changed.keys() - keys.keys():
        write_lines(bench.path(name), changed[name]) if changed[name] else shutil.rmtree(bench.path(name))
    done = bench.run_here("--until", "make_candidates")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ") and said in last, done.stderr
    assert "Traceback" not in done.stderr


def test_the_real_candidates_equal_the_released_prompts_when_gold_and_distractors_are_theirs(bench, data):
    released = data / "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz"
    own = {"define.datasets.released": {"path": str(released)}, "define.experiments.qa.dataset": "released"}
    bench.configure(with_keys(CONFIG, {**own, "define.experiments.qa.positions": {20: [0]}}))
    export = "results/export/released/20_total_documents/released-20_total_documents_gold_at_0.jsonl.gz"
    examples = "results/examples/qa/20/gold_at_0.jsonl.gz"
    bench.run("--", export, examples)
    theirs = [record for _, record in read_jsonl(released)]
    assert records(bench, export) == theirs
    instruction = (
        "Write a high-quality answer for the given question using only the provided search results "
        "(some of which might be irrelevant).\n\n"
    )
    for record, example in zip(theirs, records(bench, examples), strict=True):
        asked = f"{documents_of(record)}\n\nQuestion: {record['question']}\nAnswer:"
        assert example["prompt"] == f"{instruction}{asked}"


def test_the_funnel_from_nq_open_to_the_papers_questions_is_printed_and_kept(bench, data):
    bench.configure({**CONFIG, "data_mirror": str(data)})
    bench.run("--", "results/questions/nq_open_paragraphs.jsonl.gz")
    counts = pd.read_csv(bench.path("results/questions/nq_open_paragraphs.funnel.csv"))["n"].tolist()
    assert counts[0] == 3610 and counts[-1] == 2655
    log = bench.path("results/logs/derive_questions/nq_open_paragraphs.log").read_text()
    assert "3,610 questions in NQ-Open" in log


def test_the_first_questions_of_a_dataset_are_searched_among_their_own_documents(bench, data):
    first_441 = str(data / "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz")
    few = {"questions": "few", "corpus": "their_documents", "retriever": "bm25", "kind": "as_retrieved", "documents": 5}
    found = "results/candidates/found.jsonl.gz"
    own = {"define.datasets.many": {"path": first_441, "version": "v1"}, "define.candidates.found": few}
    own["define.corpora.their_documents"] = {"source": "retrieved", "dataset": "few"}
    bench.configure(with_keys(CONFIG, {**own, "define.questions.few": {"dataset": "many", "questions": 3}}))
    bench.run("--", found)
    asked, made = [record for _, record in islice(read_jsonl(first_441), 3)], records(bench, found)
    assert [record["question"] for record in made] == [record["question"] for record in asked]
    texts = {" ".join(one["text"].split()) for record in asked for one in record["ctxs"]}
    assert all(len(record["ctxs"]) == 5 and {one["text"] for one in record["ctxs"]} <= texts for record in made)

    bench.configure(with_keys(CONFIG, {**own, "define.questions.few": {"dataset": "many", "questions": 442}}))
    done = bench.run_here("--", found)
    assert done.returncode == 1
    assert f"{first_441} has 441 questions; lower 'questions', which asks for 442" in done.stderr
