"""Recorded responses: matching, messages on mismatches, and a real run."""

import csv
import gzip
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import record_makers
import yaml
from conftest import ROOT, qa_record, write_lines
from workbench import FINISHED, Workbench

from litm.base.errors import UserError
from litm.base.json_files import read_json, read_jsonl
from litm.config.study import load_study
from litm.domain.example import Example
from litm.inference.recorded_files import OWN_FIELDS, RecordedFile, read_records
from litm.inference.recorded_manifest import (
    check_any,
    missing_by_cell,
    prompt_notes,
    recorded_manifest,
    recorded_responses,
)
from litm.inference.recorded_matching import Asked, FileCount, Matching, asked_prompts, match_responses
from litm.scoring.accuracy import accuracy_table
from litm.scoring.score import Sweep, score_sweep

CELLS = ((3, "gold_at_0"), (3, "gold_at_2"))
FIELDS = {"response": "model_answer", "question": "question"}


def example(number: int, placement: str = "gold_at_0", size: int = 3) -> Example:
    position = int(placement.removeprefix("gold_at_"))
    target = {"name": "gold", "position": position, "depth": position / 2, "answers": [f"answer{number}"]}
    text = f"what is number {number}"
    prompt = f"{placement} of {size}: {text}?"
    return record_makers.example(
        id=f"id{number}", size=size, placement=placement, question=text, prompt=prompt, targets=[target]
    )


EXAMPLES = [example(number, placement) for _, placement in CELLS for number in range(3)]


def match(path: Path, fields: dict, cells=CELLS, examples=EXAMPLES) -> tuple[list[Asked], Matching]:
    asked = asked_prompts(examples, "identity", fields)
    return asked, match_responses(asked, [RecordedFile(str(path), tuple(cells))], fields)


def texts(matching: Matching) -> dict:
    return {(placement, id): recorded.text for (_, placement, id), recorded in matching.responses.items()}


def test_responses_belong_to_the_questions_of_the_cell_that_their_file_is_about(tmp_path):
    records = [{"question": f"What is  number {n}?", "model_answer": f"it is {n}"} for n in (2, 0)]
    path = write_lines(tmp_path / "a.jsonl.gz", [*records, {"question": "who", "model_answer": "x"}])
    asked, matching = match(path, FIELDS, CELLS[1:])
    assert texts(matching) == {("gold_at_2", "id2"): "it is 2", ("gold_at_2", "id0"): "it is 0"}
    assert matching.files == (FileCount(records=3, unused=1, not_compared=2),)
    assert missing_by_cell(asked, matching) == {"3/gold_at_0": ["id0", "id1", "id2"], "3/gold_at_2": ["id1"]}


def test_fields_of_a_record_tell_the_cells_of_one_file_apart(tmp_path):
    fields = {"response": "out.text", "id": "q.id", "size": "n", "position": "where"}
    records = [
        {"out": {"text": "a"}, "q": {"id": "id0"}, "n": 3, "where": 0},
        {"out": {"text": "b"}, "q": {"id": "id0"}, "n": "3", "where": [2]},
        {"out": {"text": "c"}, "q": {"id": "id0"}, "n": 5, "where": 0},
    ]
    _, matching = match(write_lines(tmp_path / "a.jsonl", records), fields)
    assert texts(matching) == {("gold_at_0", "id0"): "a", ("gold_at_2", "id0"): "b"}
    assert matching.files[0].unused == 1


def test_a_whole_prompt_needs_no_cell(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"p": EXAMPLES[4].prompt, "r": "x"}])
    _, matching = match(path, {"response": "r", "prompt": "p"})
    assert texts(matching) == {("gold_at_2", "id1"): "x"}


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv.gz", "\t")])
def test_tables_are_read_with_their_quotes_and_line_ends(tmp_path, name, delimiter):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "wt", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerows(
            [["id", "placement", "r"], ["id0", "gold_at_0", 'one, "two"\nthree\tfour'], ["id1", "gold_at_2", ""]]
        )
    fields = {"response": "r", "id": "id", "placement": "placement"}
    _, matching = match(tmp_path / name, fields)
    assert texts(matching) == {("gold_at_0", "id0"): 'one, "two"\nthree\tfour', ("gold_at_2", "id1"): ""}
    assert [where for where, _ in read_records(tmp_path / name)] == [
        f"{tmp_path / name}, line 2", f"{tmp_path / name}, line 4"
    ]  # fmt: skip


