"""The generate program after kills, torn journals, full disks and missing devices."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import load_program, refused, run_program
from sweeps import COUNT, MODEL, kv_examples, local_sweep
from waiting import wait_until

from litm.base.formats import read_json, read_jsonl, write_json
from litm.base.messages import UserError
from litm.base.store import canonical_json
from litm.inference.engine import Prepared
from litm.models import devices
from litm.models.identity import FileDigests, folder_identity
from litm.prompting.reasoning import STRIP, Reasoning
from litm.records import Response

generate = load_program("generate")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """A folder with the examples of one cell and the model's identity."""
    folder = kv_examples(tmp_path_factory.mktemp("inputs"))
    write_json(folder / "source.json", dict(local_sweep(folder).source))
    return folder


def command(inputs: Path, folder: Path, dtype: str = "float32") -> list[str]:
    return local_sweep(inputs, dtype=dtype).command(folder, inputs / "source.json")


def run(inputs: Path, folder: Path) -> subprocess.CompletedProcess:
    return run_program("generate", *command(inputs, folder)[2:])


def responses_in(journal: Path) -> int:
    return sum('"key"' in line for line in journal.read_text().splitlines()) if journal.exists() else 0


#: The program, whose third batch never ends, so that a signal comes while answers are missing on any machine.
HELD = """
import runpy, sys, threading
script, *words = sys.argv[1:]
sys.argv[:] = [script, *words]
sys.path.insert(0, script.rpartition("/")[0])
from litm.inference import generation
compute, begun = generation.generate_batch, []
def held(*batch):
    begun.append(batch)
    if len(begun) > 2:
        threading.Event().wait()
    return compute(*batch)
generation.generate_batch = held
runpy.run_path(script, run_name="__main__")
"""


def kill_after_four(inputs: Path, folder: Path, number: signal.Signals) -> subprocess.CompletedProcess:
    """Run, and send a signal once the four responses of two batches are in the journal."""
    words = [sys.executable, "-c", HELD, *command(inputs, folder)[1:]]
    # One thread, which answers two prompts a batch: of two threads each would answer one.
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    wait_until(lambda: responses_in(folder / "journal.jsonl") == 4 or process.poll() is not None)
    os.kill(process.pid, number)
    said = process.communicate()[1]
    return subprocess.CompletedProcess(words, process.returncode, "", said)


