"""The audit: its sample of questions, its finding of a broken engine, and its resumption."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT
from echo_engine import AskedSweep
from programs import run_program
from record_makers import response
from workbench import CONFIG

from litm.analysis.table import tables
from litm.base.formats import write_csv, write_json
from litm.base.store import canonical_json, digest
from litm.checks.audit import audit_findings, audit_rows, audit_sample
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks.key_values import kv_retrieval
from litm.inference.engine import EngineSettings, audit_engine
from litm.inference.engines.transformers import Engine
from litm.inference.journal import Journal
from litm.inference.setup import Fit, sweep_prompts
from litm.inference.sweep import ask_missing, sweep_responses
from litm.models.identity import folder_identity
from litm.records import Example, Response, SweepResponse, read_responses, write_examples, write_responses

REFERENCE = ROOT / "resources" / "reference_model"
POSITIONS, SIZE, COUNT = (0, 2, 5), 6, 12
MODEL = {"engine": "transformers", "dtype": "float32", "attention": "sdpa", "prompt_template": "raw"}
DECODING = {"max_new_tokens": 30, "stop": "end_token"}
SETTINGS = EngineSettings(
    str(REFERENCE), None, None, "raw", None, 30, "end_token", dtype="float32", device="cpu", batch_tokens=4096
)


def responses(ids, placements=("gold_at_0", "gold_at_1"), size=2, finish_reason="stop"):
    return [
        response(id=id, size=size, placement=placement, finish_reason=finish_reason)
        for placement in placements
        for id in ids
    ]


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


def test_a_sweep_that_shares_is_checked_by_the_engine_that_does_not():
    assert [audit_engine(name) for name in ("vllm", "transformers", "openai")] == ["transformers"] * 2 + ["openai"]


class ForgetfulEngine(Engine):
    """Takes the beginning of one prompt for that of another: the answer is wrong where the gold item is last."""

    def generate(self, prompts):
        for batch in super().generate(prompts):
            yield [(index, self._forget(prompts[index].content, response)) for index, response in batch]

    @staticmethod
    def _forget(prompt: str, response: Response) -> Response:
        pairs = prompt[prompt.index("{") : prompt.rindex("}")]
        *_, last = pairs.split("\n")
        key = prompt.rsplit('"', 2)[1]
        text = "forgotten" if key in last else response.text
        return Response(text, response.finish_reason, response.prompt_tokens, response.response_tokens, "fake")


@pytest.fixture(scope="module")
def kv_examples() -> list[Example]:
    template = read_template(ROOT / "resources" / "prompts" / "kv_retrieval.txt")
    questions = list(kv_retrieval.questions(SIZE, ExampleSettings(COUNT, 0, "ranked"), None))
    return [make_example(q, SIZE, f"gold_at_{at}", template, kv_retrieval) for at in POSITIONS for q in questions]


def sweep(engine: type[Engine], kv_examples: list[Example], folder: Path) -> Path:
    """The responses of a sweep, as generate.py writes them."""
    identity = {"engine": engine.__name__}
    prompts = sweep_prompts(kv_examples, digest(identity), "raw")
    with Journal(folder / f"{engine.__name__}.jsonl") as journal:
        outcome = ask_missing(prompts, journal, AskedSweep("m/e", identity), Fit(None, 30), lambda: engine(SETTINGS))
        write_responses(folder / "responses.jsonl.gz", sweep_responses(prompts, journal, outcome))
    return folder / "responses.jsonl.gz"


def ask_again(
    kv_examples: list[Example], folder: Path, per_cell: int = 5, identity: dict | None = None
) -> tuple[list[SweepResponse], str]:
    """What the program got of the prompts that it asked again, and what it said."""
    source = {"location": str(REFERENCE), "revision": None, "context_window": 8192}
    write_json(folder / "source.json", {**source, "identity": identity or folder_identity(REFERENCE)})
    write_examples(folder / "examples.jsonl.gz", kv_examples)
    # An engine that shares is checked by the plain one.
    options = {
        "model": "m", "experiment": "e", "source": folder / "source.json", "seed": 0, "prompts-per-cell": per_cell,
        "settings": canonical_json({**MODEL, "engine": "vllm"}), "decoding": canonical_json(DECODING),
        "run": canonical_json({"device": "cpu"}), "examples": folder / "examples.jsonl.gz",
        "responses": folder / "responses.jsonl.gz", "journal": folder / "audit_journal.jsonl",
        "output": folder / "again.jsonl.gz",
    }  # fmt: skip
    done = run_program("ask_again", *(word for name, value in options.items() for word in (f"--{name}", value)))
    assert done.returncode == 0, done.stderr
    return list(read_responses(folder / "again.jsonl.gz")), done.stderr


class QuickEngine(Engine):
    """Answers without reading."""

    def generate(self, prompts):
        yield [(index, Response("x", "stop", prompt.tokens, 1, "fake")) for index, prompt in enumerate(prompts)]


def test_a_model_replaced_since_it_was_identified_is_not_asked_again(kv_examples, tmp_path):
    sweep(QuickEngine, kv_examples, tmp_path)
    other = {**folder_identity(REFERENCE)["files"], "model.safetensors": "0" * 64}
    with pytest.raises(AssertionError, match=r"model.safetensors has changed since the model was identified"):
        ask_again(kv_examples, tmp_path, identity={"files": other})
    assert (tmp_path / "audit_journal.jsonl").read_bytes() == b""


def compare(kv_examples: list[Example], folder: Path, again: list[SweepResponse]) -> pd.DataFrame:
    recorded = list(read_responses(folder / "responses.jsonl.gz"))
    return tables()["audit"].frame(audit_rows("m", "e", "value_in_answer", kv_examples, recorded, again, 0), True)


def test_batches_of_the_plain_engine_give_the_answers_of_one_prompt_at_a_time(kv_examples, tmp_path):
    sweep(Engine, kv_examples, tmp_path)
    again, _ = ask_again(kv_examples, tmp_path)
    table = compare(kv_examples, tmp_path, again)
    assert table["n"].tolist() == [5, 5, 5] and table["n_flips_text"].sum() == table["n_flips_correct"].sum() == 0
    # None of 5 is not proof: Clopper-Pearson's upper limit, 1 - 0.025 ** (1 / 5).
    assert table["flip_rate_text_ci_high"].tolist() == pytest.approx([0.5218] * 3, abs=1e-4)
    assert audit_findings(table) == ["m on e, size 6: no flips in 15 answers to 5 questions"]


def test_flips_of_text_that_change_no_verdict_are_told_apart(kv_examples, tmp_path):
    sweep(Engine, kv_examples, tmp_path)
    again, _ = ask_again(kv_examples, tmp_path)
    table = compare(kv_examples, tmp_path, [replace(one, text=f"{one.text} ") for one in again])
    assert table["n_flips_text"].tolist() == [5, 5, 5] and table["n_flips_correct"].tolist() == [0, 0, 0]


def test_an_engine_whose_answers_change_is_found_at_its_position(kv_examples, tmp_path):
    sweep(ForgetfulEngine, kv_examples, tmp_path)
    again, _ = ask_again(kv_examples, tmp_path)
    table = compare(kv_examples, tmp_path, again)
    assert dict(zip(table["position"], table["n_flips_text"], strict=True)) == {0: 0, 2: 0, 5: 5}
    # By chance all five would be at one of three positions once in 81 times.
    assert table["flip_rate_text_p_value"].iloc[0] == pytest.approx(1 / 81, abs=0.01)
    (finding,) = audit_findings(table)
    assert "5 of 15 answers to 5 questions differ in text (gold_at_5 5/5)" in finding and "p = 0.0" in finding


def test_an_audit_resumes_and_a_larger_one_asks_only_new_prompts(kv_examples, tmp_path):
    sweep(Engine, kv_examples, tmp_path)
    _, said = ask_again(kv_examples, tmp_path, per_cell=3)
    assert "the audit asks 9 prompts again" in said
    journal = tmp_path / "audit_journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    _, said = ask_again(kv_examples, tmp_path, per_cell=4)
    assert "the audit asks 4 prompts again" in said
    again, said = ask_again(kv_examples, tmp_path, per_cell=4)
    assert "the audit asks 0 prompts again" in said and len(again) == 12


def test_doctor_estimate_and_audit_around_a_run(new_bench):
    bench = new_bench
    experiments = {"kv": {**CONFIG["define"]["experiments"]["kv"], "positions": {4: [0, 3]}}}
    config = {"models": ["reference"], "experiments": ["kv"], "audit": {"prompts_per_cell": 2}}
    bench.configure({**config, "define": {"experiments": experiments}})
    journal = bench.path("results/journal/reference/kv.jsonl")

    def printed(target: str) -> str:
        done = bench.snakemake(target)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = printed("doctor")
    assert "reference: memory" in said and " 0 missing" in said and not bench.path("results/examples").exists()
    assert "a rule of thumb for 1 processor core" in printed("estimate") and not journal.exists()
    assert "reference on kv, size 4: no flips in 4 answers to 2 questions" in printed("audit")
    audit = pd.read_csv(bench.path("results/tables/audit.csv"))
    assert audit["placement"].tolist() == ["gold_at_0", "gold_at_3"]
    answers = journal.read_bytes()

    # Always made, and it sees that the journal has grown, which no input says.
    assert set(bench.plan("estimate")) == {"estimate_sweep", "estimate"}
    printed("estimate")
    assert pd.read_csv(bench.path("results/estimate.csv"))["answered"].tolist() == [6, 6]
    assert set(bench.plan("estimate")) == {"estimate"} and journal.read_bytes() == answers
    assert bench.asked("kv", "reference") == (6, 0)
    assert not {"ask_again", "audit", "doctor", "estimate"} & set(bench.plan())


def test_the_audit_of_several_sweeps_is_printed_sweep_by_sweep(tmp_path, kv_examples):
    records = responses([example.id for example in kv_examples[:COUNT]], [f"gold_at_{at}" for at in POSITIONS], SIZE)
    audited = [audit_rows(name, "e", "value_in_answer", kv_examples, records, records, 0) for name in ("a", "b")]
    write_csv(tmp_path / "audit.csv", [row for rows in audited for row in rows])
    done = run_program("audit", "--table", tmp_path / "audit.csv")
    assert [line.split(" ")[0] for line in done.stdout.splitlines()[:2]] == ["a", "b"], done.stderr