def test_the_same_response_twice_is_fine_and_two_different_ones_name_both_lines(tmp_path):
    record = {"question": "what is number 1", "model_answer": "x"}
    path = write_lines(tmp_path / "a.jsonl", [record, record])
    _, matching = match(path, FIELDS, CELLS[:1])
    assert texts(matching) == {("gold_at_0", "id1"): "x"}
    write_lines(path, [record, record | {"model_answer": "y"}])
    with pytest.raises(UserError) as caught:
        match(path, FIELDS, CELLS[:1])
    assert str(caught.value) == (
        f"{path}, line 2: another response to question id1, size 3, gold_at_0 than in {path}, line 1: leave one of them"
    )


@pytest.mark.parametrize(
    ("record", "fields", "message"),
    [
        ({"question": "q"}, FIELDS, "the field 'model_answer' (response) is missing; there are: 'question'"),
        ({"model_answer": "a"}, FIELDS, "the field 'question' (question) is missing; there are: 'model_answer'"),
        ({"question": "q", "model_answer": None}, FIELDS, "'model_answer' must be a text, found NoneType"),
        ({"question": "q", "model_answer": ["a"]}, FIELDS, "'model_answer' must be a text, found list"),
        ({"question": 7, "model_answer": "a"}, FIELDS, "'question' must be a text, found int"),
        ({"r": "a", "id": 1.5}, {"response": "r", "id": "id"}, "'id' must be a text or a whole number, found float"),
        ({"a": {"b": 1}, "id": "x"}, {"response": "a.c", "id": "id"}, "the field 'a.c' (response) is missing"),
        (
            {"r": "a", "id": "x", "why": "safety"},
            {"response": "r", "id": "id", "finish_reason": "why"},
            "'why' is 'safety', allowed: stop,",
        ),
    ],
)
def test_a_wrong_record_is_one_line_with_file_and_line(tmp_path, record, fields, message):
    path = write_lines(tmp_path / "a.jsonl", ["", record])
    with pytest.raises(UserError) as caught:
        match(path, fields, CELLS[:1])
    assert str(caught.value).startswith(f"{path}, line 2: {message}")
    assert "\n" not in str(caught.value)


def test_a_row_of_another_length_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("id,r\nid0,a,b\n")
    with pytest.raises(UserError, match="a.csv, line 2: 3 values, but the header has 2 columns"):
        match(tmp_path / "a.csv", {"response": "r", "id": "id"})


def test_questions_that_cannot_be_told_apart_are_named(tmp_path):
    twins = [example(1), replace(example(1), id="other")]
    path = write_lines(tmp_path / "a.jsonl", [{"question": "what is number 1", "model_answer": "x"}])
    with pytest.raises(UserError, match="questions id1 and other cannot be told apart by question: give 'id'"):
        match(path, FIELDS, CELLS[:1], twins)


def test_no_match_at_all_is_an_error(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"question": "who", "model_answer": "x"}])
    asked, matching = match(path, FIELDS)
    with pytest.raises(UserError, match="none of the 6 prompts has a response among the 1 records"):
        check_any(asked, matching, [RecordedFile(str(path), CELLS)])


