"""Recorded verdicts as models of a study: the cells of their experiments, and mistakes."""

from pathlib import Path

import configs
import pytest
from programs import refused

HEAD = "model,question,depth,size,correct"
ROWS = [f"{model},q{n},{depth},1000,{n % 2}" for model in ("a", "b") for n in range(4) for depth in (0, 50, 100)]


def table(folder: Path, *rows: str, head: str = HEAD, name: str = "verdicts.csv") -> str:
    (folder / name).write_text("\n".join([head, *(rows or ROWS)]) + "\n")
    return str(folder / name)


def study(file: str, models=("a", "b"), experiment=None, selected=(), only=None, **keys):
    """A study of recorded verdicts in one file."""
    entry = {"engine": "recorded", "scores": {"needles": file}, **keys}
    define = {
        "experiments": {"needles": experiment or {"task": "recorded_scores"}},
        "models": dict.fromkeys(models, entry),
    }
    return configs.study(models=[*models, *selected], experiments=["needles"], define=define, only=only)


def test_an_experiment_of_verdicts_has_the_cells_of_its_tables_and_nothing_that_needs_prompts(tmp_path):
    read = study(table(tmp_path, *ROWS, "a,q9,25,1000,1", "a,q9,,2000,1"))
    assert {name: read.experiment_of(name, "needles").cell_sizes for name in "ab"} == {"a": {1000, 2000}, "b": {1000}}
    assert [(cell.size, cell.placement) for cell in read.experiments["needles"].cells] == [
        (1000, "gold_at_depth_0"), (1000, "gold_at_depth_0.25"), (1000, "gold_at_depth_0.5"),
        (1000, "gold_at_depth_1"), (2000, "no_gold"),
    ]  # fmt: skip
    assert [sweep.pair for sweep in read.sweeps] == [("a", "needles"), ("b", "needles")]
    assert [*read.figures] == ["needles", "needles_heatmap", "needles_by_size"]
    assert read.experiments["needles"].prompt is None


@pytest.mark.parametrize(
    ("rows", "changes", "said"),
    [
        (["a,q0,0,10,1"], {"head": "model,question,depth,size,ok"}, "verdicts.csv: no column for correct; there are"),
        (["a,q0,0,10,maybe"], {}, "verdicts.csv, line 2: correct must be 1 or 0, yes or no, or a number"),
        (["a,q0,0,10,1", "a,q0,0,10,0"], {}, "verdicts.csv, line 3: a has a second verdict on question 'q0'"),
        (["a,q0,0,10,1", "a,q0,120,10,0"], {}, "verdicts.csv, line 3: the depth 120 is above 100"),
        (["a,q0,-5,10,1"], {}, "verdicts.csv, line 2: depth must be one number, 0 or more, found '-5'"),
        (["c,q0,0,10,1", "d,q0,0,10,1"], {}, "verdicts.csv: no model 'a'; there are c, d: say which with 'rows'"),
    ],
)
def test_a_bad_table_is_refused_in_one_line_before_a_run(tmp_path, rows, changes, said):
    file = table(tmp_path, *rows, **changes)
    assert said in refused(lambda: study(file, models=("a",)))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"responses": {"needles": "x.jsonl"}}, "models.a: give either 'responses' or 'scores'"),
        ({"rows": {"needles": {"run": "1"}}}, "verdicts.csv: no column 'run' (rows); there are model, question"),
        ({"rows": {"needles": {"model": "z"}}}, "verdicts.csv: no rows with model z"),
        ({"columns": {"correct": "ok"}}, "verdicts.csv: no column 'ok' (correct); there are model"),
        ({"selected": ["reference"]}, "experiments.needles: its prompts are not known, so reference cannot be asked"),
        (
            {"experiment": {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 2}},
            "models.a.scores: needles has prompts; verdicts alone are an experiment of their own",
        ),
        ({"scores": {"needles": "absent.csv"}}, "models.a.scores.needles: "),
    ],
)
def test_mistakes_in_entries_of_verdicts(tmp_path, keys, said):
    assert said in refused(lambda: study(table(tmp_path), **keys))


def test_depths_and_positions_are_two_experiments(tmp_path):
    by_depth, by_position = (
        table(tmp_path),
        table(tmp_path, "b,q0,0,4,1", head=HEAD.replace("depth", "position"), name="b.csv"),
    )
    define = {
        "experiments": {"needles": {"task": "recorded_scores"}},
        "models": {
            name: {"engine": "recorded", "scores": {"needles": file}}
            for name, file in (("a", by_depth), ("b", by_position))
        },
    }
    said = refused(lambda: configs.study(models=["a", "b"], experiments=["needles"], define=define))
    assert "models.a.scores has depths and models.b.scores positions: these are two experiments" in said
