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
from measuring import spread, table
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from litm.inference.generation import LinearOfFew
from litm.inference.joined_attention import Attended, attention_in_blocks, attention_of_few
from litm.inference.joined_attention import attention as attention_of_any
from litm.inference.prefix_sharing import KeptCache, RoomyLayer

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
    print(table(columns, (step(prompts, keys, turns) for prompts, keys in STEPS)))
    print("\n## Products of a step, bfloat16, milliseconds a layer\n")
    print(table(["prompts", "PyTorch's", "this workflow's", "ratio"], (products(prompts, turns) for prompts in ROWS)))
    print("\n## Reading, GFLOP a second\n")
    columns = ["number format", "tokens", "PyTorch's", "in blocks", "ratio", "products", "share of blocks"]
    formats = (torch.float32, torch.bfloat16)
    print(table(columns, (reading(dtype, tokens, turns) for dtype in formats for tokens in READ)))
    print("\n## Where the time of reading goes, milliseconds a layer\n")
    columns = ["number format", "tokens", *PARTS, "a layer", "its GFLOP a second", "of products"]
    print(table(columns, (parts(dtype, tokens, turns) for dtype in formats for tokens in READ)))


def step(prompts: int, keys: int, turns: int) -> list[str]:
    """A row of the first table."""
    query, key, value = (
        torch.randn(prompts, heads, n, SIZE) for heads, n in ((HEADS, 1), (KEY_HEADS, keys), (KEY_HEADS, keys))
    )
    half = (query.bfloat16(), key.bfloat16(), value.bfloat16())
    exact = torch.nn.functional.scaled_dot_product_attention(*(one.double() for one in half), enable_gqa=True)
    operators: tuple[Callable[[], Attended], Callable[[], Attended]] = (
        lambda: Attended(*torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*half)),
        lambda: attention_of_few(*half, None),
    )
    times = [[1000 * seconds(run) for run in operators] for _ in range(turns)]
    errors = [f"{float((run().output - exact).norm() / exact.norm()):.4f}" for run in operators]
    theirs, ours = zip(*times, strict=True)
    ratios = spread(a / b for a, b in times)
    return [str(prompts), f"{keys:,}", spread(theirs, 1), spread(ours, 1), ratios, *errors]


@torch.inference_mode()
def products(prompts: int, turns: int) -> list[str]:
    """A row of the second table."""
    layers = projections(random_model(torch.bfloat16, ALL_LAYERS))
    tokens = {size: torch.randn(prompts, 1, size).bfloat16() for size in PRODUCT}

    def milliseconds(kind: type[torch.nn.Linear]) -> float:
        for layer in layers:
            layer.__class__ = kind
        return 1000 * seconds(lambda: [layer(tokens[layer.in_features]) for layer in layers]) / ALL_LAYERS

    times = [(milliseconds(torch.nn.Linear), milliseconds(LinearOfFew)) for _ in range(turns)]
    theirs, ours = zip(*times, strict=True)
    return [str(prompts), spread(theirs, 2), spread(ours, 2), spread(a / b for a, b in times)]


def reading(dtype: torch.dtype, tokens: int, turns: int) -> list[str]:
    """A row of the third table."""
    query, key, value = (torch.randn(1, heads, tokens, SIZE).to(dtype) for heads in (HEADS, KEY_HEADS, KEY_HEADS))
    inner, outer = PRODUCT
    rows, weights = torch.randn(tokens, inner).to(dtype), torch.randn(outer, inner).to(dtype)
    # Two products of a token with all before it: half of tokens squared.
    attended, multiplied = 2 * HEADS * SIZE * tokens**2, 2 * tokens * inner * outer
    speeds = [
        (
            attended / seconds(lambda: attention_of_any(query, key, value, None, causal=True)) / 1e9,
            attended / seconds(lambda: attention_in_blocks(query, key, value, None)) / 1e9,
            multiplied / seconds(lambda: torch.nn.functional.linear(rows, weights)) / 1e9,
        )
        for _ in range(turns)
    ]
    theirs, blocks, products = (f"{statistics.median(column):.0f}" for column in zip(*speeds, strict=True))
    ratio = spread(ours / other for other, ours, _ in speeds)
    share = spread(ours / product for _, ours, product in speeds)
    return [str(dtype).removeprefix("torch."), f"{tokens:,}", theirs, blocks, ratio, products, share]


@torch.inference_mode()
def parts(dtype: torch.dtype, tokens: int, turns: int) -> list[str]:
    """A row of the fourth table: a random model that reads a prompt, and the modules of one of its layers."""
    inner, outer = PRODUCT
    model = random_model(dtype)
    ids, kept = torch.randint(VOCABULARY, (tokens,)).tolist(), KeptCache(model, tokens, 1)
    layer = model.model.layers[0]
    weights = projections(layer)
    inputs = {size: torch.randn(1, tokens, size).to(dtype) for size in PRODUCT}
    query, key, value = (torch.randn(1, count, tokens, SIZE).to(dtype) for count in (HEADS, KEY_HEADS, KEY_HEADS))
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
    times = [[1000 * seconds(run) for run in runs] + [1000 * seconds(read) / LAYERS] for _ in range(turns)]
    *known, whole = (statistics.median(column) for column in zip(*times, strict=True))
    multiplied = 2 * tokens * sum(module.weight.numel() for module in weights)
    speed = (multiplied + 2 * HEADS * SIZE * tokens**2) / whole / 1e6
    shares = [f"{one:.1f}" for one in (*known, whole - sum(known), whole)]
    share = f"{speed / (multiplied / known[0] / 1e6):.2f}"
    return [str(dtype).removeprefix("torch."), f"{tokens:,}", *shares, f"{speed:.0f}", share]


def random_model(dtype: torch.dtype, layers: int = LAYERS) -> LlamaForCausalLM:
    """A few layers of SmolLM2-135M with random weights."""
    inner, outer = PRODUCT
    sizes = {"hidden_size": inner, "intermediate_size": outer, "vocab_size": VOCABULARY, "num_hidden_layers": layers}
    heads = {"num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS}
    return LlamaForCausalLM(LlamaConfig(**sizes, **heads)).to(dtype).eval()


def projections(model: torch.nn.Module) -> list[torch.nn.Linear]:
    """The linear layers, but for the one of the vocabulary."""
    return [one for one in model.modules() if isinstance(one, torch.nn.Linear) and one.out_features != VOCABULARY]


def seconds(run: Callable[[], object]) -> float:
    """Median processor seconds of five runs."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
