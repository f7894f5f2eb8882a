"""The prefix cache: shared prefixes are kept, and answers do not change."""

from functools import wraps
from inspect import Parameter, Signature

import pytest
import torch
from engine_settings import changed_settings
from families import FAMILIES, GROUPED, IDS, SHAPE, WORDS, random_prompts, related_prompts, save_model
from local_engines import CPU_ERROR, TINY, answered, prepared
from transformers import (
    DeepseekV3Config,
    DeepseekV3ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MptForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    Phi3Config,
    Phi3ForCausalLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForCausalLM,
    RwkvConfig,
    RwkvForCausalLM,
)

from litm.engines.interface import EAGER, EngineSettings
from litm.engines.registry import load_engine
from litm.local import prefix_sharing
from litm.local.prefix_sharing import GroupedLayer, KeptCache, RoomyLayer
from litm.prompting.prefix_tree import tree_tokens
from litm.records.responses import Response

#: Families with sliding windows, and one with an encoder.
CANNOT_KEEP = ("mistral", "gemma3", "t5")


def answers(settings: EngineSettings, prompts: list[list[int]], **changes: object) -> tuple[list[Response], int | None]:
    """The answer to each prompt, exactly one each, and the prompt tokens computed."""
    engine = load_engine("transformers", changed_settings(settings, **changes))
    return answered(engine, prepared(prompts)), engine.computed_tokens


def read_whole(settings: EngineSettings, prompts: list[list[int]]) -> list[Response]:
    """The answers to prompts that share nothing and are read one at a time."""
    return answers(settings, prompts, share_prefixes=False, batch_tokens=1)[0]


@pytest.fixture(autouse=True)
def _no_prompt_is_short(monkeypatch):
    monkeypatch.setattr(prefix_sharing, "SHORT", 0)
    monkeypatch.setattr(prefix_sharing, "SHORT_TO_JOIN", 0)


#: Families that share have both pieces and both budgets, and each pair of these has two families. The others read
#: prompts whole.
PIECES_AND_BUDGETS = [
    *[(family, *pair) for family in ("llama", "gpt_neox") for pair in ((7, 600), (1024, 1))],
    *[(family, *pair) for family in ("qwen2", "mpt") for pair in ((7, 1), (1024, 600))],
    *[(family, 7, 600) for family in CANNOT_KEEP],
]


def test_every_family_is_among_those_whose_answers_are_compared():
    assert {family for family, *_ in PIECES_AND_BUDGETS} == set(FAMILIES)


@pytest.mark.parametrize(("family", "piece", "batch_tokens"), PIECES_AND_BUDGETS)
def test_answers_are_those_without_sharing_and_only_the_tree_is_computed(
    settings_of, monkeypatch, family, piece, batch_tokens
):
    monkeypatch.setattr(prefix_sharing, "can_join", lambda model: False)
    monkeypatch.setattr(prefix_sharing, "PIECE", piece)
    settings, prompts = settings_of(family), related_prompts(40)
    expected, all_tokens = answers(settings, prompts, share_prefixes=False)
    found, computed = answers(settings, prompts, batch_tokens=batch_tokens)
    assert found == expected
    assert len({response.text for response in found}) > len(prompts) / 2
    assert all_tokens == sum(map(len, prompts))
    assert computed == (all_tokens if family in CANNOT_KEEP else tree_tokens(prompts))


def renamed(model: PreTrainedModel, name: str) -> None:
    """Let the model take its cache under another name."""
    forward = model.forward

    def under_another_name(input_ids=None, position_ids=None, logits_to_keep=0, **more):
        cache = more.pop(name, None)
        return forward(
            input_ids=input_ids, position_ids=position_ids, logits_to_keep=logits_to_keep, past_key_values=cache
        )

    named = Parameter(name, Parameter.KEYWORD_ONLY)
    plain = [Parameter(one, Parameter.POSITIONAL_OR_KEYWORD) for one in ("input_ids", "position_ids", "logits_to_keep")]
    under_another_name.__signature__ = Signature([*plain, named])  # type: ignore[attr-defined]
    model.forward = under_another_name


@pytest.mark.parametrize(("name", "is_known"), [("cache", True), ("past_key_values", True), ("memory", False)])
def test_a_model_is_given_its_cache_under_the_name_that_it_has_for_it(name, is_known):
    """transformers 5.24 has another one than 5.23."""
    model = LlamaForCausalLM(LlamaConfig(**GROUPED)).eval()
    renamed(model, name)
    assert prefix_sharing.why_not_kept(model) == ("" if is_known else "it takes no cache")
    if is_known:
        cache = KeptCache(model, 20, 4)
        with cache.of_prompts([[5, 6, 7, 8, 9], [5, 6, 7, 9, 8]]):
            pass
        assert cache.cache_argument == name


