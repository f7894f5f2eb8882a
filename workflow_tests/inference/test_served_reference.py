"""`transformers serve` with the reference model gives the local engine's answers."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from local_engines import SETTINGS, answers, kv_prompts
from transformers import AutoTokenizer
from waiting import HANG, wait_until

from litm.base.formats import read_json, write_json
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, FIRST_LINE
from litm.inference.stopping import line_end
from litm.prompting.prompt_format import CHAT, RAW
from litm.prompting.reasoning import Reasoning
from litm.records import STOP, Response

TEMPLATE = "{% for m in messages %}{{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """The reference model with a chat template, which it has none of."""
    folder = tmp_path_factory.mktemp("model") / "reference"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    """The address of the server, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    words = ["serve", "--host", "127.0.0.1", "--port", port, "--device", "cpu", "--dtype", "float32"]
    program = Path(sys.executable).with_name("transformers")
    with log.open("wb") as lines:
        server = subprocess.Popen(
            [program, *map(str, words)], stdout=lines, stderr=lines, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(HANG)


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    def answers() -> bool:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=HANG):
                return True
        except OSError:
            return False

    wait_until(answers, log.read_text)


def cut(response: Response) -> Response:
    """What is written of a server's response where answers end with their first line."""
    end = line_end(response.text, Reasoning())
    return response if end is None else replace(response, text=response.text[:end], finish_reason=STOP)


def check_the_same(url: str, model: Path, contents: list, **changes: object) -> list:
    """Both engines' answers, checked to be equal, except for their counts of answer tokens and `made_with`, and, with
    the first-line stop rule, for the text after the line end within one token.
    """
    settings = replace(SETTINGS, location=str(model), tokenizer=str(model), **changes)
    served = answers(replace(settings, base_url=url, concurrency=4), contents, "openai")
    if settings.stop == FIRST_LINE:
        served = [cut(one) for one in served]
    local = answers(settings, contents)
    tokenizer = AutoTokenizer.from_pretrained(model)
    pieces = tokenizer.batch_decode([[id] for id in range(len(tokenizer))])
    for one, other in zip(served, local, strict=True):
        unknown = {"response_tokens": one.response_tokens, "made_with": one.made_with}
        if changes.get("stop") == FIRST_LINE and one.text != other.text:
            rest = other.text.removeprefix(one.text)
            assert one.text.endswith("\n") and rest != other.text
            assert any(piece.endswith("\n" + rest) for piece in pieces)
            unknown["text"] = one.text
        assert one == replace(other, **unknown)
    return served


def test_completions_are_those_of_the_local_engine(url, model):
    pairs = [pair for size in (2, 3, 5) for pair in kv_prompts(size, 10)]
    prompts = [prompt for prompt, _ in pairs]
    served = check_the_same(url, model, prompts, endpoint=COMPLETIONS_ENDPOINT, prompt_template=RAW, max_new_tokens=30)
    assert len(set(prompts)) == 30
    assert sum(value in one.text for (_, value), one in zip(pairs, served, strict=True)) >= 27
    assert served[0].made_with.startswith("openai ") and f", {url}, " in served[0].made_with


@pytest.mark.slow
def test_first_lines_and_cut_answers_are_those_of_the_local_engine(url, model, tmp_path):
    # In the vocabulary of this copy the quotation mark after a value is a line end, and answers continue after it.
    spoken = shutil.copytree(model, tmp_path / "lines")
    words = read_json(spoken / "tokenizer.json")
    vocabulary = words["model"]["vocab"]
    vocabulary['"'], vocabulary["Ċ"] = vocabulary["Ċ"], vocabulary['"']
    write_json(spoken / "tokenizer.json", words)
    for name, end in (("generation_config", {"eos_token_id": 1}), ("tokenizer_config", {"eos_token": "<|pad|>"})):
        write_json(spoken / f"{name}.json", {**read_json(spoken / f"{name}.json"), **end})
    prompts = [prompt for prompt, _ in kv_prompts(3, 20)]
    changes = {"endpoint": COMPLETIONS_ENDPOINT, "prompt_template": RAW, "max_new_tokens": 30}
    whole = check_the_same(url, spoken, prompts, **changes)
    first = check_the_same(url, spoken, prompts, stop=FIRST_LINE, **changes)
    assert sum(one.text != other.text for one, other in zip(whole, first, strict=True)) >= 5


@pytest.mark.slow
def test_chats_are_those_of_the_local_engine(url, model):
    prompts = [prompt for prompt, _ in kv_prompts(4, 10)]
    before = [{"role": "user", "content": "Extract the value."}, {"role": "assistant", "content": "Yes."}]
    conversations = [[*before, {"role": "user", "content": prompt}] for prompt in prompts]
    check_the_same(
        url, model, [*prompts, *conversations], endpoint=CHAT_ENDPOINT, prompt_template=CHAT, max_new_tokens=30
    )
