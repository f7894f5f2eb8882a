"""The generate program after kills and torn journals, and what it says."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from echo_engine import EchoEngine
from litm.inference.journal import Journal
from programs import load_program, refused, run_program
from sweeps import COUNT, MODEL, PROGRAM, journal_records, kv_examples, local_sweep
from waiting import wait_until

from litm.base.json_files import read_json, read_jsonl, write_json
from litm.base.store import canonical_json
from litm.models import devices
from litm.models.identity import FileDigests, folder_identity
from litm.prompting.reasoning import STRIP, Reasoning

generate = load_program("generate")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """A folder with the examples of one cell and the model's identity."""
    folder = kv_examples(tmp_path_factory.mktemp("inputs"))
    write_json(folder / "source.json", dict(local_sweep(folder).source))
    return folder


def words(inputs: Path, folder: Path, dtype: str = "float32") -> list[str]:
    return local_sweep(inputs, dtype=dtype).words(folder, inputs / "source.json")


def run(inputs: Path, folder: Path, *more: object) -> subprocess.CompletedProcess:
    return run_program("generate", *words(inputs, folder), *more)


#: The program, whose third batch never ends, so that a signal comes while answers are missing on any machine.
HELD = """
import runpy, sys, threading
script, *words = sys.argv[1:]
sys.argv[:] = [script, *words]
sys.path.insert(0, script.rpartition("/")[0])
from litm.local import generation
compute, begun = generation.generate_batch, []
def held(*batch):
    begun.append(batch)
    if len(begun) > 2:
        threading.Event().wait()
    return compute(*batch)
generation.generate_batch = held
runpy.run_path(script, run_name="__main__")
"""