@pytest.mark.parametrize(
    ("family", "reason"),
    [("t5", "it is an encoder-decoder"), ("mistral", "a layer keeps a sliding window or a running summary")],
)
def test_prefixes_that_are_not_shared_are_said_with_the_reason(settings_of, capsys, family, reason):
    answers(settings_of(family), related_prompts(4))
    assert f"; prefixes are not shared, because {reason}" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    ("family", "batch_tokens"), [("llama", 1), ("llama", 600), ("llama", 10**6), ("qwen2", 600), ("gpt_neox", 10**6)]
)
def test_joined_attention_gives_the_same_answers_and_computes_hardly_more_than_the_tree(
    settings_of, monkeypatch, family, batch_tokens
):
    settings, prompts = settings_of(family), related_prompts(200)
    expected = read_whole(settings, prompts)
    attend, lengths = GroupedLayer.attend, set()

    def counted(self, query, scale):
        lengths.add(len(query))
        return attend(self, query, scale)

    monkeypatch.setattr(GroupedLayer, "attend", counted)
    found, computed = answers(settings, prompts, batch_tokens=batch_tokens)
    assert found == expected
    # It is tried with two; one prompt alone has no group.
    assert max(lengths) == {1: 2, 600: 8, 10**6: 200}[batch_tokens]
    # In prompts of fifty tokens, the four that groups may recompute are many, and so are those that a batch forgets.
    assert tree_tokens(prompts) <= computed <= tree_tokens(prompts) * {1: 1, 600: 1.11, 10**6: 1.05}[batch_tokens]


def test_the_same_prompt_and_its_beginning_are_answered_too(settings_of):
    whole = related_prompts(4)[0]
    prompts = [whole, whole[:-1], whole, whole[: len(whole) // 2]]
    found, computed = answers(settings_of("llama"), prompts)
    assert found == read_whole(settings_of("llama"), prompts)
    # The output after a prompt is not kept: its last token is computed again, once for equal prompts of a batch.
    assert computed == tree_tokens(prompts) + 1


def deepseek() -> PreTrainedModel:
    """Values of another size than keys: its attention is not joined."""
    shape = DeepseekV3Config(
        **{**GROUPED, "num_key_value_heads": 4}, q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=8,
        v_head_dim=6, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1, moe_intermediate_size=16,
    )  # fmt: skip
    return DeepseekV3ForCausalLM(shape)


def phi3() -> PreTrainedModel:
    """Generates without its cache where a prompt is as long as those of its first training."""
    return Phi3ForCausalLM(Phi3Config(**GROUPED, original_max_position_embeddings=64, sliding_window=None))


def roberta() -> PreTrainedModel:
    """Counts positions in its own way if it is not told them."""
    shape = {**SHAPE, "initializer_range": 0.5, "type_vocab_size": 1, "is_decoder": True, "bos_token_id": 2}
    return RobertaForCausalLM(RobertaConfig(**shape))


def dynamic(first: int) -> PreTrainedModel:
    """Keys depend on the longest context that was read, if longer than `first` tokens, whatever another key says."""
    rotary = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0, "original_max_position_embeddings": 512}
    return LlamaForCausalLM(LlamaConfig(**{**GROUPED, "max_position_embeddings": first, "rope_parameters": rotary}))


def longrope(first: int, window: int | None = None) -> PreTrainedModel:
    """Keys depend on whether the longest prompt of a batch is longer than those of its first training."""
    rotary = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4, "rope_theta": 10000.0}
    return Phi3ForCausalLM(
        Phi3Config(
            **{**GROUPED, "rope_parameters": rotary}, original_max_position_embeddings=first, sliding_window=window
        )
    )


def sliding(window: int) -> PreTrainedModel:
    """A token sees the last `window` tokens."""
    return MistralForCausalLM(MistralConfig(**GROUPED, sliding_window=window))


def rwkv() -> PreTrainedModel:
    """Takes no mask: padding is text."""
    return RwkvForCausalLM(RwkvConfig(vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, **IDS))


def openai_gpt() -> PreTrainedModel:
    """Has no cache."""
    shape = {"vocab_size": len(WORDS), "n_positions": 256, "n_embd": 32, "n_layer": 2, "n_head": 4, **IDS}
    return OpenAIGPTLMHeadModel(OpenAIGPTConfig(**shape, initializer_range=0.5))


@pytest.mark.parametrize(
    ("make", "batch_tokens"),
    [(phi3, 1), (phi3, 600), (roberta, 1), (roberta, 600), (rwkv, 600), (openai_gpt, 600), (deepseek, 600)],
)  # fmt: skip
def test_models_with_special_caches_or_positions_give_the_answers_of_a_prompt_alone(
    tmp_path, monkeypatch, make, batch_tokens
):
    monkeypatch.setitem(FAMILIES, make.__name__, make)
    save_model(make.__name__, tmp_path)
    attention = EAGER if make in (rwkv, openai_gpt) else TINY.keys.attention
    settings, prompts = changed_settings(TINY, location=str(tmp_path), attention=attention), related_prompts(24)
    found = answers(settings, prompts, batch_tokens=batch_tokens)[0]
    # Loaded anew for each, because some models keep the length of the longest prompt so far.
    assert found == [read_whole(settings, [prompt])[0] for prompt in prompts]
    assert len({response.text for response in found}) > 6