def test_what_is_not_recorded_is_counted_and_never_scored(tmp_path):
    records = [{"question": f"what is number {n}", "model_answer": f"answer{n}"} for n in (0, 2)]
    path = write_lines(tmp_path / "a.jsonl", records)
    asked, matching = match(path, FIELDS, CELLS[:1], EXAMPLES[:3])
    responses = list(recorded_responses(asked, matching))
    assert [response.finish_reason for response in responses] == ["unknown", "not_recorded", "unknown"]
    scores = score_sweep(Sweep("m", "e", "multi_document_qa", "best_subspan_em"), EXAMPLES[:3], responses)
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["n"], row["accuracy"], row["n_not_recorded"], row["n_excluded"]) == (2, 1.0, 1, 0)
    assert pd.isna(row["n_cut"]) and scores["prompt_tokens"].isna().all()
    summary = recorded_manifest({}, asked, [RecordedFile(str(path), CELLS[:1])], matching, FIELDS)
    assert (summary["recorded"], summary["not_recorded"], summary["unused"]) == (2, 1, 0)
    assert summary["missing"] == {"3/gold_at_0": ["id1"]}


def test_responses_of_this_workflow_are_read_as_they_are_with_those_that_did_not_fit(tmp_path):
    own = {"size": 3, "placement": "gold_at_0", "finish_reason": "stop", "prompt_tokens": 9}
    path = write_lines(
        tmp_path / "a.jsonl.gz",
        [
            {**own, "id": "id0", "response": "x", "finish_reason": "length"},
            {**own, "id": "id1", "response": None, "finish_reason": "overflow"},
            {**own, "id": "id2", "response": None, "finish_reason": "not_recorded"},
        ],
    )
    asked, matching = match(path, OWN_FIELDS, CELLS, EXAMPLES[:3])
    reasons = [(one.text, one.finish_reason) for one in recorded_responses(asked, matching)]
    assert reasons == [("x", "length"), (None, "overflow"), (None, "not_recorded")]


def own_record(example: Example, **changes) -> dict:
    """A line of results/responses to an example."""
    fields = {"id": example.id, "size": example.size, "placement": example.placement, "response": "x"}
    return {**fields, "finish_reason": "stop", "prompt_sha256": example.prompt_sha256, **changes}


def test_a_response_is_for_the_prompt_that_it_was_made_for_and_others_are_counted_and_said(tmp_path):
    other = replace(EXAMPLES[0], prompt="asked with another seed").prompt_sha256
    records = [own_record(EXAMPLES[0], prompt_sha256=other, response="of another"), *map(own_record, EXAMPLES[1:])]
    path = write_lines(tmp_path / "a.jsonl", records)
    asked, matching = match(path, OWN_FIELDS)
    assert ("gold_at_0", "id0") not in texts(matching) and len(matching.responses) == 5
    (told,) = prompt_notes(matching)
    assert told.startswith("1 of the 6 recorded responses of this file were made for other prompts to the same questi")
    assert told.endswith(f"and are not used; the first is {path}, line 1")
    summary = recorded_manifest({}, asked, [RecordedFile(str(path), CELLS)], matching, OWN_FIELDS)
    assert (summary["recorded"], summary["unused"], summary["other_prompts"]) == (5, 1, 1)
    assert [one.prompt_sha256 for one in recorded_responses(asked, matching)] == [e.prompt_sha256 for e in EXAMPLES]


def test_responses_to_two_prompts_of_a_question_in_one_file_are_told_apart(tmp_path):
    records = [own_record(EXAMPLES[0]), own_record(EXAMPLES[0], prompt_sha256="0" * 64, response="of another seed")]
    _, matching = match(write_lines(tmp_path / "a.jsonl", records), OWN_FIELDS)
    assert texts(matching) == {("gold_at_0", "id0"): "x"}


def test_responses_of_which_none_was_made_for_these_prompts_are_an_error(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [own_record(one, prompt_sha256="0" * 64) for one in EXAMPLES])
    asked, matching = match(path, OWN_FIELDS)
    with pytest.raises(UserError) as caught:
        check_any(asked, matching, [RecordedFile(str(path), CELLS)])
    assert str(caught.value).startswith(f"{path}, line 1: this response was made for another prompt than its question")
    assert "6 of the 6 recorded" in str(caught.value)


