"""Results in a notebook: what `litm.read` gives of a finished study, and the page that explains it."""

import re
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from conftest import ROOT

import litm
from litm.base.messages import UserError

#: Names of the default run, as the page has them, and of the finished study.
NAMES = {
    "mini_gazetteer_qa": "qa", "mini_gazetteer_oracle": "closed_book", "gold_at_4": "gold_at_2", "[0, 4]": "[0, 2]",
    "== 4": "== 2", '"results"': "str(folder)", "mine.pdf": "{mine}",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(finished):
    return litm.read(finished.path("results"))


def test_tables_have_their_types_and_missing_values(study):
    assert study.models == ["dummy", "reference"]
    assert str(study.accuracy["position"].dtype) == "Int64"
    assert study.accuracy["position"].isna().any()
    assert {"accuracy", "position_bias"} <= {*study.names}


def test_filters_take_one_value_or_several(study):
    every = study.scores(experiment="kv")
    assert {*every["model"]} == {"dummy", "reference"}
    assert {*study.scores("dummy", "kv", position=0)["position"]} == {0}
    assert {*study.scores("dummy", ["kv", "qa"], position=[0, 2])["experiment"]} == {"kv", "qa"}
    assert {*study.examples("kv", size=4, placement="gold_at_3")["placement"]} == {"gold_at_3"}
    assert len(study.responses("dummy", "qa")) == len(study.examples("qa"))


def assert_reversed(found, other, interval, side):
    """The other order has the same rows with the other sign."""
    assert list(found["place"]) == list(other["place"])
    names = ["difference", f"{interval}_low", f"{interval}_high", "value_a", f"{side}_a"]
    turned = other[["difference", f"{interval}_high", f"{interval}_low"]].mul(-1).join(other[["value_b", f"{side}_b"]])
    pd.testing.assert_frame_equal(found[names], turned.set_axis(names, axis=1))


def test_models_are_compared_as_in_the_table(study):
    found = study.compare("dummy", "reference")
    pd.testing.assert_frame_equal(found, study.model_pairs.reset_index(drop=True))
    assert_reversed(study.compare("reference", "dummy"), found, "ci", "model")


def test_experiments_are_compared_question_by_question(study):
    found = study.compare("qa", "closed_book")
    told = study.accuracy.set_index(["experiment", "position"])["accuracy"]
    of_place = found[found["position_a"] == 0].iloc[0]
    assert of_place["difference"] == pytest.approx(told["qa", 0] - told["closed_book"].iloc[0], abs=1e-6)
    assert of_place["n"] == len(study.scores("dummy", "closed_book"))
    assert_reversed(study.compare("closed_book", "qa"), found, "difference_ci", "experiment")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda study: study.plot("curve"), "no figure 'curve'; there are "),
        (
            lambda study: study.plot("kv", model=["dummy"]),
            "settings: no 'model'; there are experiments, kind, models, ",
        ),
        (lambda study: study.plot("kv", models=["x"]), "models: no 'x'; there are dummy, reference"),
        (lambda study: study.plot("kv", sizes=[4, 9]), "sizes: no '9'; there are 4, 6"),
        (lambda study: study.compare("dummy", "dummy"), "name two models, or two experiments, of this study: dummy, "),
        (lambda study: study.compare("dummy", "qa"), "name two models, or two experiments, of this study: dummy, "),
        (lambda study: study.compare("kv", "qa"), "no model answered both at one size"),
        (lambda study: study.scores(experiment="other"), "nothing of model any, experiment other"),
        (lambda study: study.table("audit"), "no audit.csv; there are accuracy"),
        (lambda study: litm.read(study.folder / "tables"), "no folder 'tables': run the study"),
    ],
)
def test_a_mistake_gets_a_line_that_names_what_there_is(study, call, words):
    with pytest.raises(UserError, match=re.escape(words)):
        call(study)


def test_models_without_a_common_question_are_no_empty_table(study, tmp_path):
    folder = shutil.copytree(study.folder, tmp_path / "results")
    path = folder / "scores/dummy/kv.parquet"
    (scores := pd.read_parquet(path)).assign(id=scores["id"] + " of another seed").to_parquet(path)
    with pytest.raises(UserError, match="no question that both have at all positions of a size"):
        litm.read(folder).compare("dummy", "reference")


def test_a_name_that_is_no_table_is_no_attribute(study):
    with pytest.raises(AttributeError, match="no table 'accurcy'; there are accuracy"):
        _ = study.accurcy


def test_every_figure_of_the_study_is_drawn_again(study, finished):
    for name in study.figures:
        assert finished.path(f"results/figures/{name}.png").exists()
        assert study.plot(name).axes
    assert study.plot("qa", title="Mine").get_suptitle() == "Mine"
    assert len(study.plot("kv", models="dummy", sizes=4).axes) == 1
    plt.close("all")


def test_the_page_runs(finished, tmp_path, capsys):
    page = (ROOT / "docs/notebook.md").read_text()
    names: dict = {"folder": finished.path("results")}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", page):
        for default, own in NAMES.items():
            block = block.replace(default, own.format(mine=tmp_path / "mine.pdf"))
        exec(block, names)
    assert "closed_book" in capsys.readouterr().out
    assert (tmp_path / "mine.pdf").exists()


def test_reading_needs_neither_snakemake_nor_torch(finished):
    code = (
        "import sys, litm\n"
        f"study = litm.read({str(finished.path('results'))!r}); study.accuracy; study.plot('qa')\n"
        "print(sorted({'torch', 'transformers', 'snakemake', 'pydantic', 'jinja2'} & {*sys.modules}))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "scripts", check=True
    )
    assert told.stdout.strip() == "[]"
