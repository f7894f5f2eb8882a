"""The suite's own layout of results, written by the program from hand-made examples, responses and scores."""

import json
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
import record_makers
from conftest import write_lines
from programs import load_program

from litm.base.csv_files import write_csv
from litm.base.errors import UserError
from litm.base.json_files import read_jsonl
from litm.domain.curve import Curve
from litm.domain.example import Example, write_examples
from litm.domain.response import SweepResponse, write_responses
from litm.report.suite.export import CurveFiles, curve_figure
from litm.report.suite.names import export_names, nominal_depth
from litm.scoring.accuracy import accuracy_table
from litm.scoring.score import Sweep, score_sweep

export_suite = load_program("export_suite")

IDS = ["b", "a", "c"]


def example(id: str, size: int, positions: Sequence[int]) -> Example:
    names = ["start", "middle", "end"] if len(positions) > 1 else ["gold"]
    targets = [
        {"name": name, "position": position, "depth": position / (size - 1), "answers": [f"{id}-{name}"]}
        for name, position in zip(names, positions, strict=True)
    ]
    if id == "c":
        targets[0]["answers"].append("another")
    placement = "gold_at_" + "_".join(map(str, positions))
    return record_makers.example(id=id, size=size, placement=placement, question=f"Which is {id}?", targets=targets)


def response(example: Example, overflow: bool) -> SweepResponse:
    """Right for all but question b and the middle of several; no answer to a prompt that does not fit."""
    answers = [t.answers[0] for t in example.targets if example.id != "b" and t.name != "middle"]
    text, reason = (None, "overflow") if overflow else (" ".join(answers) + "\n", "stop")
    return record_makers.response(
        id=example.id, size=example.size, placement=example.placement, response=text, finish_reason=reason
    )


