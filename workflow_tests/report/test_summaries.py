"""The suite's summaries, made by the program of the tables of hand-made scores."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from programs import run_program
from score_frames import accuracy_table, score_rows

from litm.analysis.grid import curves
from litm.analysis.positions import position_bias_row
from litm.base.table_files import write_csv
from litm.tables.table import tables

#: Of 40 questions, all are right at the first position, a quarter in the middle, 36 at the last.
U = {0: [True] * 40, 4: [True] * 10 + [False] * 30, 8: [True] * 36 + [False] * 4}


def scores(
    correct: Mapping[int | None, Sequence[bool | None]], experiment: str = "e", size: int = 9, **changes
) -> pd.DataFrame:
    """Score rows from right and wrong (None: did not fit) for each position: {position: [of question 0, 1, ...]}."""
    rows = score_rows(correct, size, experiment=experiment, **changes)
    too_long = rows["id"].isin(rows.loc[rows["correct"].isna(), "id"])
    return rows.assign(excluded=too_long, finish_reason=rows["correct"].isna().map({True: "overflow", False: "stop"}))


def three_golds(correct: Mapping[int, Sequence[bool]]) -> pd.DataFrame:
    """Score rows of prompts with three gold items."""
    placement = "gold_at_" + "_".join(map(str, correct))
    targets = zip(("start", "middle", "end"), correct.items(), strict=True)
    return pd.concat(
        scores({position: values}, "needles", target=target, placement=placement)
        for target, (position, values) in targets
    )


def curve(name: str, experiment: str = "e", size: int = 9, placement: str | None = None) -> dict:
    return {"name": name, "experiment": experiment, "size": size, "placement": placement}


def write_tables(folder: Path, *sweeps: pd.DataFrame) -> list:
    """The tables of sweeps as the workflow makes them, and the options that name them, that of the bias last."""
    write_csv(folder / "accuracy.csv", pd.concat([accuracy_table(sweep) for sweep in sweeps]))
    rows = [position_bias_row(part, permutations=20) for sweep in sweeps for part in curves(sweep)]
    write_csv(folder / "bias.csv", tables()["position_bias"].frame(rows))
    return ["--accuracy", folder / "accuracy.csv", "--position-bias", folder / "bias.csv"]


def run(folder: Path, tables: Sequence, wanted: Sequence[dict], model: str = "m"):
    given = ["--model", model, "--curves", json.dumps(wanted), *tables, "--output", folder / "summaries"]
    return run_program("summarize", *given)


def read_strictly(path: Path) -> dict:
    """JSON, in which NaN is an error."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{path}: {constant}")

    return json.loads(path.read_text(), parse_constant=refuse)


@pytest.fixture
def summarise(tmp_path) -> Callable[..., dict]:
    """The master summary of sweeps, whose parts are the files of the curves."""

    def summarise(
        sweeps: Sequence[pd.DataFrame], wanted: Sequence[dict], model: str = "m", with_bias: bool = True
    ) -> dict:
        options = write_tables(tmp_path, *sweeps)
        done = run(tmp_path, options if with_bias else options[:-1], wanted, model)
        assert done.returncode == 0, done.stderr
        master = read_strictly(tmp_path / "summaries" / "master_summary.json")
        files = [read_strictly(tmp_path / "summaries" / one["name"] / "summary.json") for one in wanted]
        assert list(master["experiments"].items()) == [(summary["experiment"], summary) for summary in files]
        return master

    return summarise


def test_a_summary_has_the_accuracies_by_position_and_the_bias_of_its_own_model_and_size(summarise):
    other_size = scores({16: [True] * 40, 0: [False] * 40, 8: [True] * 40}, size=17)
    other_model = scores({0: [False] * 40, 4: [True] * 40, 8: [False] * 40}, model="another")
    wanted = [curve("e_17", size=17), curve("e_9")]
    master = summarise([pd.concat([scores(U, items=12), other_size]), other_model], wanted)
    assert master["model"] == "m" and list(master["experiments"]) == ["e_17", "e_9"]
    summary = master["experiments"]["e_9"]
    expected = {
        "experiment": "e_9", "model": "m", "task": "t", "metric": "best_subspan_em", "size": 9, "items": 12, "n": 40,
        "n_incomplete": 0, "positions": {"0": 1.0, "4": 0.25, "8": 0.9}, "edge_accuracy": 0.95,
        "middle_accuracy": 0.25, "pbi": 0.7, "pbi_class": "strong", "class_certain": True, "verdict": "measured",
        "reason": None,
    }  # fmt: skip
    assert summary | expected == summary
    assert list(summary)[4:6] == ["size", "items"]
    assert summary.keys() - expected.keys() == {"pbi_ci_low", "pbi_ci_high"}
    assert 0.3 < summary["pbi_ci_low"] < 0.7 < summary["pbi_ci_high"]
    assert [*master["experiments"]["e_17"]["positions"].items()] == [("0", 0.0), ("8", 1.0), ("16", 1.0)]
    theirs = summarise([scores(U), other_model], wanted[1:], "another")
    assert theirs["experiments"]["e_9"]["pbi"] == -1.0