@pytest.mark.parametrize("make", [dynamic, longrope, sliding, lambda limit: longrope(limit, window=limit)])
@pytest.mark.parametrize("over", [0, 1, 90])
def test_a_model_shares_prefixes_unless_a_prompt_with_its_answer_exceeds_its_window_or_first_context(
    tmp_path, monkeypatch, make, over
):
    monkeypatch.setattr(prefix_sharing, "can_join", lambda model: False)
    prompts = related_prompts(12)
    limit = max(map(len, prompts)) + TINY.max_new_tokens - over
    monkeypatch.setitem(FAMILIES, "limited", lambda: make(limit))
    save_model("limited", tmp_path)
    settings = changed_settings(TINY, location=str(tmp_path))
    found, computed = answers(settings, prompts, batch_tokens=600)
    # Loaded anew for each, because some models keep the length of the longest prompt so far.
    assert found == [read_whole(settings, [prompt])[0] for prompt in prompts]
    assert computed == (sum(map(len, prompts)) if over else tree_tokens(prompts))


def deep_llama(dtype: torch.dtype) -> PreTrainedModel:
    """As many layers, and a spread of its logits, as small real models have: rounding errors grow with both."""
    torch.manual_seed(0)
    shape = {**GROUPED, "num_hidden_layers": 30, "vocab_size": 5000, "initializer_range": 0.2}
    return LlamaForCausalLM(LlamaConfig(**shape)).to(dtype).eval()


@pytest.mark.parametrize(("factor", "implementation"), [(1.0, "joined"), (1.2, "sdpa")])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_attention_is_joined_in_any_number_format_unless_the_model_then_answers_differently(
    monkeypatch, dtype, factor, implementation
):
    model, attend = deep_llama(dtype), GroupedLayer.attend
    monkeypatch.setattr(GroupedLayer, "attend", lambda self, query, scale: attend(self, query, factor * scale))
    assert KeptCache(model, 3, 10).joins == (implementation == "joined")
    assert model.config._attn_implementation == implementation


def test_attention_is_not_joined_where_the_model_does_it_itself(settings_of, monkeypatch):
    """As MPT does, with what the layer of a cache returns."""
    monkeypatch.setattr(prefix_sharing, "can_join", lambda model: True)
    settings, prompts = settings_of("mpt"), related_prompts(24)
    assert answers(settings, prompts, batch_tokens=800)[0] == read_whole(settings, prompts)


@pytest.mark.parametrize("batch_tokens", [1, 800])
def test_eager_attention_reads_no_more_than_a_piece_of_a_prompt_at_a_time(settings_of, monkeypatch, batch_tokens):
    monkeypatch.setattr(prefix_sharing, "PIECE", 16)
    lengths = []
    forward = MptForCausalLM.forward

    @wraps(forward)
    def recorded(self, input_ids=None, **others):
        lengths.append(input_ids.shape[1])
        return forward(self, input_ids=input_ids, **others)

    monkeypatch.setattr(MptForCausalLM, "forward", recorded)
    answers(settings_of("mpt"), random_prompts(9), batch_tokens=batch_tokens)
    assert max(lengths) == 16


@pytest.mark.parametrize("joins", [True, False])
def test_short_prompts_share_nothing_and_are_answered_like_the_others(settings_of, monkeypatch, joins):
    if not joins:
        monkeypatch.setattr(prefix_sharing, "can_join", lambda model: False)
    settings, prompts = settings_of("llama"), related_prompts(40)
    monkeypatch.setattr(prefix_sharing, "SHORT_TO_JOIN" if joins else "SHORT", 60)
    found, computed = answers(settings, prompts, batch_tokens=800)
    assert found == read_whole(settings, prompts)
    assert tree_tokens(prompts) < computed < sum(map(len, prompts))


def test_nothing_is_lost_when_memory_runs_out_in_the_middle_of_a_prompt(settings_of, monkeypatch, capsys):
    settings, prompts = settings_of("llama"), related_prompts(24)
    expected = read_whole(settings, prompts)
    update, calls = RoomyLayer.update, []

    def fails_once_in_a_later_layer(self, *states, **others):
        calls.append(self)
        if len(calls) == 40:
            assert calls[0] is not self
            raise CPU_ERROR
        return update(self, *states, **others)

    monkeypatch.setattr(RoomyLayer, "update", fails_once_in_a_later_layer)
    assert answers(settings, prompts, batch_tokens=800)[0] == expected
    assert "out of memory" in capsys.readouterr().err
