"""Attention and products on a processor, in decoding and reading, here and with PyTorch's operators.

    PYTHONPATH=scripts python benchmarks/attention.py

The shape is that of a layer of SmolLM2-135M: 9 heads, 3 of keys, 64 wide; one thread. Both ways take turns. The error
is the root mean square of the difference from attention in float64, divided by that of its values.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from measuring import in_turns, ratio, spread, table
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from litm.local.generation import LinearOfFew
from litm.local.joined_attention import Attended, attention_in_blocks, attention_of_few
from litm.local.joined_attention import attention as attention_of_any
from litm.local.prefix_sharing import KeptCache, RoomyLayer

HEADS, KEY_HEADS, SIZE = 9, 3, 64
#: Inner and outer size of a product with weights in SmolLM2-135M.
PRODUCT = (576, 1536)
#: Prompts and keys of a step.
STEPS = ((1, 2_000), (10, 1_900), (4, 6_000))
#: Prompts of a step whose products are measured.
ROWS = (1, 4, 10, 16)
#: Layers and vocabulary of the model that reads, and the parts of its layers; layers of SmolLM2-135M, whose weights are
#: larger than a processor's caches.
LAYERS, VOCABULARY, ALL_LAYERS = 4, 1_024, 30
PARTS = ("products", "attention", "activation", "norms", "rotary", "the rest")
#: Tokens that are read at once.
READ = (512, 2_048, 4_096)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9)
    turns = parser.parse_args().turns
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("## A step of decoding, bfloat16, milliseconds a layer\n")
    columns = ["prompts", "keys", "PyTorch's", "this workflow's", "ratio", "error of PyTorch's", "of this workflow's"]
    print(table(columns, (step(*one, turns) for one in STEPS)))
    print("\n## Products of a step, bfloat16, milliseconds a layer\n")
    print(table(["prompts", "PyTorch's", "this workflow's", "ratio"], (products(prompts, turns) for prompts in ROWS)))
    print("\n## Reading, GFLOP a second\n")
    columns = ["number format", "tokens", "PyTorch's", "in blocks", "ratio", "products", "share of blocks"]
    formats = [(dtype, tokens) for dtype in (torch.float32, torch.bfloat16) for tokens in READ]
    print(table(columns, (reading(*one, turns) for one in formats)))
    print("\n## Where the time of reading goes, milliseconds a layer\n")
    columns = ["number format", "tokens", *PARTS, "a layer", "its GFLOP a second", "of products"]
    print(table(columns, (parts(*one, turns) for one in formats)))


def heads(prompts: int, queries: int, keys: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random queries, keys and values."""
    sizes = ((HEADS, queries), (KEY_HEADS, keys), (KEY_HEADS, keys))
    query, key, value = (torch.randn(prompts, *size, SIZE) for size in sizes)
    return query, key, value


def step(prompts: int, keys: int, turns: int) -> list[str]:
    """A row of the first table."""
    half = [one.bfloat16() for one in heads(prompts, 1, keys)]
    exact = torch.nn.functional.scaled_dot_product_attention(*(one.double() for one in half), enable_gqa=True)
    operators: tuple[Callable[[], Attended], Callable[[], Attended]] = (
        lambda: Attended(*torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*half)),
        lambda: attention_of_few(*half, None),
    )
    theirs, ours = in_turns(turns, milliseconds, *operators)
    errors = [f"{float((run().output - exact).norm() / exact.norm()):.4f}" for run in operators]
    return [str(prompts), f"{keys:,}", spread(theirs, 1), spread(ours, 1), ratio(theirs, ours), *errors]


@torch.inference_mode()
def products(prompts: int, turns: int) -> list[str]:
    """A row of the second table."""
    layers = projections(random_model(torch.bfloat16, ALL_LAYERS))
    tokens = {size: torch.randn(prompts, 1, size).bfloat16() for size in PRODUCT}

    def multiply(kind: type[torch.nn.Linear]) -> None:
        for layer in layers:
            layer.__class__ = kind
            layer(tokens[layer.in_features])

    theirs, ours = in_turns(turns, milliseconds, *(partial(multiply, kind) for kind in (torch.nn.Linear, LinearOfFew)))
    a_layer = [spread(one / ALL_LAYERS for one in taken) for taken in (theirs, ours)]
    return [str(prompts), *a_layer, ratio(theirs, ours)]


