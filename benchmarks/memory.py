"""The largest memory of sweeps on a CPU: what doctor and clusters count with, and what it is.

    PYTHONPATH=scripts python benchmarks/memory.py

Each case is a cold sweep of SmolLM2-135M-Instruct, as `make` installs it: key-value pairs, as many prompts as a batch
holds and one more. Predicted: `PROCESS_BYTES` and `sweep_bytes` of scripts/litm/planning/memory.py for the longest
prompt. Measured: the process's largest resident memory. Also the seconds by the rule of thumb of
scripts/litm/planning/speed.py, and those of the processor.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from measuring import Sweep, pair_examples, smollm2, table

from litm.base.json_files import read_json
from litm.planning.memory import PROCESS_BYTES, Numbers, size_of, sweep_bytes
from litm.planning.speed import predicted_rate
from litm.prompting.prompt_format import CHAT
from litm.records.examples import write_examples

NEW_TOKENS = 16


#: Pairs of each prompt, prompts that a batch holds, its tokens, number format, and kind of attention.
CASES = (
    (10, 5, 4_096, "bfloat16", "sdpa"),
    (25, 3, 4_096, "bfloat16", "sdpa"),
    (25, 9, 16_384, "bfloat16", "sdpa"),
    (75, 1, 4_096, "bfloat16", "sdpa"),
    (25, 5, 8_192, "float32", "sdpa"),
    (25, 1, 1_024, "float32", "eager"),
    (40, 1, 1_024, "bfloat16", "eager"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first ones only")
    args = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    rows = []
    for case in CASES[: args.cases]:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(*case, Path(folder)))
        print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
    columns = ["pairs", "longest prompt", "batch_tokens", "format", "attention", "predicted MiB", "measured MiB"]
    print(table([*columns, "predicted / measured", "seconds predicted", "processor seconds"], rows))


def measure(pairs: int, prompts: int, batch_tokens: int, dtype: str, attention: str, folder: Path) -> list[str]:
    """The row of a case."""
    gguf, examples = smollm2(), folder / "examples.jsonl.gz"
    write_examples(examples, pair_examples(pairs, prompts))
    settings: dict[str, object] = {"dtype": dtype, "attention": attention, "prompt_template": CHAT}
    decoding = {"max_new_tokens": NEW_TOKENS, "stop": "end_token"}
    run = {"device": "cpu", "batch_tokens": batch_tokens}
    sweep = Sweep(folder, "memory", gguf, settings, decoding, run, [examples])
    sweep.identify()
    cost = sweep.generate()
    work, size = read_json(sweep.file("manifest.json"))["work"], size_of(gguf)
    assert size and size.stored_bytes
    longest = -(-work["prompt_tokens"] // prompts)
    numbers = Numbers(dtype, "none", attention)
    predicted = PROCESS_BYTES + sweep_bytes(size, numbers, longest + NEW_TOKENS, batch_tokens)
    rate = predicted_rate(size.weight_bytes / size.stored_bytes / 1e9, dtype, gpu=False, threads=1)
    asked = work["computed_tokens"] / rate.tokens_per_second
    return [
        *(str(pairs), f"{longest:,}", f"{batch_tokens:,}", dtype, attention),
        *(f"{predicted / 2**20:,.0f}", f"{cost.memory / 2**20:,.0f}", f"{predicted / cost.memory:.2f}"),
        *(f"{asked:.0f}", f"{cost.processor:.0f}"),
    ]


if __name__ == "__main__":
    main()