def test_each_placement_of_several_gold_items_has_its_summary_with_their_positions(summarise):
    apart = three_golds({0: [True] * 30, 4: [False] * 30, 8: [True] * 30})
    close = three_golds({3: [True] * 30, 4: [True] * 15 + [False] * 15, 5: [True] * 30})
    wanted = [curve(place, "needles", placement=place) for place in ("gold_at_3_4_5", "gold_at_0_4_8")]
    summaries = summarise([pd.concat([apart, close])], wanted)["experiments"]
    found = {name: [one[key] for key in ("targets", "positions", "pbi")] for name, one in summaries.items()}
    assert found == {
        "gold_at_0_4_8": [{"start": 0, "middle": 4, "end": 8}, {"0": 1.0, "4": 0.0, "8": 1.0}, 1.0],
        "gold_at_3_4_5": [{"start": 3, "middle": 4, "end": 5}, {"3": 1.0, "4": 0.5, "5": 1.0}, None],
    }


NUMBERS = ("edge_accuracy", "middle_accuracy", "pbi", "pbi_ci_low", "pbi_ci_high", "pbi_class", "class_certain")
NOTHING = {**dict.fromkeys(NUMBERS), "verdict": "no_information"}
PARTLY = {0: [True, True, None, True], 4: [False, True, True, None], 8: [True] * 4}
ONE = {"positions": {"3": 0.666667}, "n": 3, "n_incomplete": 1, **NOTHING, "reason": "only one position"}


@pytest.mark.parametrize(
    ("correct", "with_bias", "expected"),
    [
        (
            {position: [None] * 5 for position in U},
            True,
            {"positions": dict.fromkeys(("0", "4", "8")), "n": 0, "n_incomplete": 5, **NOTHING}
            | {"reason": "no question fits the context"},
        ),
        (PARTLY, True, {"positions": {"0": 1.0, "4": 0.5, "8": 1.0}, "n": 2, "n_incomplete": 2}),
        ({3: [True, False, True, None]}, True, ONE),
        ({3: [True, False, True, None]}, False, ONE),
        (U, False, {"n": None, "pbi": None, "reason": "not in the table of position bias"}),
        (
            {0: [True] * 30, 8: [True, False] * 15},
            True,
            {"verdict": "measured", "edge_accuracy": 0.75, "pbi": None, "pbi_class": None}
            | {"reason": "no position between the first and the last"},
        ),
        (
            {0: [True] * 30, 1: [True, False] * 15, 8: [False] * 30},
            True,
            {"verdict": "measured", "middle_accuracy": None, "edge_accuracy": 0.5, "pbi": None}
            | {"reason": "no position is near the middle (1st, 2nd, 9th)"},
        ),
    ],
    ids=[
        "nothing fits",
        "a part fits",
        "one position",
        "without a table",
        "not in the table",
        "two positions",
        "no middle",
    ],
)
def test_a_summary_of_what_is_not_known_has_null_and_the_reason(summarise, correct, with_bias, expected):
    master = summarise([scores(correct)], [curve("e")], with_bias=with_bias)
    summary = master["experiments"]["e"]
    assert summary | expected == summary
    assert master["measured"] == (summary["verdict"] == "measured")


def test_the_master_summary_names_the_curves_of_each_class_in_their_order(summarise):
    flat = {position: [True, False] * 20 for position in U}
    floor = {position: [False] * 40 for position in U}
    inverted = {position: [not value for value in values] for position, values in U.items()}
    shapes = {"z": U, "flat": flat, "floor": floor, "inverted": inverted, "a": U}
    master = summarise([scores(shape, name) for name, shape in shapes.items()], [curve(name, name) for name in shapes])
    assert list(master["experiments"]) == list(shapes)
    assert (master["measured"], master["no_information"]) == (4, 1)
    classes = {"strong": ["z", "a"], "moderate": [], "weak": [], "flat": ["flat"], "inverted": ["inverted"]}
    assert master["pbi_classes"] == classes


def test_a_curve_that_is_gone_leaves_no_summary_behind(summarise, tmp_path):
    sweeps = [pd.concat([scores(U), scores(U, size=17)])]
    summarise(sweeps, [curve("e_9"), curve("e_17", size=17)])
    assert list(summarise(sweeps, [curve("e_17", size=17)])["experiments"]) == ["e_17"]
    folder = tmp_path / "summaries"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert there == {"master_summary.json", "e_17", "e_17/summary.json"}


def test_mistakes_are_one_line_and_nothing_is_written(tmp_path):
    tables = write_tables(tmp_path, scores(U))
    done = run(tmp_path, tables, [curve("e"), curve("e_17", size=17)])
    assert done.returncode == 1 and not list(tmp_path.glob("*summaries*"))
    assert done.stderr == "error: e_17: the accuracy table has no position of m at size 17\n"
    done = run(tmp_path, tables, [{**curve("e"), "sise": 9}])
    assert done.returncode == 2 and "--curves" in done.stderr
