"""Recorded responses in a run of the workflow."""

import pandas as pd
import pytest
import yaml
from conftest import ROOT, write_lines
from reruns import changes, check, with_keys
from snakemake.utils import update_config
from workbench import FINISHED, Workbench

from litm.base.json_files import read_json, read_jsonl
from litm.config.study import load_study

OLD = yaml.safe_load("""
engine: recorded
responses: {qa: "preds/qa-{size}-{placement}.jsonl.gz", kv: preds/kv.tsv}
fields: {response: model_answer, question: question, size: n, position: gold}
""")
CONFIG = with_keys(FINISHED, {"models": [*FINISHED["models"], "old"], "define.models.old": OLD})


def recorded(number: int, answer: str, position: int) -> dict:
    return {"question": f"what is number {number}", "model_answer": answer, "n": 3, "gold": position}


@pytest.fixture(scope="module")
def finished(finished_project, tmp_path_factory) -> Workbench:
    """A workbench with responses to questions 0 to 2 of 4 recorded, all right at the first position and wrong later."""
    bench = finished_project.moved_to(tmp_path_factory.mktemp("recorded"))
    bench.path("preds").mkdir()
    for position in (0, 2):
        answers = [recorded(n, "No idea" if position else f"It is answer{n}.", position) for n in range(3)]
        write_lines(bench.path(f"preds/qa-3-gold_at_{position}.jsonl.gz"), answers)
    rows = [["question", "n", "gold", "model_answer"], ["another key", 4, 0, "x"]]
    for size, position in ((4, 0), (4, 3), (6, 0), (6, 5)):
        for _, one in read_jsonl(bench.path(f"results/examples/kv/{size}/gold_at_{position}.jsonl.gz")):
            rows.append([one["question"], size, position, one["targets"][0]["answers"][0]])
    write_lines(bench.path("preds/kv.tsv"), ["\t".join(map(str, row)) for row in rows])
    bench.configure(CONFIG)
    bench.run()
    return bench


def test_recorded_responses_are_scored_and_drawn_with_a_model(finished):
    accuracy = pd.read_csv(finished.path("results/tables/accuracy.csv")).query("model == 'old'")
    assert list(accuracy["experiment"]) == ["kv"] * 4 + ["qa"] * 2
    qa = accuracy.query("experiment == 'qa'")
    assert list(qa["n"]) == [3, 3] and list(qa["accuracy"]) == [1, 0] and list(qa["n_not_recorded"]) == [1, 1]
    assert accuracy.query("experiment == 'kv'")["accuracy"].eq(1).all() and accuracy["n_cut"].isna().all()
    differences = pd.read_csv(finished.path("results/tables/model_differences.csv"))
    assert set(differences["experiment"]) == {"kv", "qa"} and differences.query("experiment == 'qa'")["n"].eq(3).all()
    bias = pd.read_csv(finished.path("results/tables/position_bias.csv")).query("model == 'old' and experiment == 'qa'")
    assert (bias["n"].item(), bias["n_left_out"].item()) == (3, 1)
    report = finished.path("results/report.html").read_text()
    assert "recorded responses (2 hashed files)" in report and "recorded responses (1 hashed file)" in report


def test_the_manifest_has_missing_and_unused_responses(finished):
    qa = read_json(finished.path("results/responses/old/qa.manifest.json"))
    assert (qa["recorded"], qa["not_recorded"], qa["unused"]) == (6, 2, 0)
    assert list(qa["missing"]) == ["3/gold_at_0", "3/gold_at_2"]
    assert str(finished.folder) not in finished.path("results/responses/old/qa.manifest.json").read_text()
    assert read_json(finished.path("results/responses/old/kv.manifest.json"))["unused"] == 1


def test_an_experiment_without_recorded_responses_is_left_out_with_a_line(finished):
    assert not finished.path("results/responses/old/closed_book.jsonl.gz").exists()
    done = finished.snakemake("--dry-run")
    assert done.stderr.count("no recorded responses, left out: old/closed_book") == 1


def test_with_a_tokenizer_tokens_are_counted_and_the_report_has_the_prompt_format(bench):
    bench.configure(with_keys(CONFIG, {"define.models.old.tokenizer": str(ROOT / "resources" / "reference_model")}))
    plan = bench.plan()
    assert (plan["count_tokens"], plan["make_prompt_format"], plan["make_report"]) == (2, 1, 1)


def test_the_answers_in_resources_are_to_the_prompts_that_the_released_files_make_today(new_bench, data):
    config: dict = {}
    for name in ("config", "laptop", "laptop_recorded"):
        update_config(config, yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text()))
    config["data_mirror"] = str(data)
    first = str(data / "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz")
    config["define"]["datasets"] = {"nq_open_20_documents_v1": {"path": first}}
    new_bench.configure(config)
    study = load_study(config, ROOT)
    read = [sweep.files.manifest for sweep in study.sweeps if sweep.experiment.datasets]
    # Not in this process: its Java, once started for another test, stays in that folder.
    new_bench.run("--", *read)
    told = {path: read_json(new_bench.path(path)) for path in read}
    assert {path: (one["not_recorded"], one["unused"]) for path, one in told.items()} == dict.fromkeys(read, (0, 0))


#: Of a recorded model, of a size in pairs and not in tokens, and of no model at all.
NOTHING_MAKES = (
    *("results/token_counts/old/kv.csv", "results/prompt_formats/old.json", "results/estimates/old/kv.json"),
    *("results/audit_responses/old/kv.jsonl.gz", "results/sizes/kv/4.json", "results/token_counts/nobody/kv.csv"),
)


def test_no_rule_makes_a_result_that_a_model_or_experiment_has_not_and_it_is_refused_in_a_line(finished):
    assert finished.made([*NOTHING_MAKES, "results/scores/old/kv.parquet"]) == {"results/scores/old/kv.parquet"}
    said = finished.refusal("--dry-run", "--", NOTHING_MAKES[0])
    assert f"No rule to produce {NOTHING_MAKES[0]}" in said and "KeyError" not in said


def replace_recorded(bench: Workbench) -> None:
    write_lines(bench.path("preds/qa-3-gold_at_2.jsonl.gz"), [recorded(0, "answer0", 2)])


@changes("recorded")
def test_a_change_runs_what_the_page_says(bench, row):
    check(bench, CONFIG, row, globals())


def test_without_any_model_there_is_no_table_of_tokens(bench):
    bench.configure({**CONFIG, "models": ["old"], "experiments": ["kv", "qa"]})
    bench.path("results/tables/token_counts.csv").unlink()
    bench.run("--", "all", "suite_zip")
    assert not bench.path("results/tables/token_counts.csv").exists()
    assert "Prompt tokens" not in bench.path("results/report.html").read_text()
    assert bench.path("results/suite_export/old.zip").exists()
