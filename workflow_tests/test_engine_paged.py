"""Paged attention: the answers of one prompt at a time, and no page computed twice."""

import random
from dataclasses import replace

import pytest
from conftest import ROOT
from families import save_model

from litm.engines import EngineSettings, Prepared, load_engine
from litm.engines.transformers_paged import PAGE_TOKENS
from litm.errors import UserError
from litm.journal import Response
from litm.prefix_tree import tree_tokens

SETTINGS = EngineSettings(
    location=str(ROOT / "resources" / "reference_model"),
    revision=None,
    tokenizer=None,
    prompt_template="raw",
    template=None,
    max_new_tokens=8,
    stop="end_token",
    dtype="float32",
    device="cpu",
    batch_tokens=6000,
)


def prompts_with_common_beginnings(count: int) -> list[list[int]]:
    rng = random.Random(0)
    common = [rng.randrange(5, 1500) for _ in range(300)]
    return [
        common[: rng.randrange(300)] + [rng.randrange(5, 1500) for _ in range(rng.randrange(1, 90))]
        for _ in range(count)
    ]


def answers(name: str, settings: EngineSettings, prompts: list[list[int]]) -> tuple[list[Response], int | None]:
    """The answer to each prompt, and how many prompt tokens were computed."""
    engine = load_engine(name, settings)
    found = dict(pair for batch in engine.generate([Prepared("", ids) for ids in prompts]) for pair in batch)
    return [found[index] for index in range(len(prompts))], engine.computed_tokens


def test_prompts_in_flight_together_give_the_answers_of_one_at_a_time_and_no_page_is_computed_twice():
    prompts = prompts_with_common_beginnings(40)
    alone, _ = answers("transformers", replace(SETTINGS, batch_tokens=1), prompts)
    for batch_tokens in (900, 6000):
        together, computed = answers("transformers_paged", replace(SETTINGS, batch_tokens=batch_tokens), prompts)
        assert together == alone
        assert computed == tree_tokens(prompts, PAGE_TOKENS) < sum(map(len, prompts)) / 2


def test_an_encoder_decoder_is_refused(tmp_path):
    save_model("t5", tmp_path)
    with pytest.raises(UserError, match="is an encoder-decoder: set the model's 'engine' to transformers"):
        answers("transformers_paged", replace(SETTINGS, location=str(tmp_path)), [[5, 6]])
