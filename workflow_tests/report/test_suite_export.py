"""The suite's own layout of results, written by the program from hand-made examples, responses and scores."""

import json
import os
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pytest
import record_makers
from conftest import write_lines
from matplotlib.text import Text
from programs import run_program
from score_frames import accuracy_table

from litm.base.json_files import read_jsonl
from litm.base.table_files import write_csv
from litm.records.cells import Curve
from litm.records.examples import Example, write_examples
from litm.records.responses import SweepResponse, write_responses
from litm.report.suite import RED, CurveFiles, curve_figure, export_names, nominal_depth
from litm.report.summaries import master_summary, write_summary
from litm.scoring.scores import Sweep, score_sweep

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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.curves: list[dict] = []
        self.summaries = folder / "summaries"
        self.summaries.mkdir()
        # Snakemake leaves it in a folder that a rule makes.
        (self.summaries / ".snakemake_timestamp").touch()

    def add(self, experiment: str, cells: dict[int, list[list[int]]], too_long: Sequence[tuple] = ()) -> None:
        """An experiment with a curve for each size.

        cells: the positions of the gold items by size; too_long: (size, placement, id) of prompts that do not fit.
        """
        place, every = self.folder / experiment, []
        for size, placements in cells.items():
            made = [[example(id, size, positions) for id in IDS] for positions in placements]
            files = [place / str(size) / f"{records[0].placement}.jsonl.gz" for records in made]
            files[0].parent.mkdir(parents=True)
            for file, records in zip(files, made, strict=True):
                write_examples(file, records)
                every += records
            curve = {
                "name": f"{experiment}_{size}" if len(cells) > 1 else experiment, "experiment": experiment,
                "size": size, "placement": records[0].placement if len(placements[0]) > 1 else None,
                "title": "A title", "item": "sentence", "panel_title": "{size} sentences",
                "examples": [*map(str, files)], "scores": f"{place}.parquet", "responses": f"{place}.jsonl.gz",
            }  # fmt: skip
            self.curves.append(curve)
        responses = [response(e, e.name in too_long) for e in every]
        write_responses(f"{place}.jsonl.gz", responses[::-1])
        sweep = Sweep("m", experiment, "t", "value_in_answer")
        score_sweep(sweep, every, responses).to_parquet(f"{place}.parquet", index=False)

    def export(self, output: str = "out") -> Path:
        """Run the program; returns its output folder, next to the zip file. Its error is one of this function."""
        told = [
            {"experiment": curve["name"], "task": "the_task", "size": curve["size"], "items": curve["size"]}
            | {"n": len(IDS), "verdict": "measured", "pbi_class": "weak"}
            for curve in self.curves
        ]
        write_summary(self.summaries / "master_summary.json", master_summary("m", told))
        scores = [pd.read_parquet(path) for path in dict.fromkeys(curve["scores"] for curve in self.curves)]
        write_csv(self.folder / "accuracy.csv", pd.concat(map(accuracy_table, scores)))
        argv = ["--model", "m", "--curves", json.dumps(self.curves), "--summaries", self.summaries]
        argv += ["--accuracy", self.folder / "accuracy.csv", "--output", self.folder / output]
        done = run_program("export_suite", *argv, "--zip", self.folder / f"{output}.zip")
        assert done.returncode == 0, done.stderr
        return self.folder / output


@pytest.fixture
def results(tmp_path) -> Results:
    return Results(tmp_path)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def layout(folder: str, stem: str, figure: str, places: Iterable[str]) -> set[str]:
    """The files of a curve."""
    ends = ["data.jsonl", "summary.json", f"{figure}.png", *(f"{place}.jsonl" for place in places)]
    return {f"{folder}/{stem}_{end}" for end in ends}


def read_predictions(folder: Path, position: int) -> list[dict]:
    return [record for _, record in read_jsonl(folder / f"{folder.name}_pos_{position}.jsonl")]