def test_responses_that_do_not_say_their_prompt_are_matched_by_id_which_is_said_once(tmp_path):
    records = [own_record(EXAMPLES[0], prompt_sha256=None), *map(own_record, EXAMPLES[1:3])]
    _, matching = match(write_lines(tmp_path / "a.jsonl", records), OWN_FIELDS)
    assert len(matching.responses) == 3
    (told,) = prompt_notes(matching)
    assert told.startswith("1 recorded responses do not say which prompts they were made for (no prompt_sha256)")
    _, by_text = match(
        write_lines(tmp_path / "b.jsonl", [{"p": EXAMPLES[4].prompt, "r": "x"}]), {"response": "r", "prompt": "p"}
    )
    assert prompt_notes(by_text) == []


def test_a_digest_that_the_fields_name_must_be_there(tmp_path):
    fields = {"response": "r", "id": "id", "placement": "at", "prompt_sha256": "sum"}
    record = {"r": "x", "id": "id0", "at": "gold_at_0", "sum": EXAMPLES[0].prompt_sha256.upper()}
    _, matching = match(write_lines(tmp_path / "a.jsonl", [record]), fields)
    assert len(matching.responses) == 1 and prompt_notes(matching) == []
    del record["sum"]
    with pytest.raises(UserError, match="line 1: the field 'sum' .prompt_sha256. is missing"):
        match(write_lines(tmp_path / "a.jsonl", [record]), fields)


# --- The configuration ---


DEFAULT = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())
QA = {"task": "multi_document_qa", "dataset": "d", "positions": {3: [0, 2], 4: [1]}}


def study(folder: Path, entry: dict, **changes):
    write_lines(folder / "d.jsonl", [qa_record(0, 4)])
    define = {
        "datasets": {"d": {"path": str(folder / "d.jsonl")}, "all.jsonl": {"path": str(folder / "d.jsonl")}},
        "experiments": {"qa": QA, "cb": {"task": "closed_book_qa", "dataset": "d"}},
        "models": {"m": {"engine": "recorded", **entry}},
    }
    return load_study({**DEFAULT, "models": ["m"], "experiments": ["qa"], "define": define, **changes}, ROOT)


def test_a_path_is_filled_in_for_each_cell_and_defaults_of_models_do_not_count(tmp_path):
    for name in ("3-gold_at_0", "3-gold_at_2", "4-gold_at_1"):
        write_lines(tmp_path / f"{name}.jsonl", [])
    pattern = str(tmp_path / "{size}-{placement}.jsonl")
    entry = {"responses": {"qa": pattern}, "fields": FIELDS}
    one = study(tmp_path, entry, model_defaults={"quantization": "nf4"}, models=["reference", "m"])
    files = one.models["m"].files["qa"]
    assert [Path(file.path).name for file in files] == ["3-gold_at_0.jsonl", "3-gold_at_2.jsonl", "4-gold_at_1.jsonl"]
    assert [(cell.size, cell.placement) for file in files for cell in file.cells] == [
        (3, "gold_at_0"), (3, "gold_at_2"), (4, "gold_at_1")
    ]  # fmt: skip
    with_position = entry | {"responses": {"qa": str(tmp_path / "{size}-gold_at_{position}.jsonl")}}
    assert study(tmp_path, with_position).models["m"].files["qa"] == files


def test_a_dataset_may_be_named_and_an_experiment_without_responses_is_left_out(tmp_path):
    one = study(tmp_path, {"responses": {"qa": "all.jsonl"}}, models=["reference", "m"], experiments=["cb", "qa"])
    (file,) = one.models["m"].files["qa"]
    assert file.dataset == "all.jsonl" and len(file.cells) == 3
    assert one.sweeps == [("reference", "cb"), ("reference", "qa"), ("m", "qa")]
    assert one.not_recorded == [("m", "cb")]


