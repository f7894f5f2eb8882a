"""The whole DAG in miniature, run for real: results, messages, and the effect of edits."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import write_lines
from workbench import CONFIG, Workbench, changed

from litm.claims.tables import CLAIMS

#: Sweeps: dummy on three experiments, reference on one of them.
SWEEPS = 4


def test_a_run_makes_all_tables_figures_and_the_report(finished):
    accuracy = pd.read_csv(finished.path("results/tables/accuracy.csv"))
    columns = "model experiment task size placement position depth n accuracy ci_low ci_high"
    assert set(columns.split()) <= set(accuracy.columns)
    assert accuracy["model"].value_counts().to_dict() == {"dummy": 4 + 2 + 1, "reference": 4}
    assert accuracy.loc[accuracy["experiment"] == "kv", "n"].eq(3).all()
    tokens = pd.read_csv(finished.path("results/tables/token_counts.csv"))
    assert tokens["model"].tolist() == ["reference"] * 4 and (tokens["tokens_min"] > 0).all()
    checks = pd.read_csv(finished.path("results/tables/answer_checks.csv"))
    assert list(zip(checks["experiment"], checks["size"], checks["n"], strict=True)) == [
        ("kv", 4, 3), ("kv", 6, 3), ("qa", 3, 4), ("closed_book", 0, 4)
    ]  # fmt: skip
    for name in ("kv", "kv_heatmap", "kv_by_size", "qa"):
        assert finished.path(f"results/figures/{name}.png").stat().st_size > 5000
        assert finished.path(f"results/figures/{name}.pdf").exists()
    claims = pd.read_csv(finished.path("results/tables/claims.csv"))
    assert list(claims["claim"].unique()) == [claim.name for claim in CLAIMS]
    report = finished.path("results/report.html").read_text()
    assert "The paper's claims" in report.replace("&#39;", "'")
    assert "data:image/png;base64" in report and "reference on kv, size 4" in report
    assert "no model: engine dummy, version 1" in report


def test_the_id_pairs_a_question_over_its_positions_and_experiments(finished):
    scores = pd.concat(
        [pd.read_parquet(finished.path(f"results/scores/dummy/{e}.parquet")) for e in ("qa", "closed_book")]
    )
    ids = scores.groupby(["experiment", "placement"])["id"].agg(list)
    assert len(ids) == 3 and all(one == ids.iloc[0] for one in ids)


def results(bench: Workbench) -> dict[Path, bytes]:
    """The contents of all result files, without logs and the store, which have times, and what only one machine has.

    Of journals the sorted lines: workers of a local model finish in any order.
    """
    folder = bench.path("results")
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    one_machines = ("logs", "benchmarks", "store")
    found = {path: (folder / path).read_bytes() for path in paths if path.parts[0] not in one_machines}
    journals = {path: sorted(found[path].splitlines(True)) for path in found if path.parts[0] == "journal"}
    return found | {path: b"".join(lines) for path, lines in journals.items()}


def test_the_same_config_gives_the_same_bytes_of_examples_answers_and_scores(finished, bench):
    shutil.rmtree(bench.path("results"))
    bench.run("--until", "score", "count_tokens")
    made, before = results(bench), results(finished)
    assert len([path for path in made if path.parts[0] == "scores"]) == SWEEPS and len(made) > 25
    assert made == {path: before[path] for path in made}


def test_the_same_config_gives_the_same_bytes_of_tables_figures_and_the_report(finished, bench):
    for name in ("figures", "question_samples", "summaries", "tables"):
        shutil.rmtree(bench.path(f"results/{name}"))
    bench.path("results/report.html").unlink()
    bench.run()
    assert results(bench) == results(finished)


def test_a_figure_that_another_selection_has_nothing_for_is_put_aside(bench):
    bench.configure({**CONFIG, "experiments": ["closed_book"]})
    bench.run("results/tables/study.json")
    assert bench.path("results/other_selections/figures/pbi_forest.png").exists()


NO_GOLD = {"question": "one", "answers": ["x"], "ctxs": []}


@pytest.mark.parametrize(
    ("edit", "words", "said"),
    [
        (lambda b: None, ["--config", "models=[refrence]"], "models: unknown name 'refrence' (did you mean"),
        (
            lambda b: b.path("more.yaml").write_text("seed: 1\nseed: 2\n"),
            ["--configfile", "more.yaml"],
            "more.yaml, line 2: the key 'seed' is on line 1 already",
        ),
        (
            lambda b: write_lines(b.path("questions.jsonl.gz"), [NO_GOLD]),
            [],
            'error: questions.jsonl.gz, line 1: 0 documents have "isgold": true, there must be exactly one',
        ),
        (
            lambda b: b.configure(changed(qa={"positions": {6: [0]}})),
            [],
            "has 4 distractors, but a context of 6 needs 5",
        ),
    ],
    ids=["unknown name", "key twice", "broken line", "too few documents"],
)
def test_a_mistake_is_said_in_a_line_and_no_answer_is_lost(bench, edit, words, said):
    journal = bench.path("results/journal/dummy/qa.jsonl").read_bytes()
    edit(bench)
    done = bench.snakemake(*words)
    told = done.stderr + done.stdout
    assert done.returncode == 1 and said in told and "Traceback" not in told
    assert bench.path("results/journal/dummy/qa.jsonl").read_bytes() == journal
