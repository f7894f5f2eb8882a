"""The catalogues of data: corpora, retrievers, questions and candidates are checked before any job runs."""

import re
import shutil

import pytest
from configs import DEFAULT
from conftest import ROOT

from litm.base.messages import UserError
from litm.config.study import load_study
from litm.config.yaml_files import command_line_values
from litm.models.files import model_files

ENCODER = ROOT / "resources" / "reference_model"

QA = {"task": "multi_document_qa", "dataset": "c", "positions": {3: [0]}}
OPEN = {"task": "open_domain_qa", "dataset": "r", "sizes": [1, 5]}
CANDIDATES = {"questions": "nq_open_oracle", "corpus": "mini_encyclopedia", "retriever": "bm25", "documents": 5}


def study(selected=("mini_encyclopedia_qa",), **define):
    figures = {"figures": list(define["figures"])} if "figures" in define else {}
    return load_study({**DEFAULT, **figures, "experiments": list(selected), "define": define}, ROOT)


def test_a_source_has_a_default_length_of_passages_that_a_corpus_may_change(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    corpora = study(
        corpora={
            "notes": {"source": "documents", "path": str(tmp_path)},
            "whole": {"source": "documents", "path": str(tmp_path), "passage_words": None},
        }
    ).corpora
    words = {name: corpora[name].settings.passage_words for name in ("notes", "whole", "wikipedia_2018")}
    assert words == {"notes": 100, "whole": None, "wikipedia_2018": None}
    assert corpora["notes"].files == (str(tmp_path / "a.txt"),)


def test_a_seed_is_part_only_of_what_is_random():
    one, two = (load_study({**DEFAULT, "seed": seed}, ROOT) for seed in (1, 2))
    assert one.corpora["wikipedia_2018"] == two.corpora["wikipedia_2018"]
    assert one.corpora["mini_encyclopedia"] != two.corpora["mini_encyclopedia"]
    assert one.candidates["nq_open_contriever"] == two.candidates["nq_open_contriever"]
    assert one.candidates["nq_open_random"] != two.candidates["nq_open_random"]


def test_a_seed_changes_a_random_sample_of_questions_and_not_the_first_ones():
    examples = {
        name: {**QA, "dataset": "nq_open_20_documents", "examples": 5, "selection": name}
        for name in ("first", "random")
    }
    one, two = (
        load_study({**DEFAULT, "seed": s, "experiments": list(examples), "define": {"experiments": examples}}, ROOT)
        for s in (1, 2)
    )
    assert one.experiments["first"].example_settings() == two.experiments["first"].example_settings()
    assert one.experiments["random"].example_settings() != two.experiments["random"].example_settings()


def test_an_open_domain_experiment_has_a_cell_a_size_and_a_figure_by_size():
    made = study(["open_domain_qa"])
    cells = made.experiments["open_domain_qa"].cells
    assert [(cell.size, cell.placement) for cell in cells] == [(k, "as_retrieved") for k in (5, 10, 20, 30, 40, 50)]
    assert made.figures["open_domain_qa"].kind == "accuracy_by_size"
    assert (
        study(["x"], experiments={"x": {**OPEN, "dataset": "nq_open_as_retrieved"}}).figures["x"].kind
        == "accuracy_by_size"
    )


def test_a_users_file_may_hold_retrieved_documents_and_closed_book_questions_need_no_gold():
    mine = {"datasets": {"mine": {"path": "config/config.yaml"}}}
    assert study(["x"], **mine, experiments={"x": {**OPEN, "dataset": "mine"}}).experiments["x"].datasets[5] == "mine"
    closed = {"task": "closed_book_qa", "dataset": "nq_open_as_retrieved"}
    assert study(["x"], experiments={"x": closed}).experiments["x"].datasets == {0: "nq_open_as_retrieved"}


def test_unused_candidates_may_have_more_documents_than_their_retriever_finds():
    study(["mini_encyclopedia_closed_book"], retrievers={"bm25": {"hits": 3}})


@pytest.mark.parametrize(
    ("define", "selected", "message"),
    [
        ({"corpora": {"x": {"source": "wiki"}}}, [], "corpora.x.source: unknown name 'wiki'; allowed: documents,"),
        ({"corpora": {"x": {"source": "documents"}}}, [], "corpora.x: the source documents takes either 'dataset' or"),
        (
            {"corpora": {"x": {"source": "documents", "path": "no/such"}}},
            [],
            "corpora.x.path: no/such does not exist (searched from ",
        ),
        (
            {"corpora": {"x": {"source": "dpr_passages", "path": "config"}}},
            [],
            "corpora.x.path: ",
        ),
        (
            {"corpora": {"x": {"source": "dpr_passages", "dataset": "psgs"}}},
            [],
            "corpora.x.dataset: unknown name 'psgs' (did you mean 'psgs_w100'?)",
        ),
        (
            {"corpora": {"x": {"source": "mini_encyclopedia", "path": "config", "passages": 3}}},
            [],
            "corpora.x: the source mini_encyclopedia takes neither 'dataset' nor 'path'",
        ),
        (
            {"corpora": {"x": {"source": "mini_encyclopedia"}}},
            [],
            "corpora.x: 'passages' is missing: the number of passages to generate",
        ),
        (
            {"retrievers": {"bm25": {"pooling": "mean"}}},
            [],
            "retrievers.bm25: 'pooling' is not for 'method: bm25', only for 'method: dense'; allowed: method, hits,",
        ),
        (
            {"retrievers": {"contriever": {"k1": 1}}},
            [],
            "retrievers.contriever: 'k1' is not for 'method: dense', only for 'method: bm25'; allowed: method, hits,",
        ),
        (
            {"retrievers": {"contriever": {"probes": 7}}},
            [],
            "retrievers.contriever: 'probes' is not for 'index: exact'",
        ),
        (
            {"figures": {"f": {"kind": "accuracy_by_size", "experiments": ["mini_encyclopedia_qa"]}}},
            ["mini_encyclopedia_qa"],
            "figures.f: mini_encyclopedia_qa has positions, a figure of 'kind: accuracy_by_size' is of experiments",
        ),
        ({"retrievers": {"x": {"method": "dense"}}}, [], "retrievers.x: give either 'path' (a folder) or 'hub'"),
        (
            {"retrievers": {"x": {"method": "dense", "hub": "a/b", "pooling": "max"}}},
            [],
            "retrievers.x.pooling: 'max' is not allowed; allowed: mean, cls",
        ),
        (
            {"questions": {"x": {"corpus": "wikipedia_2018"}}},
            [],
            "questions.x.corpus: only a generated corpus has questions, the source of wikipedia_2018 is dpr_passages",
        ),
        ({"questions": {"x": {"nq_open": "nq_open_dev"}}}, [], "questions.x: give either 'corpus', 'nq_open' and"),
        ({"questions": {"x": {"dataset": "nq_open_oracle"}}}, [], "questions.x: 'questions' is missing: the number of"),
        (
            {"questions": {"x": {"dataset": "nq_open_orakel", "questions": 5}}},
            [],
            "questions.x.dataset: unknown name 'nq_open_orakel' (did you mean 'nq_open_oracle'?)",
        ),
        (
            {"candidates": {"x": {**CANDIDATES, "retriever": "bm52"}}},
            [],
            "candidates.x.retriever: unknown name 'bm52' (did you mean 'bm25'?); allowed: bm25, contriever",
        ),
        (
            {"candidates": {"x": {**CANDIDATES, "kind": "gold_and_random"}}},
            [],
            "candidates.x: gold_and_random takes no 'retriever'",
        ),
        (
            {"candidates": {"x": {k: v for k, v in CANDIDATES.items() if k != "retriever"}}},
            [],
            "candidates.x: gold_and_retrieved needs a 'retriever'",
        ),
        (
            {"candidates": {"nq_open_oracle": CANDIDATES}},
            [],
            "candidates.nq_open_oracle: datasets has an entry of that name too; rename one",
        ),
        (
            {"candidates": {"c": {**CANDIDATES, "documents": 102}}, "experiments": {"x": QA}},
            ["x"],
            "candidates.c.documents: 102 are more than the 100 'hits' of the retriever bm25",
        ),
        (
            {"candidates": {"c": CANDIDATES}, "experiments": {"x": {**QA, "positions": {6: [0]}}}},
            ["x"],
            "experiments.x: a context of 6 documents, but candidates.c.documents is 5",
        ),
        (
            {"candidates": {"c": {**CANDIDATES, "kind": "as_retrieved"}}, "experiments": {"x": QA}},
            ["x"],
            "experiments.x.dataset: c is 'kind: as_retrieved', so it lacks the gold document that positions need",
        ),
        (
            {"candidates": {"r": CANDIDATES}, "experiments": {"x": OPEN}},
            ["x"],
            "experiments.x.dataset: the task needs candidates of 'kind: as_retrieved', r has another kind",
        ),
        (
            {"experiments": {"x": {**QA, "dataset": "nq_open_20_documents", "sizes": [3, 4]}}},
            ["x"],
            "experiments.x.sizes: 4 is not in positions; choose from [3]",
        ),
        (
            {"experiments": {"x": {"task": "kv_retrieval", "positions": "nine", "examples": 1}}},
            ["x"],
            "experiments.x: 'positions: nine' needs 'sizes' (the number of items in the contexts)",
        ),
        (
            {"experiments": {"x": {"task": "multi_needle", "positions": {2: "nine"}, "examples": 1}}},
            ["x"],
            "experiments.x.positions.2: position 2 is impossible",
        ),
        (
            {"experiments": {"x": {"task": "closed_book_qa", "dataset": "nq_open_oracle", "sizes": [3]}}},
            ["x"],
            "experiments.x: the task closed_book_qa takes no 'sizes'",
        ),
        (
            {"experiments": {"x": {"task": "open_domain_qa", "dataset": "nq_open_as_retrieved"}}},
            ["x"],
            "experiments.x: 'sizes' is missing",
        ),
        (
            {"experiments": {"x": {**QA, "dataset": "nq_open_20_documents", "subset": "nq_open_oracle"}}},
            ["x"],
            "experiments.x.subset: nq_open_oracle is not a file of labels: its entry in datasets has no 'labels'",
        ),
        (
            {"experiments": {"x": {**QA, "dataset": "nq_open_20_documents", "selection": "random"}}},
            ["x"],
            "experiments.x: 'selection: random' needs 'examples', the number of questions to draw",
        ),
        (
            {"datasets": {"x": {"url": "https://a.org/x.jsonl"}}},
            [],
            "datasets.x: a remote file needs its 'sha256' or its 'git_blob'",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_the_allowed_values(define, selected, message):
    with pytest.raises(UserError) as caught:
        study(selected or ["kv_retrieval_small"], **define)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_the_config_s_number_of_questions_limits_files_and_is_that_of_generated_questions():
    own = {"few": {"examples": 2, "dataset": "nq_open_20_documents"}, "all": {"dataset": "nq_open_20_documents"}}
    define = {"experiments": {name: {**QA, **entry} for name, entry in own.items()}}
    config = {**DEFAULT, "experiments": ["few", "all", "kv_retrieval_small"], "define": define}

    def asked(**pilot) -> dict:
        return {name: one.examples for name, one in load_study({**config, **pilot}, ROOT).experiments.items()}

    assert asked() == {"few": 2, "all": None, "kv_retrieval_small": 50}
    assert asked(examples=5) == {"few": 2, "all": 5, "kv_retrieval_small": 5}
    assert asked(examples=500) == {"few": 2, "all": 500, "kv_retrieval_small": 500}


@pytest.mark.parametrize(
    ("entry", "places"),
    [
        ({"positions": {100: "nine"}}, [0, 12, 25, 37, 50, 62, 75, 87, 99]),
        ({"positions": "nine", "sizes": [500]}, [0, 62, 125, 187, 250, 312, 375, 437, 499]),
        ({"positions": "nine", "sizes": [3]}, [0, 1, 2]),
        (
            {"task": "multi_needle", "positions": {24: "nine"}},
            ["0_1_2", "3_4_5", "6_7_8", "9_10_11", "12_13_14", "15_16_17", "18_19_20", "21_22_23"],
        ),
        (
            {"task": "multi_needle", "positions": "nine", "sizes": [80]},
            ["0_1_2", *(f"{first}_{first + 1}_{first + 2}" for first in (10, 20, 30, 40, 50, 60, 70, 77))],
        ),
    ],
)
def test_nine_positions_are_those_of_the_suite_for_any_size_and_with_several_gold_items(entry, places):
    made = study(["x"], experiments={"x": {"task": "kv_retrieval", "examples": 1, **entry}})
    assert [cell.placement for cell in made.experiments["x"].cells] == [f"gold_at_{place}" for place in places]


def test_sizes_choose_among_those_that_have_positions():
    made = study(["multi_document_qa"], experiments={"multi_document_qa": {"sizes": [20]}})
    assert {cell.size for cell in made.experiments["multi_document_qa"].cells} == {20}
    assert made.experiments["multi_document_qa"].datasets == {20: "nq_open_20_documents"}


def test_numbers_in_mappings_of_the_command_line_are_numbers_and_names_are_texts():
    given = {"define": {"e": {"examples": "20", "p": {"10": ["0", "4"]}, "x": "1.5", "no": "null", "t": "010"}}}
    read = command_line_values({**given, "models": ["10"], "seed": 3})
    assert read == {"define": {"e": {"examples": 20, "p": {"10": [0, 4]}, "x": 1.5, "no": None, "t": "010"}}}


# --- Versions of the released files

RELEASED = ["multi_document_qa", "multi_document_qa_random_order", "multi_document_qa_sample", "multi_document_qa_v1"]


@pytest.mark.parametrize(("wanted", "versions"), [(None, {"v1", "v2"}), ("v2", {"v1", "v2"}), ("v1", {"v1"})])
def test_all_experiments_take_the_version_of_the_released_files_that_the_config_says(wanted, versions):
    config = {**DEFAULT, "experiments": [*RELEASED, "kv_retrieval", "closed_book_qa", "oracle_qa"]}
    made = load_study({**config, **({"data_version": wanted} if wanted else {})}, ROOT)
    taken = {
        name: {made.datasets[dataset].version for dataset in made.experiments[name].datasets.values()}
        for name in made.experiments
    }
    assert set().union(*(taken[name] for name in RELEASED)) == versions
    # No experiment has both, and one that names a version keeps it.
    assert all(len(taken[name]) == 1 for name in RELEASED) and taken["multi_document_qa_v1"] == {"v1"}
    assert taken["kv_retrieval"] == taken["oracle_qa"] == {"released"}


def test_files_of_both_versions_have_names_of_their_own_here_and_are_pinned():
    datasets = load_study(DEFAULT, ROOT).datasets
    for size in (10, 20, 30):
        v1, v2 = datasets[f"nq_open_{size}_documents_v1"], datasets[f"nq_open_{size}_documents"]
        assert v1.file != v2.file and v1.url.rsplit("/", 1)[-1] == v2.url.rsplit("/", 1)[-1] == v2.file
        assert len(v1.checksum) == 40 and len(v2.checksum) == 64
    released = [dataset.url for dataset in datasets.values() if "lost-in-the-middle" in (dataset.url or "")]
    assert len(released) == 10 and all(re.search(r"/lost-in-the-middle/[0-9a-f]{40}/", url) for url in released)


def test_an_encoder_folder_without_a_tokenizer_is_named(tmp_path):
    for path in model_files(ENCODER):
        if not path.name.startswith("tokenizer"):
            shutil.copy(path, tmp_path)
    with pytest.raises(UserError, match=r"retrievers.x.path: .* has no tokenizer: copy the encoder's there"):
        study(retrievers={"x": {"method": "dense", "path": str(tmp_path)}})


def test_more_examples_than_questions_are_taken_of_a_generated_corpus_is_an_error():
    def few(examples, **more):
        questions = {"mini_encyclopedia_questions": {"questions": 60}, **more}
        experiments = {"mini_encyclopedia_qa": {"examples": examples}}
        return study(questions=questions, experiments=experiments).questions["mini_encyclopedia_questions"].questions

    assert few(60) == 60
    with pytest.raises(UserError, match=r"mini_encyclopedia_qa.examples: 61, but mini_encyclopedia_questions has 60"):
        few(61)
    with pytest.raises(UserError, match="'questions' is only for a generated corpus"):
        few(60, other={"file": "a.csv", "corpus": "mini_encyclopedia", "questions": 3})
