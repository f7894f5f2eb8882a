"""The audit: its sample of questions, its finding of a broken engine, and its resumption."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT
from echo_engine import AskedSweep
from engine_settings import changed_settings
from local_engines import SETTINGS
from programs import run_program
from record_makers import response
from sweeps import MODEL, local_sweep
from workbench import changed

from litm.base.json_files import write_json
from litm.base.store import digest
from litm.base.table_files import write_csv
from litm.checks.audit import audit_findings, audit_rows, audit_sample
from litm.engines.modules.transformers import Engine
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks.key_values import kv_retrieval
from litm.inference.kept_answers import Answers, answer_files
from litm.inference.prompts import Fit, sweep_prompts
from litm.inference.sweep import ask_missing, sweep_responses
from litm.models.identity import folder_identity
from litm.records.examples import write_examples
from litm.records.responses import read_responses, write_responses
from litm.tables.table import tables

POSITIONS, SIZE, COUNT = (0, 2, 5), 6, 12
DECODING = {"max_new_tokens": 30, "stop": "end_token"}
KV = read_template(ROOT / "resources" / "prompts" / "kv_retrieval.txt")
QUESTIONS = list(kv_retrieval.questions(SIZE, ExampleSettings(COUNT, 0, "ranked"), None))
EXAMPLES = [make_example(one, SIZE, f"gold_at_{at}", KV, kv_retrieval) for at in POSITIONS for one in QUESTIONS]


def responses(ids, placements=("gold_at_0", "gold_at_1"), size=2, finish_reason="stop"):
    facts = {"size": size, "finish_reason": finish_reason}
    return [response(id=id, placement=placement, **facts) for placement in placements for id in ids]


def test_a_larger_sample_has_the_questions_of_a_smaller_one_at_every_size():
    ids = [f"q{number}" for number in range(50)]
    records = responses(ids) + responses(ids, size=9)
    small, large = audit_sample(records, 5, seed=0), audit_sample(records, 20, seed=0)
    assert len(small) == 10 and len(large) == 40 and small < large
    assert {id for size, id in small if size == 2} == {id for size, id in small if size == 9}
    assert small != audit_sample(records, 5, seed=1)
    assert small == audit_sample(reversed(records), 5, seed=0)


def test_only_questions_with_an_answer_at_every_placement_are_drawn():
    records = responses(["whole", "failed", "long"], ["gold_at_0"]) + responses(["half"], ["gold_at_0"])
    for id, reason in {"whole": "stop", "failed": "failed", "long": "overflow"}.items():
        records += responses([id], ["gold_at_1"], finish_reason=reason)
    assert audit_sample(records, 5, seed=0) == {(2, "whole")}


class ForgetfulEngine(Engine):
    """Takes one prompt for another where the gold item is last."""

    def generate(self, prompts):
        last = {example.prompt for example in EXAMPLES if example.placement == "gold_at_5"}
        for batch in super().generate(prompts):
            yield [(n, replace(one, text="forgotten") if prompts[n].content in last else one) for n, one in batch]


def sweep(engine: type[Engine], folder: Path) -> None:
    """The responses of a sweep, as generate.py writes them."""
    identity, settings = {"engine": engine.__name__}, changed_settings(SETTINGS, max_new_tokens=30)
    prompts = sweep_prompts(EXAMPLES, digest(identity), "raw")
    with Answers([folder / "answers"], "m", "e", folder / "asking") as answers:
        outcome = ask_missing(prompts, answers, AskedSweep("m/e", identity), Fit(None, 30), lambda: engine(settings))
        write_responses(folder / "responses.jsonl.gz", sweep_responses(prompts, answers, outcome))


def ask_again(folder: Path, per_cell: int = 5, identity: dict | None = None) -> str:
    """What the program said that asks prompts again."""
    asked = local_sweep(folder)
    write_json(folder / "source.json", {**asked.source, **({"identity": identity} if identity else {})})
    write_examples(folder / "examples.jsonl.gz", EXAMPLES)
    files = {"source": "source.json", "examples": "examples.jsonl.gz", "responses": "responses.jsonl.gz"}
    files |= {"answers": "audit_answers", "asking": "asking", "output": "again.jsonl.gz"}
    # An engine that shares is checked by the plain one.
    options = {"settings": {**asked.settings, "engine": "vllm"}, "decoding": DECODING, "run": {"device": "cpu"}}
    options |= {name: str(folder / file) for name, file in files.items()}
    done = run_program("ask_again", model="m", experiment="e", seed=0, prompts_per_cell=per_cell, **options)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_model_replaced_since_it_was_identified_is_not_asked_again(plain, tmp_path):
    shutil.copy(plain / "responses.jsonl.gz", tmp_path)
    other = {**folder_identity(MODEL)["files"], "model.safetensors": "0" * 64}
    with pytest.raises(AssertionError, match=r"model.safetensors has changed since the model was identified"):
        ask_again(tmp_path, identity={"files": other})
    assert not (tmp_path / "audit_answers").exists()


def compare(folder: Path, added: str = "") -> pd.DataFrame:
    """The table of an audit; added: to the end of what was answered again."""
    recorded, again = (list(read_responses(folder / f"{name}.jsonl.gz")) for name in ("responses", "again"))
    again = [replace(one, text=f"{one.text}{added}") for one in again]
    return tables()["audit"].frame(audit_rows("m", "e", "value_in_answer", EXAMPLES, recorded, again, 0), True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    """A folder with a sweep of the plain engine and its audit; not to be changed."""
    folder = tmp_path_factory.mktemp("plain")
    sweep(Engine, folder)
    ask_again(folder)
    return folder


def test_batches_of_the_plain_engine_give_the_answers_of_one_prompt_at_a_time(plain):
    table = compare(plain)
    assert table["n"].tolist() == [5, 5, 5] and table["n_flips_text"].sum() == table["n_flips_correct"].sum() == 0
    # None of 5 is not proof: Clopper-Pearson's upper limit, 1 - 0.025 ** (1 / 5).
    assert table["flip_rate_text_ci_high"].tolist() == pytest.approx([0.5218] * 3, abs=1e-4)
    assert audit_findings(table) == ["m on e, size 6: no flips in 15 answers to 5 questions"]


def test_flips_of_text_that_change_no_verdict_are_told_apart(plain):
    table = compare(plain, added=" ")
    assert table["n_flips_text"].tolist() == [5, 5, 5] and table["n_flips_correct"].tolist() == [0, 0, 0]


def test_an_engine_whose_answers_change_is_found_at_its_position(tmp_path):
    sweep(ForgetfulEngine, tmp_path)
    ask_again(tmp_path)
    table = compare(tmp_path)
    assert dict(zip(table["position"], table["n_flips_text"], strict=True)) == {0: 0, 2: 0, 5: 5}
    # By chance all five would be at one of three positions once in 81 times.
    assert table["flip_rate_text_p_value"].iloc[0] == pytest.approx(1 / 81, abs=0.01)
    (finding,) = audit_findings(table)
    assert "5 of 15 answers to 5 questions differ in text (gold_at_5 5/5)" in finding and "p = 0.0" in finding


def test_an_audit_resumes_and_a_larger_one_asks_only_new_prompts(plain, tmp_path):
    shutil.copy(plain / "responses.jsonl.gz", tmp_path)
    assert "the audit asks 9 prompts again" in ask_again(tmp_path, per_cell=3)
    (file,) = answer_files([tmp_path / "audit_answers"])
    file.write_bytes(file.read_bytes()[:-9])
    assert "the audit asks 4 prompts again" in ask_again(tmp_path, per_cell=4)
    assert "the audit asks 0 prompts again" in ask_again(tmp_path, per_cell=4)
    assert len(list(read_responses(tmp_path / "again.jsonl.gz"))) == 12


def test_doctor_estimate_and_audit_around_a_run(new_bench):
    bench = new_bench
    few = {"models": ["reference"], "experiments": ["kv"], "audit": {"prompts_per_cell": 2}}
    bench.configure({**changed(kv={"positions": {4: [0, 3]}}), **few})

    def kept() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in answer_files([bench.path("results/answers")])}

    def printed(target: str) -> str:
        done = bench.snakemake(target)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = printed("doctor")
    assert "reference: memory" in said and " 0 missing" in said and not bench.path("results/examples").exists()
    assert "a rule of thumb for 1 processor core" in printed("estimate") and not kept()
    assert "reference on kv, size 4: no flips in 4 answers to 2 questions" in printed("audit")
    audit = pd.read_csv(bench.path("results/tables/audit.csv"))
    assert audit["placement"].tolist() == ["gold_at_0", "gold_at_3"]
    answers = kept()

    # Always made, and it sees that there are more answers, which no input says.
    assert set(bench.plan("estimate")) == {"estimate_sweep", "estimate"}
    printed("estimate")
    assert pd.read_csv(bench.path("results/estimate.csv"))["answered"].tolist() == [6, 6]
    assert set(bench.plan("estimate")) == {"estimate"} and kept() == answers
    assert bench.asked("kv", "reference") == (6, 0)
    assert not {"ask_again", "audit", "doctor", "estimate"} & set(bench.plan())


def test_the_audit_of_several_sweeps_is_printed_sweep_by_sweep(tmp_path):
    records = responses([question.id for question in QUESTIONS], [f"gold_at_{at}" for at in POSITIONS], SIZE)
    same = EXAMPLES, records, records, 0
    write_csv(tmp_path / "audit.csv", [row for name in "ab" for row in audit_rows(name, "e", "value_in_answer", *same)])
    done = run_program("audit", "--table", tmp_path / "audit.csv")
    assert [line.split(" ")[0] for line in done.stdout.splitlines()[:2]] == ["a", "b"], done.stderr