@pytest.mark.parametrize(
    ("entry", "changes", "message"),
    [
        (
            {"responses": {"qa": "d"}, "dtype": "float16"},
            {},
            "models.m: 'dtype' is not for 'engine: recorded', only for",
        ),
        ({}, {}, "models.m: 'responses' is missing"),
        ({"responses": {"aq": "d"}}, {}, "models.m.responses: unknown name 'aq'"),
        ({"responses": {"qa": "no.jsonl"}}, {}, "models.m.responses.qa: no.jsonl does not exist"),
        ({"responses": {"qa": "README.md"}}, {}, "models.m.responses.qa: README.md must end in .jsonl, .csv, .tsv"),
        ({"responses": {"qa": "{depth}.jsonl"}}, {}, "models.m.responses.qa: {depth} is not known of gold_at_0; allow"),
        ({"responses": {"qa": "d"}, "fields": {"response": "r"}}, {}, "models.m.fields: 'response' and one of id,"),
        ({"responses": {"qa": "d"}, "fields": {"respnse": "r"}}, {}, "models.m.fields: unknown key 'respnse' (did you"),
        ({"responses": {"qa": "d"}, "fields": FIELDS}, {}, "models.m.responses.qa: one file for several sizes: write"),
        (
            {"responses": {"qa": "d"}, "fields": {**FIELDS, "size": "n"}},
            {},
            "models.m.responses.qa: one file for several placements: write {placement} in its path, or give",
        ),
        (
            {"responses": {"qa": "d"}, "reasoning": "off"},
            {},
            "models.m.reasoning: off is for models that are asked; al",
        ),
        ({"responses": {"cb": "d"}}, {}, "models.m.responses: no file has responses to the selected experiments (qa)"),
        (
            {"responses": {"qa": "d"}},
            {"experiments": ["qa", "cb"]},
            "experiments: none of the selected models (m) has responses to cb; add a file of them to models.m.respons",
        ),
    ],
)
def test_a_mistake_in_an_entry_is_one_line(tmp_path, monkeypatch, entry, changes, message):
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as caught:
        study(tmp_path, entry, **changes)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_keys_of_recorded_responses_are_for_no_other_engine(tmp_path):
    with pytest.raises(
        UserError, match="models.m: 'responses' is not for 'engine: transformers', only for 'engine: recorded'"
    ):
        study(tmp_path, {"engine": "transformers", "hub": "a/b", "responses": {"qa": "d"}})


def test_no_tokens_of_recorded_responses(tmp_path):
    kv = {"task": "kv_retrieval", "examples": 3, "tokens_of": "m", "depths": {500: [0, 1]}}
    entry = {"engine": "recorded", "responses": {"kv": "x.jsonl"}}
    define = {"experiments": {"kv": kv}, "models": {"m": entry}}
    with pytest.raises(UserError, match="experiments.kv.tokens_of: m has recorded responses and no tokenizer"):
        load_study({**DEFAULT, "experiments": ["kv"], "define": define}, ROOT)


# --- A real run ---


def recorded_config() -> dict:
    config = deepcopy(FINISHED)
    config["models"].append("old")
    config["define"]["models"] = {
        "old": {
            "engine": "recorded",
            "responses": {"qa": "preds/qa-{size}-{placement}.jsonl.gz", "kv": "preds/kv.tsv"},
            "fields": {"response": "model_answer", "question": "question", "size": "n", "position": "gold"},
        }
    }
    return config


