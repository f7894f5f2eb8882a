"""A whole study of eight prompts, the only run of Snakemake in the quick tier; it shares no workbench."""

import pandas as pd
from workbench import Workbench

STUDY = {
    "models": ["dummy"],
    "experiments": ["kv"],
    "define": {"experiments": {"kv": {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 4}}},
}


#: A figure, and the table of accuracies; all other tables and the report are the same kinds of jobs.
TARGETS = ("results/figures/kv.png", "results/tables/accuracy.csv")


def test_a_study_runs_from_its_config_to_its_figure_once(tmp_path):
    bench = Workbench.create(tmp_path)
    bench.configure(STUDY)
    # Quiet as it is, Snakemake reports no finished job, and the end of the run is told all the same.
    done = bench.snakemake("--quiet", "progress", "rules", "--", *TARGETS)
    assert done.returncode == 0 and "figures: results/figures/" in done.stdout + done.stderr, done.stdout + done.stderr
    assert "the same command continues" not in done.stdout + done.stderr
    assert bench.asked("kv") == (8, 0)
    accuracy = pd.read_csv(bench.path("results/tables/accuracy.csv"))
    assert accuracy["position"].tolist() == [0, 3] and accuracy["n"].tolist() == [4, 4]
    assert bench.path("results/figures/kv.png").stat().st_size > 5000
    assert not bench.plan(*TARGETS)