@pytest.fixture(scope="module")
def undisturbed(inputs, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run(inputs, folder)
    assert done.returncode == 0, done.stderr
    assert f"{COUNT} prompts asked, 0 reused" in done.stderr
    return folder


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_or_terminated_run_resumes_and_ends_in_the_same_bytes(inputs, undisturbed, tmp_path, number):
    journal, is_torn = tmp_path / "journal.jsonl", number == signal.SIGKILL
    # One thread, which answers two prompts a batch: of two threads each would answer one.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", HELD, PROGRAM, *words(inputs, tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    wait_until(lambda: len(journal_records(journal)) == 4 or process.poll() is not None)
    process.send_signal(number)
    said = process.communicate()[1]
    assert len(journal_records(journal)) == 4 and [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    if is_torn:
        # The crash also tore the last line.
        journal.write_bytes(journal.read_bytes()[:-9])
    else:
        end = "stopped by SIGTERM: what was finished is kept, run the same command again to continue"
        assert process.returncode == 1 and "Traceback" not in said and said.splitlines()[-1] == end
    done = run(inputs, tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("is incomplete (a run was interrupted), it is asked again" in done.stderr) == is_torn
    assert f"{COUNT - 4 + is_torn} prompts asked, {4 - is_torn} reused" in done.stderr
    assert (tmp_path / "responses.jsonl.gz").read_bytes() == (undisturbed / "responses.jsonl.gz").read_bytes()


def test_the_manifest_says_what_the_responses_are_of(undisturbed):
    manifest = read_json(undisturbed / "manifest.json")
    assert manifest["identity_fields"]["source"] == folder_identity(MODEL)
    assert manifest["identity_fields"]["model"]["dtype"] == "float32"
    assert manifest["prompts"] == COUNT and manifest["prompt_tokens"] > COUNT * 400
    (made_with,) = manifest["made_with"]
    assert made_with.startswith("transformers 5.") and made_with.endswith(", cpu")
    assert manifest["made_with"][made_with] == COUNT
    assert "/" not in json.dumps(manifest["identity_fields"])


@pytest.fixture
def run_here(inputs, tmp_path, monkeypatch):
    """Run the program here, with an engine that answers every `each`-th prompt, and more arguments; the journal lies
    in `tmp_path`.
    """

    def run(*arguments: str, each: int = 1, dtype: str = "float32") -> None:
        monkeypatch.setattr(generate, "load_engine", lambda name, settings: EchoEngine(each=each))
        monkeypatch.setattr(sys, "argv", [str(PROGRAM), *words(inputs, tmp_path, dtype), *arguments])
        generate.main()

    return run


def test_prompts_that_do_not_fit_are_one_line_on_demand_before_anything_is_asked(run_here, tmp_path):
    said = refused(run_here, "--on-overflow", "fail", "--context-window", "300")
    assert re.match(r"m/e: \d+ prompts of size 12, gold_at_3 do not fit: the longest", said)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"journal.jsonl": b""}


def test_a_model_replaced_after_it_was_identified_is_refused_before_anything_is_asked(inputs, model_folder, tmp_path):
    """Weights of another length, with the time of the first."""
    own_inputs, file = Path(shutil.copytree(inputs, tmp_path / "inputs")), model_folder / "model.safetensors"
    write_json(own_inputs / "source.json", {**read_json(inputs / "source.json"), "location": str(model_folder)})
    folder_identity(model_folder, FileDigests(tmp_path / "digests", str(model_folder)).sha256)
    before = file.stat()
    file.write_bytes(file.read_bytes() + b" ")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = run(own_inputs, tmp_path, "--digests", tmp_path / "digests")
    assert done.returncode == 1 and not journal_records(tmp_path / "journal.jsonl")
    assert re.search(
        r"^error: model m \(.*\): model.safetensors has changed since the model was identified"
        r".*; run again with `--forcerun identify_model`$",
        done.stderr.splitlines()[-1],
    )


def test_the_last_line_and_the_manifest_say_why_prompts_were_asked_again(run_here, undisturbed, tmp_path, capsys):
    (tmp_path / "journal.jsonl").write_bytes((undisturbed / "journal.jsonl").read_bytes())
    run_here(dtype="bfloat16")
    assert read_json(tmp_path / "manifest.json")["asked_because"] == {"model.dtype": ["float32", "bfloat16"]}
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == "m/e: asked because model.dtype was float32 and is bfloat16"
    run_here(dtype="bfloat16")
    assert read_json(tmp_path / "manifest.json")["asked_because"] is None
    assert "asked because" not in capsys.readouterr().err


def test_auto_is_the_format_of_the_machine_which_log_and_manifest_name_and_another_asks_again(
    run_here, tmp_path, monkeypatch, capsys
):
    for flags, dtype, reason in (
        ({"avx512_bf16"}, "bfloat16", "for which this processor has instructions (AVX512_BF16)"),
        ({"avx2"}, "float32", "because this processor has no instructions for bfloat16"),
    ):
        monkeypatch.setattr(devices, "processor_flags", lambda flags=flags: frozenset(flags))
        run_here(dtype="auto")
        manifest = read_json(tmp_path / "manifest.json")
        assert (manifest["identity_fields"]["model"]["dtype"], manifest["asked"]) == (dtype, COUNT)
        assert manifest["number_format"] == f"{dtype}, {reason}"
        assert f"{COUNT} prompts to ask, " in (told := capsys.readouterr().err) and f", in {dtype}, {reason}" in told
    assert manifest["asked_because"] == {"model.dtype": ["bfloat16", "float32"]}


@pytest.mark.parametrize("arguments", [(), ("--on-failure", "stop")])
def test_prompts_without_an_answer_stop_the_sweep_and_all_answers_are_kept(run_here, tmp_path, arguments):
    assert refused(lambda: run_here(*arguments, each=2)) == (
        f"{COUNT // 2} of {COUNT} prompts got no answer; the others are kept, run the same command again or set the "
        "model's on_failure to count"
    )
    assert len(journal_records(tmp_path / "journal.jsonl")) == COUNT // 2
    assert not (tmp_path / "responses.jsonl.gz").exists() and not (tmp_path / "manifest.json").exists()


def test_prompts_without_an_answer_are_counted_on_demand_and_the_next_run_asks_only_them(run_here, tmp_path, capsys):
    for failed, asked in ((12, 24), (6, 12), (3, 6), (1, 3)):
        run_here("--on-failure", "count", each=2)
        manifest = read_json(tmp_path / "manifest.json")
        assert (manifest["asked"], manifest["reused"], manifest["failed"]) == (asked, COUNT - asked, failed)
        responses = [response for _, response in read_jsonl(tmp_path / "responses.jsonl.gz")]
        unanswered = [response for response in responses if response["finish_reason"] == "failed"]
        assert (len(responses), len(unanswered)) == (COUNT, failed)
        assert all(response["response"] is None and response["prompt_tokens"] > 400 for response in unanswered)
        assert len(journal_records(tmp_path / "journal.jsonl")) == COUNT - failed
        told = capsys.readouterr().err.splitlines()[-1]
        assert told.startswith(f"m/e: {failed} of those asked got no answer") and "--forcerun generate" in told


def test_scoring_the_answer_after_the_reasoning_asks_nothing_again_without_a_word_of_failures(
    inputs, undisturbed, tmp_path
):
    (tmp_path / "journal.jsonl").write_bytes((undisturbed / "journal.jsonl").read_bytes())
    settings = {**local_sweep(inputs).settings, **Reasoning(STRIP).settings()}
    done = run(inputs, tmp_path, "--settings", canonical_json(settings), "--on-failure", "count")
    assert f"0 prompts asked, {COUNT} reused" in done.stderr and "failed" not in done.stderr
    files = (folder / "responses.jsonl.gz" for folder in (undisturbed, tmp_path))
    before, after = ([record for _, record in read_jsonl(file)] for file in files)
    assert after == [{**record, "answer": record["response"]} for record in before]
    assert "with_reasoning" not in read_json(undisturbed / "manifest.json")
    with Journal(tmp_path / "journal.jsonl") as journal:
        (identity,) = journal.identities.values()
        journal.append(identity, [(key, replace(one, text="<think>")) for key, one in journal.responses.items()])
    run(inputs, tmp_path)
    assert read_json(tmp_path / "manifest.json")["with_reasoning"] == COUNT