@pytest.fixture(scope="module")
def undisturbed(inputs, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run(inputs, folder)
    assert done.returncode == 0, done.stderr
    assert f"{COUNT} prompts asked, 0 reused" in done.stderr
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_or_terminated_run_resumes_and_ends_in_the_same_bytes(inputs, undisturbed, tmp_path, number):
    killed = kill_after_four(inputs, tmp_path, number)
    journal, is_torn = tmp_path / "journal.jsonl", number == signal.SIGKILL
    assert responses_in(journal) == 4 and [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    if is_torn:
        # The crash also tore the last line.
        journal.write_bytes(journal.read_bytes()[:-9])
    else:
        assert killed.returncode == 1 and "Traceback" not in killed.stderr
        assert killed.stderr.splitlines()[-1] == (
            "stopped by SIGTERM: what was finished is kept, run the same command again to continue"
        )
    done = run(inputs, tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("is incomplete (a run was interrupted), it is asked again" in done.stderr) == is_torn
    assert f"{COUNT - 4 + is_torn} prompts asked, {4 - is_torn} reused" in done.stderr
    assert (tmp_path / "responses.jsonl.gz").read_bytes() == (undisturbed / "responses.jsonl.gz").read_bytes()


def test_running_again_asks_nothing_and_gives_the_same_bytes_without_a_word_of_failures(inputs, undisturbed):
    before = (undisturbed / "responses.jsonl.gz").read_bytes()
    done = run_program("generate", *command(inputs, undisturbed)[2:], "--on-failure", "count")
    assert f"0 prompts asked, {COUNT} reused" in done.stderr and "failed" not in done.stderr
    assert (undisturbed / "responses.jsonl.gz").read_bytes() == before


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
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk with room for 4 kB, where this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_one_line_and_what_was_answered_is_kept(inputs, undisturbed, small_disk):
    done = subprocess.run(command(inputs, small_disk), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: no space left on the disk ({small_disk}/journal.jsonl)")
    assert "Traceback" not in done.stderr
    kept = responses_in(small_disk / "journal.jsonl")
    assert 4 <= kept < COUNT

    subprocess.run(["mount", "-o", "remount,size=1m", small_disk], check=True)
    done = run(inputs, small_disk)
    assert f"{COUNT - kept} prompts asked, {kept} reused" in done.stderr
    assert (small_disk / "responses.jsonl.gz").read_bytes() == (undisturbed / "responses.jsonl.gz").read_bytes()


class FakeEngine:
    """Answers every `each`-th prompt that it is asked, as a server may."""

    computed_tokens = None
    is_loading = False

    def __init__(self, each=1):
        self.each = each

    def prepare(self, contents):
        return [Prepared(text, [0] * len(text)) for text in contents]

    def generate(self, prompts):
        pairs = enumerate(prompts)
        yield [(n, Response("x", "stop", one.tokens, 1, "fake")) for n, one in pairs if n % self.each == 0]


@pytest.fixture
def run_here(inputs, tmp_path, monkeypatch):
    """Run the program here, with an engine that answers every `each`-th prompt, and more arguments; the journal lies
    in `tmp_path`.
    """

    def run(*arguments: str, each: int = 1, dtype: str = "float32") -> None:
        monkeypatch.setattr(generate, "load_engine", lambda name, settings: FakeEngine(each))
        monkeypatch.setattr(sys, "argv", [*command(inputs, tmp_path, dtype=dtype)[1:], *arguments])
        generate.main()

    return run


def test_prompts_that_do_not_fit_are_one_line_on_demand_before_anything_is_asked(run_here, tmp_path):
    with pytest.raises(UserError, match=r"^m/e: \d+ prompts of size 12, gold_at_3 do not fit: the longest"):
        run_here("--on-overflow", "fail", "--context-window", "300")
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    assert (tmp_path / "journal.jsonl").read_bytes() == b""


def test_a_model_replaced_after_it_was_identified_is_refused_before_anything_is_asked(inputs, model_folder, tmp_path):
    """Weights of another length, with the time of the first."""
    own_inputs, file = Path(shutil.copytree(inputs, tmp_path / "inputs")), model_folder / "model.safetensors"
    write_json(own_inputs / "source.json", {**read_json(inputs / "source.json"), "location": str(model_folder)})
    folder_identity(model_folder, FileDigests(tmp_path / "digests", str(model_folder)).sha256)
    before = file.stat()
    file.write_bytes(file.read_bytes() + b" ")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = run_program("generate", *command(own_inputs, tmp_path)[2:], "--digests", tmp_path / "digests")
    assert done.returncode == 1 and responses_in(tmp_path / "journal.jsonl") == 0
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
    assert responses_in(tmp_path / "journal.jsonl") == COUNT // 2
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
        assert responses_in(tmp_path / "journal.jsonl") == COUNT - failed
        told = capsys.readouterr().err.splitlines()[-1]
        assert told.startswith(f"m/e: {failed} of those asked got no answer") and "--forcerun generate" in told


def test_scoring_the_answer_after_the_reasoning_asks_nothing_again(inputs, undisturbed, tmp_path):
    (tmp_path / "journal.jsonl").write_bytes((undisturbed / "journal.jsonl").read_bytes())
    words = command(inputs, tmp_path)
    place = words.index("--settings") + 1
    words[place] = canonical_json({**json.loads(words[place]), **Reasoning(STRIP).settings()})
    done = run_program("generate", *words[2:])
    assert f"0 prompts asked, {COUNT} reused" in done.stderr
    before, after = (
        [record for _, record in read_jsonl(folder / "responses.jsonl.gz")] for folder in (undisturbed, tmp_path)
    )
    assert after == [{**record, "answer": record["response"]} for record in before]
