"""Joined attention over several places equals attention over all keys."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import Cache

from litm.local import joined_attention as joining
from litm.local.prefix_sharing import RoomyLayer

SIZE = 8


def states(prompts: int, heads: int, tokens: int) -> torch.Tensor:
    return torch.randn(prompts, heads, tokens, SIZE)


def expected(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Attention of torch, the tokens of the query being the last ones."""
    tokens = torch.arange(keys.shape[2])
    seen = tokens <= tokens[-query.shape[2] :, None]
    return scaled_dot_product_attention(query, keys, values, attn_mask=seen, scale=0.5, enable_gqa=True)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize(
    ("parts", "heads", "dtype", "size"),
    [
        *((parts, heads, torch.float32, 1) for parts in ((1, 30), (30, 1), (700, 40)) for heads in ((4, 4), (4, 2))),
        pytest.param((4, 5), (1, 1), torch.float32, 100, id="very unlike sums do not overflow"),
        *(((4, 5), (2, 2), dtype, 1) for dtype in (torch.bfloat16, torch.float16, torch.float64)),
    ],
)
def test_two_sets_of_keys_are_joined_as_if_they_were_one_in_the_numbers_of_the_model(parts, heads, dtype, size):
    query, keys = size * states(3, heads[0], 5).to(dtype), size * states(3, heads[1], sum(parts)).to(dtype)
    values = states(3, heads[1], sum(parts)).to(dtype)
    one, other = (
        joining.attention(query, *part, scale=0.5)
        for part in zip(keys.split(parts, dim=2), values.split(parts, dim=2), strict=True)
    )
    exact = (part.double() for part in (query, keys, values))
    whole = scaled_dot_product_attention(*exact, scale=0.5, enable_gqa=True).to(dtype)
    # The parts are rounded, and what is made of them.
    rounding = max(2 * torch.finfo(dtype).eps, 1e-5)
    for found in (joining.joined(one, other), joining.joined(other, one)):
        torch.testing.assert_close(found, whole, rtol=rounding, atol=rounding)
    assert torch.equal(joining.joined(one, joining.attention_to_nothing(query)), one.output)


def test_attention_of_few_does_not_overflow_in_float16():
    query, keys, values = (torch.zeros(1, 1, tokens, SIZE).half() for tokens in (1, 2_000, 2_000))
    found = joining.attention_of_few(query, keys, values + 40, None).output
    torch.testing.assert_close(found, torch.full_like(query, 40))


def test_a_query_that_sees_no_key_gets_zeros_from_few():
    query, keys, values = (states(2, 2, tokens).bfloat16() for tokens in (2, 9, 9))
    mask = torch.zeros(2, 1, 2, 9)
    mask[0, 0, 0] = -torch.inf
    found = joining.attention_of_few(query, keys, values, 0.5, mask)
    assert torch.equal(found.output[0, :, 0], torch.zeros(2, SIZE).bfloat16())
    assert found.output.isfinite().all()
    other = joining.attention(query, keys, values, scale=0.5)
    assert torch.equal(joining.joined(found, other)[0, :, 0], other.output[0, :, 0])
    assert torch.equal(joining.joined(found, joining.attention_to_nothing(query)), found.output)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (4, 1)])
@pytest.mark.parametrize("tokens, before", [(1, 0), (130, 0), (130, 1), (400, 37)])
def test_attention_in_blocks_is_causal_attention_of_the_last_tokens(dtype, heads, tokens, before):
    query, keys, values = (
        states(2, count, length).to(dtype)
        for count, length in zip((heads[0], *heads[1:] * 2), (tokens, tokens + before, tokens + before), strict=True)
    )
    found = joining.attention_in_blocks(query, keys, values, 0.5)
    whole = expected(*(part.double() for part in (query, keys, values)))
    # Scores, weights and the output are rounded.
    rounding = max(4 * torch.finfo(dtype).eps, 1e-5)
    torch.testing.assert_close(found, whole.to(dtype), rtol=rounding, atol=rounding)


def test_blocks_are_for_many_queries_in_bfloat16_and_few_threads(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True, "amx_bf16": False})
    many = states(1, 2, 200).bfloat16()
    assert joining.can_use_blocks(many)
    assert not joining.can_use_blocks(many[:, :, :20]) and not joining.can_use_blocks(many.float())
    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    assert not joining.can_use_blocks(many)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    for lacking in ({}, {"avx512_bf16": True, "amx_bf16": True}):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda lacking=lacking: lacking)
        assert not joining.can_use_blocks(many)


def test_a_step_of_decoding_is_left_to_pytorch_where_its_attention_uses_amx(monkeypatch):
    few = []
    monkeypatch.setattr(joining, "attention_of_few", lambda query, *others: few.append(query.dtype))
    for amx in (True, False):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda amx=amx: {"avx512_bf16": True, "amx_bf16": amx})
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            one = states(1, 2, 1).to(dtype)
            joining.attention(one, one, one, None)
    assert few == [torch.float16, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("more", [{}, {"softcap": 5.0}, {"is_causal": False}])
def test_what_is_not_plain_attention_to_the_cache_is_refused(more):
    layer, query = RoomyLayer(9), states(1, 2, 3)
    module = torch.nn.Module()
    module.layer_idx = 0
    key, value = layer.update(states(1, 2, 3), states(1, 2, 3))
    with joining.attending_to(Cache(layers=[layer])):
        output, _ = joining.joined_attention(module, query, key, value, None)
        torch.testing.assert_close(output.transpose(1, 2), layer.attend(query, None))
        with pytest.raises(joining.NotPlainAttentionError):
            joining.joined_attention(module, query, key if more else key.clone(), value, None, **more)
