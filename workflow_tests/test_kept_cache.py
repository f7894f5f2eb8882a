"""Prompts that are read one after the other keep what they have in common, and answer as if they had not."""

from dataclasses import replace

import pytest
from families import ATTENTION, FAMILIES, related_prompts, save_model
from test_engine_families import CPU_ERROR, SETTINGS, prepared
from test_engine_transformers import SETTINGS as REFERENCE
from test_engine_transformers import kv_prompts

from litm import kept_cache
from litm.engines import EngineSettings, load_engine
from litm.journal import Response
from litm.kept_cache import RoomyLayer, reading_order
from litm.prefix_tree import tree_tokens

#: Families with layers that forget, and one that reads prompts by an encoder.
CANNOT_KEEP = ("mistral", "gemma3", "t5")


def answers(settings: EngineSettings, prompts: list[list[int]]) -> tuple[list[Response], int | None]:
    """The answer to each prompt, each of which must come once, and the prompt tokens computed."""
    engine = load_engine("transformers", settings)
    pairs = [pair for batch in engine.generate(prepared(prompts)) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [response for _, response in sorted(pairs, key=lambda pair: pair[0])], engine.computed_tokens


@pytest.fixture(autouse=True)
def _no_prompt_is_short(monkeypatch):
    monkeypatch.setattr(kept_cache, "SHORT", 0)


@pytest.mark.parametrize("batch_tokens", [1, 600])
@pytest.mark.parametrize("piece", [7, 1024])
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_without_sharing_and_only_the_tree_is_computed(
    tmp_path, monkeypatch, family, piece, batch_tokens
):
    monkeypatch.setattr(kept_cache, "PIECE", piece)
    save_model(family, tmp_path)
    prompts = related_prompts(40)
    settings = replace(SETTINGS, location=str(tmp_path), attention=ATTENTION.get(family, SETTINGS.attention))
    expected, all_tokens = answers(replace(settings, share_prefixes=False), prompts)
    found, computed = answers(replace(settings, batch_tokens=batch_tokens), prompts)
    assert found == expected
    assert len({response.text for response in found}) > len(prompts) / 2
    assert all_tokens == sum(map(len, prompts))
    assert computed == (all_tokens if family in CANNOT_KEEP else tree_tokens(prompts))


def test_the_same_prompt_and_its_beginning_are_answered_too(tmp_path):
    save_model("llama", tmp_path)
    whole = related_prompts(4)[0]
    prompts = [whole, whole[:-1], whole, whole[: len(whole) // 2]]
    settings = replace(SETTINGS, location=str(tmp_path))
    found, computed = answers(settings, prompts)
    assert found == answers(replace(settings, share_prefixes=False), prompts)[0]
    # What is said behind a prompt is not kept: its last token is computed again.
    assert computed == tree_tokens(prompts) + 1


def test_the_reference_model_answers_alike_with_and_without_sharing():
    engine = load_engine("transformers", REFERENCE)
    prompts = [
        list(p.ids) for p in engine.prepare([prompt for size in (3, 8, 15) for prompt, _ in kv_prompts(size, 8)])
    ]
    expected, _ = answers(replace(REFERENCE, batch_tokens=1, share_prefixes=False), prompts)
    for budget in (1, 1200, 4096):
        assert answers(replace(REFERENCE, batch_tokens=budget), prompts)[0] == expected


def test_short_prompts_are_read_longest_first_after_the_others(monkeypatch):
    prompts = [[1] * 5, [2, 1, *[1] * 38], [3] * 60, [2, 0, *[1] * 48], [4] * 8]
    monkeypatch.setattr(kept_cache, "SHORT", 30)
    assert reading_order(prompts) == [3, 1, 2, 4, 0]
    monkeypatch.setattr(kept_cache, "SHORT", 55)
    assert reading_order(prompts) == [2, 3, 1, 4, 0]


def test_short_prompts_share_nothing_and_are_answered_like_the_others(tmp_path, monkeypatch):
    save_model("llama", tmp_path)
    prompts = related_prompts(40)
    settings = replace(SETTINGS, location=str(tmp_path), batch_tokens=800)
    expected, _ = answers(replace(settings, batch_tokens=1, share_prefixes=False), prompts)
    monkeypatch.setattr(kept_cache, "SHORT", 60)
    found, computed = answers(settings, prompts)
    assert found == expected
    assert tree_tokens(prompts) < computed < sum(map(len, prompts))


def test_nothing_is_lost_when_memory_runs_out_in_the_middle_of_a_prompt(tmp_path, monkeypatch, capsys):
    save_model("llama", tmp_path)
    prompts = related_prompts(24)
    settings = replace(SETTINGS, location=str(tmp_path), batch_tokens=800)
    expected, _ = answers(replace(settings, batch_tokens=1, share_prefixes=False), prompts)
    update, calls = RoomyLayer.update, []

    def fails_once_in_a_later_layer(self, *states, **others):
        calls.append(self)
        if len(calls) == 40:
            assert calls[0] is not self
            raise CPU_ERROR
        return update(self, *states, **others)

    monkeypatch.setattr(RoomyLayer, "update", fails_once_in_a_later_layer)
    assert answers(settings, prompts)[0] == expected
    assert "out of memory" in capsys.readouterr().err
