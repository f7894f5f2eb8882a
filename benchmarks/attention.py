"""Attention on a processor: a step of decoding here and with PyTorch's operator, and reading compared with products.

    PYTHONPATH=scripts python benchmarks/attention.py

The shape is that of a layer of SmolLM2-135M: 9 heads, 3 of keys, 64 wide; one thread. Both ways take turns. The error
is the root mean square of the difference from attention in float64, divided by that of its values.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from measuring import spread, table

from litm.inference.joined_attention import Attended, attention_in_blocks, attention_of_few
from litm.inference.joined_attention import attention as attention_of_any

HEADS, KEY_HEADS, SIZE = 9, 3, 64
#: Inner and outer size of a product with weights in SmolLM2-135M.
PRODUCT = (576, 1536)
#: Prompts and keys of a step.
STEPS = ((1, 2_000), (10, 1_900), (4, 6_000))
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
    print("\n## Reading, GFLOP a second\n")
    columns = ["number format", "tokens", "PyTorch's", "in blocks", "ratio", "products", "share of blocks"]
    formats = (torch.float32, torch.bfloat16)
    print(table(columns, (reading(dtype, tokens, turns) for dtype in formats for tokens in READ)))


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


def reading(dtype: torch.dtype, tokens: int, turns: int) -> list[str]:
    """A row of the second table."""
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


def seconds(run: Callable[[], object]) -> float:
    """Median seconds of five runs."""
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