@pytest.fixture(scope="module")
def finished(finished_project, tmp_path_factory) -> Workbench:
    """A workbench with responses to questions 0 to 2 of 4 recorded, all right at the first position and wrong later."""
    bench = finished_project.moved_to(tmp_path_factory.mktemp("recorded"))
    bench.path("preds").mkdir()
    for position in (0, 2):
        answers = [f"It is answer{n}." if position == 0 else "No idea" for n in range(3)]
        records = [
            {"question": f"what is number {n}", "model_answer": answer, "n": 3, "gold": position}
            for n, answer in enumerate(answers)
        ]
        write_lines(bench.path(f"preds/qa-3-gold_at_{position}.jsonl.gz"), records)
    rows = [["question", "n", "gold", "model_answer"]]
    for size, position in ((4, 0), (4, 3), (6, 0), (6, 5)):
        for _, one in read_jsonl(bench.path(f"results/examples/kv/{size}/gold_at_{position}.jsonl.gz")):
            rows.append([one["question"], size, position, one["targets"][0]["answers"][0]])
    with bench.path("preds/kv.tsv").open("w", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([*rows, ["another key", 4, 0, "x"]])
    bench.configure(recorded_config())
    bench.run()
    return bench


def test_recorded_responses_are_scored_and_drawn_beside_a_model(finished):
    accuracy = pd.read_csv(finished.path("results/tables/accuracy.csv")).query("model == 'old'")
    assert list(accuracy["experiment"]) == ["kv"] * 4 + ["qa"] * 2
    qa = accuracy.query("experiment == 'qa'")
    assert list(qa["n"]) == [3, 3] and list(qa["accuracy"]) == [1, 0] and list(qa["n_not_recorded"]) == [1, 1]
    assert accuracy.query("experiment == 'kv'")["accuracy"].eq(1).all() and accuracy["n_cut"].isna().all()
    differences = pd.read_csv(finished.path("results/tables/model_differences.csv"))
    assert set(differences["experiment"]) == {"kv", "qa"} and differences.query("experiment == 'qa'")["n"].eq(3).all()
    bias = pd.read_csv(finished.path("results/tables/position_bias.csv")).query("model == 'old' and experiment == 'qa'")
    assert (bias["n_complete"].item(), bias["n_incomplete"].item()) == (3, 1)
    report = finished.path("results/report.html").read_text()
    assert "recorded responses (2 hashed files)" in report and "recorded responses (1 hashed file)" in report


def test_what_is_missing_and_what_is_unused_is_in_the_manifest(finished):
    qa = read_json(finished.path("results/responses/old/qa.manifest.json"))
    assert (qa["recorded"], qa["not_recorded"], qa["unused"]) == (6, 2, 0)
    assert list(qa["missing"]) == ["3/gold_at_0", "3/gold_at_2"]
    assert str(finished.folder) not in finished.path("results/responses/old/qa.manifest.json").read_text()
    assert read_json(finished.path("results/responses/old/kv.manifest.json"))["unused"] == 1


def test_an_experiment_that_is_not_recorded_is_left_out_and_said(finished):
    assert not finished.path("results/responses/old/closed_book.jsonl.gz").exists()
    done = finished.snakemake("--dry-run")
    assert done.stderr.count("no recorded responses, left out: old/closed_book") == 1


def test_both_models_are_in_the_figures(finished, tmp_path):
    bench = finished.moved_to(tmp_path / "moved")
    bench.configure(recorded_config() | {"models": ["dummy"]})
    assert bench.plan()["plot_figure"] == 6


def test_no_tokens_are_counted_and_nothing_runs_again(finished):
    assert set(pd.read_csv(finished.path("results/tables/token_counts.csv"))["model"]) == {"reference"}
    assert not finished.path("results/token_counts/old").exists()
    assert finished.plan() == {}


def test_other_responses_import_and_score_that_sweep_alone(finished, tmp_path):
    bench = finished.moved_to(tmp_path / "moved")
    write_lines(
        bench.path("preds/qa-3-gold_at_2.jsonl.gz"),
        [{"question": "what is number 0", "model_answer": "answer0", "n": 3, "gold": 2}],
    )
    plan = bench.plan()
    assert (plan["import_responses"], plan["score"]) == (1, 1) and "generate" not in plan


def test_without_any_model_there_is_no_table_of_tokens(finished, tmp_path):
    bench = finished.moved_to(tmp_path / "moved")
    bench.configure(recorded_config() | {"models": ["old"], "experiments": ["kv", "qa"]})
    bench.path("results/tables/token_counts.csv").unlink()
    bench.run("--", "all", "suite_zip")
    assert not bench.path("results/tables/token_counts.csv").exists()
    assert "Prompt tokens" not in bench.path("results/report.html").read_text()
    assert bench.path("results/suite_export/old.zip").exists()
