"""A sweep that is killed at twenty moments: nothing is lost but the batch at work, and the end is the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_generate import COUNT, command, responses_in
from test_generate import inputs as inputs

#: Prompts of a batch, with the `batch_tokens` of the command.
BATCH = 2
#: The program, with a line in a file for each batch that is begun.
NOTED = """
import runpy, sys
notes, script, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = script
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
import litm.inference.local.batch_generation as generation
compute = generation.generate_batch
def noted(model, prompts, *more):
    with open(notes, "a") as file:
        print(len(prompts), file=file)
    return compute(model, prompts, *more)
generation.generate_batch = noted
runpy.run_path(script, run_name="__main__")
"""


def start(inputs: Path, folder: Path) -> subprocess.Popen:
    words = [sys.executable, "-c", NOTED, str(folder / "batches"), *command(inputs, folder)[1:]]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def begun(folder: Path) -> list[int]:
    """The sizes of the batches that were begun."""
    notes = folder / "batches"
    return [int(line) for line in notes.read_text().splitlines()] if notes.exists() else []


def finish(inputs: Path, folder: Path) -> bytes:
    process = start(inputs, folder)
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return (folder / "responses.jsonl.gz").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(inputs, tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    whole = finish(inputs, folder)
    assert begun(folder) == [BATCH] * (COUNT // BATCH)
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_killed_sweep_computes_at_most_one_batch_twice_and_ends_in_the_same_bytes(
    inputs, undisturbed, tmp_path, seed
):
    rng = random.Random(seed)
    batches, pause = rng.randrange(COUNT // BATCH), rng.uniform(0, 0.2)
    process = start(inputs, tmp_path)
    deadline = time.monotonic() + 120
    while len(begun(tmp_path)) <= batches and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(pause)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert sum(begun(tmp_path)) - responses_in(tmp_path / "journal.jsonl") <= BATCH
    assert finish(inputs, tmp_path) == undisturbed
    assert sum(begun(tmp_path)) <= COUNT + BATCH
