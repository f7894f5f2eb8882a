"""The whole DAG in miniature, run for real: results, messages, and the effect of edits."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import write_lines
from fork_server import WHOLE_FIGURES
from plans import plan_in
from workbench import CONFIG, Workbench, changed

from litm.base.json_files import read_json, read_jsonl
from litm.claims.tables import CLAIMS
from litm.inference.kept_answers import Writer

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
    cells = [("kv", 4, 3), ("kv", 6, 3), ("qa", 3, 4), ("closed_book", 0, 4)]
    assert list(zip(checks["experiment"], checks["size"], checks["n"], strict=True)) == cells
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
    both = [pd.read_parquet(finished.path(f"results/scores/dummy/{name}.parquet")) for name in ("qa", "closed_book")]
    ids = pd.concat(both).groupby(["experiment", "placement"])["id"].agg(list)
    assert len(ids) == 3 and all(one == ids.iloc[0] for one in ids)


def results(bench: Workbench) -> dict[Path, bytes]:
    """The contents of all result files, without logs and the store, which have times, and what only one machine has.

    Of kept answers the sorted lines of each sweep: workers of a local model finish in any order, and the names of files
    tell when and by whom they were made.
    """
    folder = bench.path("results")
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    one_machines = ("logs", "benchmarks", "store", "asking")
    found = {path: (folder / path).read_bytes() for path in paths if path.parts[0] not in one_machines}
    for path in [path for path in found if writer_of(path)]:
        found[path.parent / writer_of(path)] = b"".join(sorted(found.pop(path).splitlines(True)))
    return found


def writer_of(path: Path) -> str:
    """The model and the experiment of a file of answers; "" for another file."""
    writer = Writer.from_file_name(path) if path.suffix == ".jsonl" and path.parts[0] == "answers" else None
    return f"{writer.model}+{writer.experiment}" if writer else ""


def test_the_same_config_gives_the_same_bytes_of_examples_answers_and_scores(finished, bench):
    shutil.rmtree(bench.path("results"))
    bench.run("--until", "score", "count_tokens")
    made, before = results(bench), results(finished)
    assert len([path for path in made if path.parts[0] == "scores"]) == SWEEPS and len(made) > 25
    assert made == {path: before[path] for path in made}


def test_the_same_config_gives_the_same_bytes_of_tables_figures_and_the_report(finished, bench, monkeypatch):
    monkeypatch.setenv(WHOLE_FIGURES, "1")
    for name in ("figures", "question_samples", "summaries", "tables"):
        shutil.rmtree(bench.path(f"results/{name}"))
    bench.path("results/report.html").unlink()
    bench.run()
    assert results(bench) == results(finished)


def test_tables_that_another_selection_does_not_have_are_said_and_stay(bench):
    bench.configure({**CONFIG, "experiments": ["closed_book"]})
    done = bench.snakemake("results/tables/study.json")
    assert "of another selection (results/tables/" in done.stderr and "--directory FOLDER" in done.stderr
    assert bench.path("results/figures/pbi_forest.png").exists()


NO_GOLD = {"question": "one", "answers": ["x"], "ctxs": []}
#: What is said of words of the command, and of files.
MISTAKES = {
    "models: unknown name 'refrence' (did you mean": (["--config", "models=[refrence]"], {}),
    "more.yaml, line 2: the key 'seed' is on line 1 already": (
        ["--configfile", "more.yaml"], {"more.yaml": ["seed: 1", "seed: 2"]}
    ),
    'error: questions.jsonl.gz, line 1: 0 documents have "isgold": true, there must be exactly one': (
        [], {"questions.jsonl.gz": [NO_GOLD]}
    ),
    "has 4 distractors, but a context of 6 needs 5": ([], {"small.yaml": [changed(qa={"positions": {"6": [0]}})]}),
}  # fmt: skip


@pytest.mark.parametrize(("said", "words", "files"), [(said, *made) for said, made in MISTAKES.items()], ids=MISTAKES)
def test_a_mistake_is_said_in_a_line_and_no_answer_is_lost(bench, said, words, files):
    (answers,) = bench.answers("qa")
    before = answers.read_bytes()
    for name, lines in files.items():
        write_lines(bench.path(name), lines)
    assert said in bench.refusal(*words)
    assert bench.answers("qa") == [answers] and answers.read_bytes() == before


# Log-probabilities, beside answers and alone

MANIFEST = "results/log_probabilities/reference/kv.manifest.json"


def test_log_probabilities_beside_answers_are_measured_once_and_ask_for_no_answer_again(bench):
    (answers,) = bench.answers("kv", "reference")
    before = answers.read_bytes()
    bench.configure(changed(kv={"measure": ["answer", "log_probability"]}))
    planned = bench.plan()
    assert (planned["measure"], planned["score_log_probabilities"]) == (1, 1) and "generate" not in planned
    done = bench.snakemake()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no log-probabilities, left out: dummy (engine dummy cannot)") == 1
    assert bench.answers("kv", "reference") == [answers] and answers.read_bytes() == before
    table = pd.read_csv(bench.path("results/tables/log_probability.csv"))
    assert list(zip(table["size"], table["position"], strict=True)) == [(4, 0), (4, 3), (6, 0), (6, 5)]
    assert table["model"].eq("reference").all() and table["n"].eq(3).all()
    assert table["answer"].between(-1000, 0, inclusive="neither").all()
    (measured,) = bench.answers("kv.log_probability", "reference")
    assert {record["finish_reason"] for _, record in read_jsonl(measured)} == {"measured"}
    report = bench.path("results/report.html").read_text()
    assert "log_probability" in report
    assert bench.plan() == {}
    # A position more measures its own prompts.
    bench.configure(changed(kv={"measure": ["answer", "log_probability"], "positions": {4: [0, 1, 3], 6: [0, 5]}}))
    assert bench.run("--", MANIFEST)["measure"] == 1
    manifest = read_json(bench.path(MANIFEST))
    assert (manifest["asked"], manifest["reused"]) == (3, 12)


def test_log_probabilities_alone_generate_nothing(bench):
    config = {**changed(kv={"measure": ["log_probability"], "examples": 2}), "models": ["reference"]}
    bench.configure(config)
    planned = bench.plan("--forceall", "--", "tables", "figures")
    assert planned["measure"] == 1 and "generate" not in planned and "score" not in planned
    notes = plan_in(bench.folder, "config", **config).study.notes
    assert ["no report, which is of answers" in note for note in notes].count(True) == 1