def test_a_folder_a_curve_has_data_predictions_summary_and_figure(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    results.add("needles", {9: [[0, 4, 8]]})
    files = files_in(results.export())
    wanted = {"master_summary.json"}
    for name, figure, positions in (
        ("kv_5", "curve", (0, 4)),
        ("kv_9", "curve", (0, 8)),
        ("needles", "bar", (0, 4, 8)),
    ):
        wanted |= layout(name, name, figure, [f"pos_{position}" for position in positions])
    assert files.keys() == wanted
    master = json.loads(files["master_summary.json"])
    assert list(master["experiments"]) == master["pbi_classes"]["weak"] == ["kv_5", "kv_9", "needles"]
    summary = master["experiments"]["kv_9"]
    assert summary == json.loads(files["kv_9/kv_9_summary.json"])
    assert (summary["experiment"], summary["num_examples"]) == ("kv_9", 3)
    examples = [
        record for place in (0, 4) for _, record in read_jsonl(results.folder / f"kv/5/gold_at_{place}.jsonl.gz")
    ]
    assert [json.loads(line) for line in files["kv_5/kv_5_data.jsonl"].splitlines()] == examples
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if name.endswith(".png"))


#: Folder, stem and figure of each curve of the suite, as sections 5.4, 6.4, 7.1 and 8 of its description name them.
SUITE_NAMES = {
    ("suite_kv_retrieval", 100): ("exp1a_kv100", "kv100", "curve"),
    ("suite_kv_retrieval", 200): ("exp1b_kv200", "kv200", "curve"),
    ("suite_needle_in_haystack", 500): ("exp2_needle", "needle", "curve"),
    ("suite_multi_needle", 300): ("exp3_multi", "multi", "bar"),
    ("suite_fact_reasoning", 300): ("exp4_reason", "reason", "curve"),
    ("suite_semantic_distractors", 80): ("exp5_semantic", "semantic", "curve"),
    ("suite_temporal_narrative", 100): ("exp6_narrative", "narrative", "curve"),
    ("suite_conversation_memory", 50): ("exp7_conversation", "conversation", "curve"),
}


@pytest.mark.parametrize(("experiment", "size"), SUITE_NAMES)
def test_the_experiments_of_the_suite_have_its_own_names_and_depths_in_eighths(experiment, size):
    folder, stem, figure = SUITE_NAMES[experiment, size]
    names = export_names(Curve(experiment, experiment, size, "gold_at_0_150_299" if figure == "bar" else None))
    assert (names.folder, names.stem, names.figure) == (folder, stem, figure)
    for eighth in range(9):
        position = size - 1 if eighth == 8 else size * eighth // 8
        place = f"pos_{position}" if stem.startswith("kv") else f"depth_{eighth / 8}"
        assert names.predictions(position, size) == f"{stem}_{place}.jsonl"


def test_experiments_of_the_suite_are_exported_under_its_own_names(results):
    results.add("suite_kv_retrieval", {100: [[0], [99]], 200: [[0], [199]]})
    results.add("suite_multi_needle", {300: [[0, 150, 299]]})
    # Three decimals do not tell the second from the third.
    results.add("suite_semantic_distractors", {256: [[0], [223], [224], [253]]})
    files = files_in(results.export())
    wanted = {"master_summary.json"} | layout("exp3_multi", "multi", "bar", ["depth_0.0", "depth_0.5", "depth_1.0"])
    wanted |= layout("exp1a_kv100", "kv100", "curve", ["pos_0", "pos_99"])
    depths = ["depth_0.0", "depth_0.8745", "depth_0.875", "depth_0.992"]
    wanted |= layout("exp5_semantic", "semantic", "curve", depths)
    assert files.keys() == wanted | layout("exp1b_kv200", "kv200", "curve", ["pos_0", "pos_199"])
    master = json.loads(files["master_summary.json"])["experiments"]
    assert [*master] == ["kv100", "kv200", "multi", "semantic"] and {one["experiment"] for one in master.values()} == {
        "the_task"
    }
    assert json.loads(files["exp1a_kv100/kv100_summary.json"]) == master["kv100"]
    assert (master["kv100"]["num_keys"], master["kv100"]["num_examples"]) == (100, len(IDS))


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
    rest = {"gold_position": 0, "finish_reason": "stop"}
    assert at_start == [
        {"id": id, "question": f"Which is {id}?", "model_answer": answer, "correct": correct, "value": value, **rest}
        for id, answer, correct, value in (
            ("b", "\n", 0.0, "b-gold"),
            # Too long at the end: what was answered here is shown, and counts nowhere.
            ("a", "a-gold\n", None, "a-gold"),
            ("c", "c-gold\n", 1.0, ["c-gold", "another"]),
        )
    ]
    assert at_end[1] == at_start[1] | {"gold_position": 4, "model_answer": None, "finish_reason": "overflow"}
    assert [record["correct"] for record in at_end] == [False, None, True]
    at_another_size = read_predictions(folder / "kv_5", 4)
    assert [record["correct"] for record in at_another_size] == [False, True, True]
    assert all(record["model_answer"] for record in at_another_size)


