"""Paged attention gives the answers of one prompt at a time, and computes what prompts have in common once."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from families import ATTENTION, related_prompts, save_model
from test_engine_families import CPU_ERROR, CUDA_ERROR, NEW_TOKENS, SETTINGS, prepared
from test_engine_transformers import SETTINGS as REFERENCE
from test_engine_transformers import babble, babbler, kv_prompts  # noqa: F401  # babbler is a fixture

from litm.engines import FIRST_LINE, EngineSettings, load_engine
from litm.engines.transformers_paged import PAGE_TOKENS
from litm.errors import UserError
from litm.journal import Response
from litm.paged_steps import PagedSteps, Step
from litm.prefix_tree import tree_tokens
from litm.reasoning import BUDGET, Reasoning

FAMILIES = ("llama", "mistral", "qwen2", "gemma3", "gpt_neox")
#: Families with layers that forget.
SLIDING = ("mistral", "gemma3")
PAGED, PLAIN = "transformers_paged", "transformers"


def answers(name: str, settings: EngineSettings, prompts: Sequence) -> tuple[list[Response], int | None]:
    """The answer to each prompt, each of which must come once, and the prompt tokens computed."""
    engine = load_engine(name, settings)
    asked = engine.prepare(prompts) if isinstance(prompts[0], str) else prepared(prompts)
    pairs = [pair for batch in engine.generate(asked) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [response for _, response in sorted(pairs, key=lambda pair: pair[0])], engine.computed_tokens


def cold(settings: EngineSettings, prompts: Sequence) -> list[Response]:
    """The answers of one prompt at a time with nothing shared."""
    found, _ = answers(PLAIN, replace(settings, batch_tokens=1, share_prefixes=False), prompts)
    return found


@pytest.fixture(scope="module")
def settings_of(tmp_path_factory):
    def settings(family: str) -> EngineSettings:
        folder = tmp_path_factory.mktemp(family)
        save_model(family, folder)
        return replace(
            SETTINGS, location=str(folder), attention=ATTENTION.get(family, SETTINGS.attention), batch_tokens=800
        )

    return settings


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_one_prompt_at_a_time_and_pages_are_shared_where_no_layer_forgets(settings_of, family):
    settings, prompts = settings_of(family), related_prompts(200)
    expected = cold(settings, prompts)
    found, computed = answers(PAGED, settings, prompts)
    assert found == expected
    assert answers(PLAIN, replace(settings, batch_tokens=1), prompts)[0] == expected
    # Or the comparison would show nothing.
    assert len({response.text for response in found}) > len(prompts) / 2
    bound = tree_tokens(prompts, PAGE_TOKENS)
    assert bound < 0.9 * sum(map(len, prompts))
    assert computed == (sum(map(len, prompts)) if family in SLIDING else bound)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_the_reference_model_answers_alike_whatever_is_in_flight(attention):
    prompts = [prompt for size in (3, 8) for prompt, _ in kv_prompts(size, 10)]
    settings = replace(REFERENCE, attention=attention)
    expected = cold(settings, prompts)
    for budget in (1, 3000):
        assert answers(PAGED, replace(settings, batch_tokens=budget), prompts)[0] == expected


def test_stopping_at_the_line_end_gives_what_plain_generate_gives(babbler):  # noqa: F811
    settings = replace(REFERENCE, location=babbler, max_new_tokens=30, batch_tokens=400, stop=FIRST_LINE)
    found, _ = answers(PAGED, settings, babble(60))
    assert found == cold(settings, babble(60))
    # Also lines that begin with a blank one, and answers that are cut by the limit.
    assert any(response.text.startswith("\n") and response.text.strip() for response in found)
    assert {response.finish_reason for response in found} == {"stop", "length"}


def test_pages_that_were_forgotten_are_computed_again(settings_of):
    settings, prompts = settings_of("llama"), related_prompts(60)
    # So little room that what is idle is forgotten all the time.
    found, computed = answers(PAGED, replace(settings, batch_tokens=1), prompts)
    assert found == cold(settings, prompts)
    assert tree_tokens(prompts, PAGE_TOKENS) <= computed < sum(map(len, prompts))


def test_nothing_is_shared_where_nothing_may_be(settings_of):
    settings, prompts = replace(settings_of("llama"), share_prefixes=False), related_prompts(40)
    found, computed = answers(PAGED, settings, prompts)
    assert computed == sum(map(len, prompts))
    assert found == cold(settings, prompts)


def test_models_that_have_no_pages_are_refused_with_the_remedy(settings_of):
    with pytest.raises(UserError, match="t5 is an encoder-decoder: set the model's 'engine' to transformers"):
        answers(PAGED, settings_of("t5"), [[2]])
    with pytest.raises(UserError, match="MptForCausalLM computes attention in a way of its own, without pages: set"):
        answers(PAGED, settings_of("mpt"), [[2]])
    budget = replace(settings_of("llama"), reasoning=Reasoning(BUDGET, 20, ("w2", "w3")))
    with pytest.raises(UserError, match="cannot close a model's reasoning for it: set the model's 'engine'"):
        answers(PAGED, budget, [[2]])


# --- Out of memory ---


def limit_memory(monkeypatch, room: int, error: RuntimeError, after: int = 0) -> list[int]:
    """Make every step but the first `after` fail where more than `room` tokens may be in flight; the rooms tried."""
    rooms: list[int] = []
    make, take = PagedSteps.__init__, PagedSteps.take

    def noted(self, model, decoding, in_flight: int, *rest) -> None:
        rooms.append(in_flight)
        self.steps_taken = 0
        make(self, model, decoding, in_flight, *rest)

    def limited(self) -> Step:
        self.steps_taken += 1
        if rooms[-1] > room and self.steps_taken > after:
            raise error
        return take(self)

    monkeypatch.setattr(PagedSteps, "__init__", noted)
    monkeypatch.setattr(PagedSteps, "take", limited)
    return rooms


@pytest.mark.parametrize("error", [CUDA_ERROR, CPU_ERROR], ids=["cuda", "cpu"])
def test_where_memory_runs_out_half_as_much_is_in_flight_and_no_answer_is_lost(settings_of, monkeypatch, capsys, error):
    settings, prompts = settings_of("llama"), related_prompts(40)
    expected = cold(settings, prompts)
    rooms = limit_memory(monkeypatch, 900, error, after=8)
    assert answers(PAGED, replace(settings, batch_tokens=3000), prompts)[0] == expected
    assert rooms == [3000, 1500, 750]
    assert capsys.readouterr().err.splitlines() == [
        "out of memory on cpu with 3000 tokens in flight: on with 1500 batch_tokens",
        "out of memory on cpu with 1500 tokens in flight: on with 750 batch_tokens",
    ]


def test_a_prompt_that_does_not_fit_the_memory_alone_is_an_error(settings_of, monkeypatch):
    limit_memory(monkeypatch, 0, CUDA_ERROR)
    with pytest.raises(UserError, match=r"single prompt of 50 tokens.*'batch_tokens'.*what was answered is kept"):
        answers(PAGED, settings_of("llama"), [[2] * 40, [4] * 50])


def test_another_error_is_not_taken_for_a_lack_of_memory(settings_of, monkeypatch):
    limit_memory(monkeypatch, 0, RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"))
    with pytest.raises(RuntimeError, match="must match the size"):
        answers(PAGED, settings_of("llama"), [[2], [3]])


def test_an_answer_at_the_limit_of_new_tokens_is_marked_as_cut(settings_of):
    found, _ = answers(PAGED, settings_of("llama"), related_prompts(8))
    assert {response.response_tokens for response in found if response.finish_reason == "length"} == {NEW_TOKENS}
    assert torch.is_inference_mode_enabled() is False
