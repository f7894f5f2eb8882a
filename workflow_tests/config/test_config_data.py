"""The catalogues of data: corpora, retrievers, questions and candidates are checked before any job runs."""

import gzip
import re

import pytest
from configs import define, study
from conftest import qa_record, write_lines

from litm.base.messages import UserError
from litm.config.yaml_files import command_line_values
from litm.planning.tokens import assumed, work_of

QA = {"task": "multi_document_qa", "dataset": "c", "positions": {3: [0]}}
OPEN = {"task": "open_domain_qa", "dataset": "r", "sizes": [1, 5]}


def test_a_source_has_a_default_length_of_passages_that_a_corpus_may_change(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    notes = {"source": "documents", "path": str(tmp_path)}
    corpora = study(define={"corpora": {"notes": notes, "whole": {**notes, "passage_words": None}}}).corpora
    words = {name: corpora[name].settings.passage_words for name in ("notes", "whole", "wikipedia_2018")}
    assert words == {"notes": 100, "whole": None, "wikipedia_2018": None}
    assert corpora["notes"].files == (str(tmp_path / "a.txt"),)


def test_a_seed_is_part_only_of_what_is_random():
    entry = {**QA, "dataset": "nq_open_20_documents", "examples": 5}
    examples = {name: {**entry, "selection": name} for name in ("first", "random")}

    def settings(seed: int) -> dict:
        one = study(experiments=examples, seed=seed)
        made = {name: entry.settings for name, entry in {**one.corpora, **one.candidates}.items()}
        return made | {name: one.experiments[name].example_settings() for name in examples}

    one, two = settings(1), settings(2)
    changed = {name for name in one if one[name] != two[name]}
    assert {"mini_encyclopedia", "nq_open_random", "random"} <= changed
    assert not {"wikipedia_2018", "nq_open_contriever", "first"} & changed


def test_a_users_file_may_hold_retrieved_documents_and_closed_book_questions_need_no_gold():
    closed = {"task": "closed_book_qa", "dataset": "nq_open_as_retrieved"}
    mine = {"datasets": {"mine": {"path": "config/config.yaml"}}}
    one = study(experiments={"x": {**OPEN, "dataset": "mine"}, "closed": closed}, define=mine).experiments
    assert (one["x"].datasets[5], one["closed"].datasets) == ("mine", {0: "nq_open_as_retrieved"})


def test_unused_candidates_may_have_more_documents_than_their_retriever_finds():
    study(experiments=["mini_encyclopedia_closed_book"], define={"retrievers": {"bm25": {"hits": 3}}})


def test_the_config_s_number_of_questions_limits_files_and_is_that_of_generated_questions():
    every = {**QA, "dataset": "nq_open_20_documents"}
    own = {"few": {**every, "examples": 2}, "all": every, "kv_retrieval_small": {}}
    asked = [study(experiments=own, **pilot) for pilot in ({}, {"examples": 5}, {"examples": 500}, {"examples": 2})]
    numbers = [[one.examples for one in each.experiments.values()] for each in asked]
    assert numbers == [[2, None, 50], [2, 5, 5], [2, 500, 500], [2, 2, 2]]
    # An experiment that keeps fewer questions is named before the run.
    said = "examples: 500 is more than some have: few 2; their file has no more, or their entry says so "
    assert asked[2].notes == [f"{said}(define.experiments.NAME.examples)"] and asked[3].notes == []


#: Names of questions, with the number that is known of each before a run.
KNOWN = {"plain": 3, "packed": 3, "damaged": 0, "far": 0, "few": 2, "table": 4, "found": 4, "generated": 0, "nearby": 3}


@pytest.mark.parametrize(("name", "number"), [*KNOWN.items(), (["plain", "table"], 4), (["plain", "far"], 0)])
def test_questions_of_local_files_are_counted_and_the_number_of_others_is_known_from_the_config_or_assumed(
    tmp_path, name, number
):
    lines = b'{"question": "a"}\n\n{"question": "b"}\n{"question": "c"}'
    texts = {"plain": lines, "packed.gz": gzip.compress(lines), "damaged.gz": b"x"}
    texts["t.csv"] = b"question,answer\n" + 4 * b"1,1\n"
    for file, text in texts.items():
        (tmp_path / file).write_bytes(text)
    data: dict = {file.partition(".")[0]: {"path": str(tmp_path / file)} for file in [*texts][:3]}
    data["far"] = {"url": "https://example.org/far", "sha256": "0" * 64}
    words = {"source": "mini_gazetteer", "passages": 7}
    questions = {
        "few": {"dataset": "far", "questions": 2},
        "table": {"file": str(tmp_path / "t.csv"), "corpus": "words"},
        "found": {"gold_of": "table", "retriever": "bm25"},
        "generated": {"corpus": "words"},
    }
    nearby = {"questions": "plain", "corpus": "words", "retriever": "bm25", "documents": 9}
    define = {"datasets": data, "corpora": {"words": words}, "questions": questions, "candidates": {"nearby": nearby}}
    files = dict(zip((3, 4), name, strict=True)) if isinstance(name, list) else dict.fromkeys((3, 4), name)
    one = study(experiments={"x": {**QA, "positions": {3: [0], 4: [0]}, "dataset": files}}, define=define)
    assert one.experiments["x"].most_questions == number
    assert work_of(*one.sweeps).prompts == 2 * (number or 2_655)
    told = ["x: the number of questions is not known yet; 2,655 are assumed"]
    assert assumed(one, ["x"]) == ([] if number else told)
    assert assumed(study(experiments=["multi_document_qa"]), ["multi_document_qa"]) == []


def test_numbers_in_mappings_of_the_command_line_are_numbers_and_names_are_texts():
    given = {"define": {"e": {"examples": "20", "p": {"10": ["0", "4"]}, "x": "1.5", "no": "null", "t": "010"}}}
    read = command_line_values({**given, "models": ["10"], "seed": 3})
    assert read == {"define": {"e": {"examples": 20, "p": {"10": [0, 4]}, "x": 1.5, "no": None, "t": "010"}}}


# --- Versions of the released files

RELEASED = ["multi_document_qa", "multi_document_qa_random_order", "multi_document_qa_sample", "multi_document_qa_v1"]


@pytest.mark.parametrize(("wanted", "versions"), [(None, {"v1", "v2"}), ("v2", {"v1", "v2"}), ("v1", {"v1"})])
def test_all_experiments_take_the_version_of_the_released_files_that_the_config_says(wanted, versions):
    pilot = {"data_version": wanted} if wanted else {}
    made = study(experiments=[*RELEASED, "kv_retrieval", "closed_book_qa", "oracle_qa"], **pilot)
    of = {name: one.datasets.values() for name, one in made.experiments.items()}
    taken = {name: {made.datasets[dataset].version for dataset in datasets} for name, datasets in of.items()}
    assert set().union(*(taken[name] for name in RELEASED)) == versions
    # No experiment has both, and one that names a version keeps it.
    assert all(len(taken[name]) == 1 for name in RELEASED) and taken["multi_document_qa_v1"] == {"v1"}
    assert taken["kv_retrieval"] == taken["oracle_qa"] == {"released"}


def test_files_of_both_versions_have_names_of_their_own_here_and_are_pinned():
    datasets = study().datasets
    for size in (10, 20, 30):
        v1, v2 = datasets[f"nq_open_{size}_documents_v1"], datasets[f"nq_open_{size}_documents"]
        assert v1.file != v2.file and v1.url.rsplit("/", 1)[-1] == v2.url.rsplit("/", 1)[-1] == v2.file
        assert len(v1.checksum) == 40 and len(v2.checksum) == 64
    released = [dataset.url for dataset in datasets.values() if "lost-in-the-middle" in (dataset.url or "")]
    assert len(released) == 10 and all(re.search(r"/lost-in-the-middle/[0-9a-f]{40}/", url) for url in released)


def test_a_local_file_replaces_the_url_of_a_catalogue_dataset_and_both_together_are_refused(tmp_path):
    name, file = "nq_open_20_documents_v1", {"path": str(write_lines(tmp_path / "mine.jsonl", [qa_record(0, 20)]))}
    mine = study(**define("datasets", **{name: file})).datasets[name]
    assert (mine.path, mine.url, mine.version) == (file["path"], None, "v1")
    with pytest.raises(UserError, match="give either 'path' or 'url'"):
        study(**define("datasets", **{name: {**file, "url": "https://x/y"}}))