def test_each_of_several_gold_items_has_predictions_of_its_own(results):
    results.add("needles", {9: [[0, 4, 8]]})
    folder = results.export() / "needles"
    rows = [read_predictions(folder, position) for position in (0, 4, 8)]
    assert [[row["id"] for row in records] for records in rows] == [IDS] * 3
    assert [(row["target"], row["gold_position"], row["value"]) for _, row, _ in rows] == [
        ("start", 0, "a-start"), ("middle", 4, "a-middle"), ("end", 8, "a-end")
    ]  # fmt: skip
    assert {row["model_answer"] for _, row, _ in rows} == {"a-start a-end\n"}
    right = [False, True, True]
    assert [[row["correct"] for row in records] for records in rows] == [right, [False] * 3, right]


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


def test_the_figure_shows_the_curve_alone_with_its_noun_at_normalised_positions_in_red(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [1], [8]]})
    results.add("needles", {9: [[0, 4, 8]]})
    ticks = (["0", "1"], ["0", "0.125", "1"], ["start\n1st", "middle\n5th", "end\n9th"])
    for entry, labels in zip(results.curves, ticks, strict=True):
        curve = CurveFiles(**entry)
        rows = accuracy_table(pd.read_parquet(curve.scores))
        drawn = curve_figure(curve, rows[rows["size"] == curve.size])
        (panel,) = drawn.axes
        texts = [text.get_text() for text in drawn.findobj(Text)]
        assert not [text for text in texts if "{" in text or "}" in text]
        assert panel.get_title() == f"{curve.size} sentences" and "A title" in texts
        assert [label.get_text() for label in panel.get_xticklabels()] == labels
        if curve.placement is None:
            assert panel.get_xlabel() == "Normalised position of the sentence with the answer"
            assert {line.get_color() for line in panel.get_lines()} == {RED}
        else:
            assert panel.get_xlabel() == "Item asked for, and its position"


def test_equal_results_give_an_equal_zip_at_any_time_and_with_any_permissions(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    results.export()
    for path in (results.folder / "kv").rglob("*.gz"):
        os.utime(path, (10**9, 10**9))
    umask = os.umask(0o077)
    try:
        folder = results.export(output="elsewhere")
    finally:
        os.umask(umask)
    assert (results.folder / "out.zip").read_bytes() == (results.folder / "elsewhere.zip").read_bytes()
    with zipfile.ZipFile(results.folder / "out.zip") as packed:
        held = {name: packed.read(name) for name in packed.namelist()}
        facts = {(info.date_time, info.external_attr >> 16) for info in packed.infolist()}
    assert held == {f"m/{name}": data for name, data in files_in(folder).items()} and [*held] == sorted(held)
    assert facts == {((1980, 1, 1, 0, 0, 0), 0o100644)}


def test_an_export_replaces_the_one_before_as_a_whole(results):
    results.add("kv", {5: [[0], [4]], 9: [[0], [8]]})
    first = files_in(results.export())
    (results.folder / "out" / "kv_5" / "stale").touch()
    results.curves = results.curves[1:]
    second = files_in(results.export())
    assert list(json.loads(second.pop("master_summary.json"))["experiments"]) == ["kv_9"]
    assert second == {name: data for name, data in first.items() if name.startswith("kv_9/")}


def test_a_failure_leaves_the_export_before_and_no_half_of_another(results):
    results.add("kv", {9: [[0], [8]]})
    before = files_in(results.export())
    there = sorted(results.folder.iterdir())
    responses = [record for _, record in read_jsonl(results.folder / "kv.jsonl.gz")]
    lost = next(r for r in responses if r["id"] == "a" and r["placement"] == "gold_at_8")
    write_lines(results.folder / "kv.jsonl.gz", [r for r in responses if r is not lost])
    with pytest.raises(AssertionError, match="error: no response to question a, size 9, gold_at_8: run generate again"):
        results.export()
    assert files_in(results.folder / "out") == before and sorted(results.folder.iterdir()) == there
    write_lines(results.folder / "kv.jsonl.gz", responses)
    scores = pd.read_parquet(results.folder / "kv.parquet")
    scores[scores["id"] != "c"].to_parquet(results.folder / "kv.parquet", index=False)
    with pytest.raises(AssertionError, match="error: no score of question c, size 9, gold_at_0: run score again"):
        results.export()