class Results:
    """Files as the workflow makes them, and the exports of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.curves: list[dict] = []
        self.summaries = folder / "summaries"
        self.summaries.mkdir()
        (self.summaries / "master_summary.json").write_text('{"model": "m"}')
        # Snakemake leaves it in a folder that a rule makes.
        (self.summaries / ".snakemake_timestamp").touch()

    def add(self, experiment: str, cells: dict[int, list[list[int]]], too_long: Sequence[tuple] = ()) -> None:
        """An experiment with a curve for each size.

        cells: the positions of the gold items by size; too_long: (size, placement, id) of prompts that do not fit.
        """
        examples: dict[str, list[Example]] = {}
        for size, placements in cells.items():
            files = []
            for positions in placements:
                records = [example(id, size, positions) for id in IDS]
                path = self.folder / experiment / str(size) / f"{records[0].placement}.jsonl.gz"
                path.parent.mkdir(parents=True, exist_ok=True)
                write_examples(path, records)
                files.append(str(path))
                examples[files[-1]] = records
            several = len(placements[0]) > 1
            name = f"{experiment}_{size}" if len(cells) > 1 else experiment
            (self.summaries / name).mkdir()
            (self.summaries / name / "summary.json").write_text(
                json.dumps({"experiment": name, "items": size, "n": len(IDS)})
            )
            self.curves.append(
                {
                    **{"name": name, "experiment": experiment, "size": size, "title": "A title"},
                    **{"placement": records[0].placement if several else None, "panel_title": "{size} items"},
                    **{"examples": files, "scores": str(self.folder / f"{experiment}.parquet")},
                    "responses": str(self.folder / f"{experiment}.jsonl.gz"),
                }
            )
        everything = [record for records in examples.values() for record in records]
        responses = [response(e, e.name in too_long) for e in everything]
        write_responses(self.folder / f"{experiment}.jsonl.gz", responses[::-1])
        sweep = Sweep("m", experiment, "t", "value_in_answer")
        score_sweep(sweep, everything, responses).to_parquet(self.folder / f"{experiment}.parquet", index=False)

    def export(self, output: str = "out") -> Path:
        """Run the program; returns its output folder, next to the zip file."""
        scores = {curve["scores"]: pd.read_parquet(curve["scores"]) for curve in self.curves}
        write_csv(self.folder / "accuracy.csv", pd.concat(map(accuracy_table, scores.values())))
        argv = ["--model", "m", "--curves", json.dumps(self.curves), "--summaries", str(self.summaries)]
        argv += ["--accuracy", str(self.folder / "accuracy.csv"), "--output", str(self.folder / output)]
        argv += ["--zip", str(self.folder / f"{output}.zip")]
        self.monkeypatch.setattr(sys, "argv", ["export_suite.py", *argv])
        export_suite.main()
        return self.folder / output


@pytest.fixture
def results(tmp_path, monkeypatch) -> Results:
    return Results(tmp_path, monkeypatch)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read_predictions(folder: Path, position: int) -> list[dict]:
    return [record for _, record in read_jsonl(folder / f"{folder.name}_pos_{position}.jsonl")]


def test_a_folder_a_curve_has_data_predictions_summary_and_figure(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    results.add("needles", {9: [[0, 4, 8]]})
    files = files_in(results.export())
    assert sorted(files) == [
        "kv_5/kv_5_curve.png",
        "kv_5/kv_5_data.jsonl",
        *(f"kv_5/kv_5_pos_{position}.jsonl" for position in (0, 4)),
        "kv_5/kv_5_summary.json",
        "kv_9/kv_9_curve.png",
        "kv_9/kv_9_data.jsonl",
        *(f"kv_9/kv_9_pos_{position}.jsonl" for position in (0, 8)),
        "kv_9/kv_9_summary.json",
        "master_summary.json",
        "needles/needles_bar.png",
        "needles/needles_data.jsonl",
        *(f"needles/needles_pos_{position}.jsonl" for position in (0, 4, 8)),
        "needles/needles_summary.json",
    ]
    assert files["master_summary.json"] == (results.summaries / "master_summary.json").read_bytes()
    examples = [
        record
        for placement in ("gold_at_0", "gold_at_4")
        for _, record in read_jsonl(results.folder / "kv" / "5" / f"{placement}.jsonl.gz")
    ]
    assert [json.loads(line) for line in files["kv_5/kv_5_data.jsonl"].splitlines()] == examples
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if name.endswith(".png"))


def test_the_experiments_of_the_suite_have_its_own_names(results):
    nine = {size: [*([size * eighth // 8] for eighth in range(8)), [size - 1]] for size in (100, 200, 500)}
    results.add("suite_kv_retrieval", {size: nine[size] for size in (100, 200)})
    results.add("suite_needle_in_haystack", {500: nine[500]})
    results.add("suite_multi_needle", {300: [[0, 150, 299]]})
    depths = ("0.0", "0.125", "0.25", "0.375", "0.5", "0.625", "0.75", "0.875", "1.0")
    assert sorted(files_in(results.export())) == sorted(
        [
            "master_summary.json",
            *(f"exp1a_kv100/kv100_{end}" for end in ("data.jsonl", "summary.json", "curve.png")),
            *(f"exp1a_kv100/kv100_pos_{position}.jsonl" for position in (0, 12, 25, 37, 50, 62, 75, 87, 99)),
            *(f"exp1b_kv200/kv200_{end}" for end in ("data.jsonl", "summary.json", "curve.png")),
            *(f"exp1b_kv200/kv200_pos_{position}.jsonl" for position in (0, 25, 50, 75, 100, 125, 150, 175, 199)),
            *(f"exp2_needle/needle_{end}" for end in ("data.jsonl", "summary.json", "curve.png")),
            *(f"exp2_needle/needle_depth_{depth}.jsonl" for depth in depths),
            *(f"exp3_multi_needle/multi_{end}" for end in ("data.jsonl", "summary.json", "bar.png")),
            *(f"exp3_multi_needle/multi_pos_{position}.jsonl" for position in (0, 150, 299)),
        ]
    )


def test_the_experiments_in_the_original_wording_have_names_of_their_own_next_to_the_suite(results):
    results.add("suite_needle_in_haystack_original", {500: [[0], [62], [499]]})
    results.add("suite_multi_needle_original", {300: [[0, 150, 299]]})
    files = set(files_in(results.export()))
    assert "exp2_needle_original/needle_original_depth_0.125.jsonl" in files
    assert "exp3_multi_needle_original/multi_original_bar.png" in files


def test_one_size_of_key_value_retrieval_alone_has_the_same_name(results):
    results.add("suite_kv_retrieval", {100: [[0], [99]]})
    files = files_in(results.export())
    assert {name.split("/")[0] for name in files} == {"exp1a_kv100", "master_summary.json"}
    summary = json.loads(files["exp1a_kv100/kv100_summary.json"])
    assert (summary["num_keys"], summary["num_examples"]) == (100, len(IDS))


@pytest.mark.parametrize(("position", "items", "depth"), [(0, 5, 0.0), (4, 5, 1.0), (62, 500, 0.125), (10, 101, 0.1)])
def test_a_depth_is_the_eighth_that_a_position_stands_for_or_else_its_own(position, items, depth):
    assert nominal_depth(position, items) == depth


def test_a_size_in_tokens_has_depths_of_its_items():
    curve = Curve("suite_needle_in_haystack_1000", "suite_needle_in_haystack", 1000, None)
    assert export_names(curve).predictions(12, 25) == "needle_1000_depth_0.5.jsonl"


def test_predictions_are_in_the_order_of_the_questions_and_count_the_same_ones_at_every_position(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [4]]}, too_long=[(9, "gold_at_4", "a")])
    folder = results.export()
    at_start, at_end = (read_predictions(folder / "kv_9", position) for position in (0, 4))
    assert at_start == [
        {
            **{"id": id, "question": f"Which is {id}?", "model_answer": answer, "correct": correct, "value": value},
            **{"gold_position": 0, "finish_reason": "stop"},
        }
        for id, answer, correct, value in (
            ("b", "\n", 0.0, "b-gold"),
            # Too long at the end: what was answered here is shown, and counts nowhere.
            ("a", "a-gold\n", None, "a-gold"),
            ("c", "c-gold\n", 1.0, ["c-gold", "another"]),
        )
    ]
    changes = {"model_answer": None, "finish_reason": "overflow"}
    assert at_end[1] == at_start[1] | {"gold_position": 4} | changes
    assert [record["correct"] for record in at_end] == [False, None, True]
    at_another_size = read_predictions(folder / "kv_5", 4)
    assert [record["correct"] for record in at_another_size] == [False, True, True]
    assert all(record["model_answer"] for record in at_another_size)


def test_each_of_several_gold_items_has_predictions_of_its_own(results):
    results.add("needles", {9: [[0, 4, 8]]})
    folder = results.export() / "needles"
    rows = {position: read_predictions(folder, position) for position in (0, 4, 8)}
    assert [[row["id"] for row in records] for records in rows.values()] == [IDS] * 3
    assert [(row["target"], row["gold_position"], row["value"]) for _, row, _ in rows.values()] == [
        ("start", 0, "a-start"), ("middle", 4, "a-middle"), ("end", 8, "a-end")
    ]  # fmt: skip
    assert {row["model_answer"] for _, row, _ in rows.values()} == {"a-start a-end\n"}
    assert [[row["correct"] for row in records] for records in rows.values()] == [
        [False, True, True], [False, False, False], [False, True, True]
    ]  # fmt: skip


def test_a_placement_of_several_gold_items_is_exported_without_the_others(results):
    results.add("needles", {9: [[0, 4, 8], [3, 4, 5]]})
    (both,) = results.curves
    results.curves = [both | {"name": "needles", "examples": both["examples"][1:], "placement": "gold_at_3_4_5"}]
    files = files_in(results.export() / "needles")
    assert [name for name in sorted(files) if "_pos_" in name] == [f"needles_pos_{p}.jsonl" for p in (3, 4, 5)]
    assert len(files["needles_pos_4.jsonl"].splitlines()) == len(IDS)


def test_where_no_question_fits_every_answer_and_verdict_is_null(results):
    everything = [(9, f"gold_at_{place}", id) for place in ("0", "4", "8", "0_4_8") for id in IDS]
    results.add("kv", {9: [[0], [4], [8]]}, too_long=everything)
    results.add("needles", {9: [[0, 4, 8]]}, too_long=everything)
    folder = results.export()
    for name in ("kv", "needles"):
        for position in (0, 4, 8):
            records = read_predictions(folder / name, position)
            assert [(r["id"], r["model_answer"], r["correct"]) for r in records] == [(id, None, None) for id in IDS]
        assert next((folder / name).glob("*.png")).stat().st_size > 1000
    assert not any(b"NaN" in data for name, data in files_in(folder).items() if name.endswith((".json", ".jsonl")))


def test_the_figure_shows_the_curve_alone(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    results.add("needles", {9: [[0, 4, 8]]})
    for entry, ticks in zip(results.curves, (["1st", "5th"], ["1st", "9th"], ["1st", "5th", "9th"]), strict=True):
        curve = CurveFiles(**entry)
        rows = accuracy_table(pd.read_parquet(curve.scores))
        (panel,) = curve_figure(curve, rows[rows["size"] == curve.size]).axes
        assert panel.get_title() == f"{curve.size} items"
        labels = [label.get_text() for label in panel.get_xticklabels()]
        assert [label.split("\n")[-1] for label in labels] == ticks
        assert len(labels[0].split("\n")) == (2 if curve.placement else 1)


def test_equal_results_give_an_equal_zip_at_any_time_and_with_any_permissions(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    results.export()
    for path in [*(results.folder / "kv").rglob("*.gz"), results.summaries / "kv_5" / "summary.json"]:
        os.utime(path, (10**9, 10**9))
    umask = os.umask(0o077)
    try:
        folder = results.export(output="elsewhere")
    finally:
        os.umask(umask)
    assert (results.folder / "out.zip").read_bytes() == (results.folder / "elsewhere.zip").read_bytes()
    with zipfile.ZipFile(results.folder / "out.zip") as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {
            f"m/{name}": data for name, data in files_in(folder).items()
        }
        assert packed.namelist() == sorted(packed.namelist())
        assert {(info.date_time, info.external_attr >> 16) for info in packed.infolist()} == {
            ((1980, 1, 1, 0, 0, 0), 0o100644)
        }


def test_an_export_replaces_the_one_before_as_a_whole(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    first = files_in(results.export())
    (results.folder / "out" / "kv_5" / "stale").touch()
    results.curves = results.curves[1:]
    second = files_in(results.export())
    assert second == {name: data for name, data in first.items() if not name.startswith("kv_5/")}


def test_a_failure_leaves_the_export_before_and_no_half_of_another(results):
    results.add("kv", {9: [[0], [8]]})
    before = files_in(results.export())
    there = sorted(results.folder.iterdir())
    responses = [record for _, record in read_jsonl(results.folder / "kv.jsonl.gz")]
    lost = next(r for r in responses if r["id"] == "a" and r["placement"] == "gold_at_8")
    write_lines(results.folder / "kv.jsonl.gz", [r for r in responses if r is not lost])
    with pytest.raises(UserError, match="no response to question a, size 9, gold_at_8: run generate again"):
        results.export()
    assert files_in(results.folder / "out") == before and sorted(results.folder.iterdir()) == there
    write_lines(results.folder / "kv.jsonl.gz", responses)
    scores = pd.read_parquet(results.folder / "kv.parquet")
    scores[scores["id"] != "c"].to_parquet(results.folder / "kv.parquet", index=False)
    with pytest.raises(UserError, match="no score of question c, size 9, gold_at_0: run score again"):
        results.export()