def reading(dtype: torch.dtype, tokens: int, turns: int) -> list[str]:
    """A row of the third table."""
    query, key, value = (one.to(dtype) for one in heads(1, tokens, tokens))
    inner, outer = PRODUCT
    rows, weights = torch.randn(tokens, inner).to(dtype), torch.randn(outer, inner).to(dtype)
    # Two products of a token with all before it: half of tokens squared.
    attended, multiplied = 2 * HEADS * SIZE * tokens**2, 2 * tokens * inner * outer
    taken = in_turns(
        turns,
        milliseconds,
        partial(attention_of_any, query, key, value, None, causal=True),
        partial(attention_in_blocks, query, key, value, None),
        partial(torch.nn.functional.linear, rows, weights),
    )
    operations = (attended, attended, multiplied)
    speeds = [[work / one / 1e6 for one in some] for work, some in zip(operations, taken, strict=True)]
    theirs, blocks, products = (f"{statistics.median(some):.0f}" for some in speeds)
    ratios = ratio(speeds[1], speeds[0]), products, ratio(speeds[1], speeds[2])
    return [str(dtype).removeprefix("torch."), f"{tokens:,}", theirs, blocks, *ratios]


@torch.inference_mode()
def parts(dtype: torch.dtype, tokens: int, turns: int) -> list[str]:
    """A row of the fourth table: a random model that reads a prompt, and the modules of one of its layers."""
    inner, outer = PRODUCT
    model = random_model(dtype)
    ids, kept = torch.randint(VOCABULARY, (tokens,)).tolist(), KeptCache(model, tokens, 1)
    layer = model.model.layers[0]
    weights = projections(layer)
    inputs = {size: torch.randn(1, tokens, size).to(dtype) for size in PRODUCT}
    query, key, value = (one.to(dtype) for one in heads(1, tokens, tokens))
    cache = RoomyLayer(tokens)
    cache.update(key, value)
    angles = model.model.rotary_emb(inputs[inner], torch.arange(tokens)[None])

    def read() -> None:
        kept.forget()
        kept._read_on(ids, 0, tokens)

    def multiply() -> None:
        for module in weights:
            module(inputs[module.in_features])

    def normalise() -> None:
        for norm in (layer.input_layernorm, layer.post_attention_layernorm):
            norm(inputs[inner])

    attend, rotate = partial(cache.attend, query, None), partial(apply_rotary_pos_emb, query, key, *angles)
    runs = (multiply, attend, lambda: layer.mlp.act_fn(inputs[outer]) * inputs[outer], normalise, rotate)
    *known, whole = map(statistics.median, in_turns(turns, milliseconds, *runs, read))
    whole /= LAYERS
    multiplied = 2 * tokens * sum(module.weight.numel() for module in weights)
    speed = (multiplied + 2 * HEADS * SIZE * tokens**2) / whole / 1e6
    taken = [f"{one:.1f}" for one in (*known, whole - sum(known), whole)]
    share = f"{speed / (multiplied / known[0] / 1e6):.2f}"
    return [str(dtype).removeprefix("torch."), f"{tokens:,}", *taken, f"{speed:.0f}", share]


def random_model(dtype: torch.dtype, layers: int = LAYERS) -> LlamaForCausalLM:
    """A few layers of SmolLM2-135M with random weights."""
    inner, outer = PRODUCT
    sizes = {"hidden_size": inner, "intermediate_size": outer, "vocab_size": VOCABULARY, "num_hidden_layers": layers}
    heads = {"num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS}
    return LlamaForCausalLM(LlamaConfig(**sizes, **heads)).to(dtype).eval()


def projections(model: torch.nn.Module) -> list[torch.nn.Linear]:
    """The linear layers, but for the one of the vocabulary."""
    return [one for one in model.modules() if isinstance(one, torch.nn.Linear) and one.out_features != VOCABULARY]


def milliseconds(run: Callable[[], object]) -> float:
    """Of the processor: the median of five runs."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return 1000 * statistics.median(taken)


if __name__ == "__main__":
    main()
