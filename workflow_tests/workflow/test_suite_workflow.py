"""The suite, run for real: sizes in tokens, several needles, export, and the effect of edits."""

import zipfile
from copy import deepcopy

import pandas as pd
import pytest
import yaml
from plans import of, plan_in
from reruns import changes, check, with_keys
from workbench import CONFIG, Workbench

from litm.base.json_files import read_json, read_jsonl

SUITE = deepcopy(CONFIG)
SUITE["models"] = ["reference"]
SUITE["experiments"] = ["needle", "needles", "talk", "qa", "closed_book", "oracle"]
SUITE["define"]["experiments"] |= yaml.safe_load("""
needle: {task: needle_in_haystack, tokens_of: reference, depths: {500: [0, 0.5, 1]}, examples: 3, max_new_tokens: 10}
needles: {task: multi_needle, positions: {6: [[0, 1, 2], [0, 2, 5]]}, examples: 3, max_new_tokens: 10}
talk: {task: conversation_memory, positions: {3: [0, 1, 2], 5: [0, 4]}, examples: 2, max_new_tokens: 10}
oracle: {task: oracle_qa, dataset: questions, max_new_tokens: 10}
""")
SUITE["define"]["experiments"]["qa"] |= {"closed_book": "closed_book", "oracle": "oracle"}


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory) -> Workbench:
    """A workbench in which all has been made and exported once."""
    bench = new_project.moved_to(tmp_path_factory.mktemp("suite"))
    bench.configure(SUITE)
    bench.run("--", "all", "suite_export", "suite_zip")
    return bench


def table(bench: Workbench, name: str) -> pd.DataFrame:
    return pd.read_csv(bench.path(f"results/tables/{name}.csv"))


def test_a_length_in_tokens_is_used_up_and_the_gold_item_is_at_its_depth(finished):
    tokens = table(finished, "token_counts").query("experiment == 'needle'")
    assert tokens["size"].eq(500).all()
    assert tokens["tokens_max"].between(420, 500).all()
    items = read_json(finished.path("results/sizes/needle/500.json"))["items"]
    cells = table(finished, "accuracy").query("experiment == 'needle'")
    assert list(cells["placement"]) == ["gold_at_depth_0", "gold_at_depth_0.5", "gold_at_depth_1"]
    assert list(cells["position"]) == [0, round(0.5 * (items - 1)), items - 1]


def test_the_first_and_last_token_of_every_gold_item_are_stored(finished):
    rows = pd.read_parquet(finished.path("results/token_positions/reference/needles.parquet"))
    assert len(rows) == 2 * 3 * 3
    assert (rows["first_token"] <= rows["last_token"]).all() and (rows["last_token"] < rows["prompt_tokens"]).all()
    first = rows.groupby(["placement", "target"])["first_token"].mean().unstack()
    assert (first["start"] < first["middle"]).all() and (first["middle"] < first["end"]).all()


def test_the_export_has_one_folder_per_curve_and_the_zip_has_no_files_of_snakemake(finished):
    folder = finished.path("results/suite_export/reference")
    made = ("curve.png", "data.jsonl", "pos_0.jsonl", "pos_1.jsonl", "pos_2.jsonl", "summary.json")
    assert {path.name for path in (folder / "talk_3").iterdir()} == {f"talk_3_{name}" for name in made}
    lines = [record for _, record in read_jsonl(folder / "needles_gold_at_0_2_5" / "needles_gold_at_0_2_5_pos_5.jsonl")]
    assert len(lines) == 3 and {line["target"] for line in lines} == {"end"}
    assert {"model_answer", "correct", "value", "gold_position"} <= set(lines[0])
    with zipfile.ZipFile(finished.path("results/suite_export/reference.zip")) as packed:
        names = packed.namelist()
    assert "reference/talk_3/talk_3_data.jsonl" in names and not any("/." in name for name in names)


def test_two_depths_at_the_same_position_are_refused_before_anything_is_asked(bench):
    bench.configure(with_keys(SUITE, {"define.experiments.needle.depths": {400: [0, 0.5, 0.51, 1]}}))
    said = bench.refusal("--", "results/responses/reference/needle.jsonl.gz")
    assert "error: gold_at_depth_0.5 and gold_at_depth_0.51 are the same position of" in said


def test_an_export_of_nothing_with_positions_is_refused(finished):
    inputs = plan_in(finished.folder, "config", **{**SUITE, "experiments": ["closed_book"]})
    said = "error: no selected experiment has positions, so there is nothing to export"
    with pytest.raises(SystemExit, match=f"^{said}$"):
        inputs.exports.exports()(of())


def test_nothing_runs_again(finished):
    assert finished.plan("--", "all", "suite_export", "suite_zip") == {}


@changes("suite")
def test_a_change_runs_what_the_page_says(bench, row):
    check(bench, SUITE, row)
