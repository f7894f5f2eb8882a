"""Prompt tokens that an engine computes for the paper's documents, next to the fewest possible.

    PYTHONPATH=scripts python benchmarks/shared_tokens.py --data nq-open-20_total_documents_gold_at_0.jsonl.gz \\
        --tokenizer gpt-neox-20b.tokenizer.json

All questions of the file with 10 and 20 documents, at the paper's positions, as one sweep. The model has one small
layer of random weights, since what is computed depends on the prompts alone. Answers have four tokens.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from measuring import ROOT, table
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.costs import tree_tokens
from litm.inference.engine import EngineSettings, Prepared, load_engine

POSITIONS = {10: (0, 4, 9), 20: (0, 4, 9, 14, 19)}
NEW_TOKENS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="questions with 20 documents in the released format")
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json")
    parser.add_argument("--questions", type=int, help="the first ones only")
    parser.add_argument("--engines", nargs="+", default=["transformers"])
    parser.add_argument("--batch-tokens", type=int, default=16384)
    args = parser.parse_args()
    words = Tokenizer.from_file(args.tokenizer)
    prompts = [encoding.ids for encoding in words.encode_batch(prompts_of(args.data, args.questions))]
    with tempfile.TemporaryDirectory() as folder:
        save_small_model(Path(folder), args.tokenizer)
        computed = {engine: computed_tokens(engine, folder, args.batch_tokens, prompts) for engine in args.engines}
    total, fewest = sum(map(len, prompts)), tree_tokens(prompts)
    print(f"{len(prompts)} prompts, {total:,} tokens; the fewest that can be computed, the nodes of the prefix tree:")
    print(f"{fewest:,}, {saved(fewest, total)} less\n")
    rows = [[name, f"{n:,}", saved(n, total), f"{n / fewest:.3f}"] for name, n in computed.items()]
    print(table(["engine", "computed", "saved", "of the fewest"], rows))


def prompts_of(data: str, questions: int | None) -> list[str]:
    """The prompts of all cells."""
    task = load_task("multi_document_qa")
    template = read_template(ROOT / "resources" / "prompts" / "multi_document_qa.txt")
    asked = list(task.questions(max(POSITIONS), ExampleSettings(questions, None, "ranked"), data))
    return [
        make_example(one, size, f"gold_at_{position}", template, task).prompt
        for size, positions in POSITIONS.items()
        for position in positions
        for one in asked
    ]


def save_small_model(folder: Path, tokenizer: str) -> None:
    """A model with the tokenizer's vocabulary and hardly anything else."""
    words = PreTrainedTokenizerFast(tokenizer_file=tokenizer)
    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    LlamaForCausalLM(shape).save_pretrained(folder)
    words.save_pretrained(folder)


def computed_tokens(engine: str, folder: str, batch_tokens: int, prompts: Sequence[list[int]]) -> int:
    """Answer all prompts; the prompt tokens that were computed for it."""
    settings = EngineSettings(
        location=folder,
        revision=None,
        dtype="float32",
        quantization="none",
        attention="sdpa",
        tokenizer=None,
        prompt_template="raw",
        template=None,
        max_new_tokens=NEW_TOKENS,
        stop="end_token",
        device="cpu",
        batch_tokens=batch_tokens,
    )
    loaded = load_engine(engine, settings)
    answers = sum(len(batch) for batch in loaded.generate([Prepared("", ids) for ids in prompts]))
    assert answers == len(prompts)
    return loaded.computed_tokens


def saved(tokens: int, total: int) -> str:
    return f"{100 * (1 - tokens / total):.1f} %"


if __name__ == "__main__":
    main()
