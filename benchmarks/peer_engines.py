"""One way of answering prompts, in a process of its own that imports nothing of this workflow; `peers.py` runs it.

    python benchmarks/peer_engines.py WAY --model PATH --prompts prompts.jsonl --output answers.jsonl

WAY:

unsorted    `generate` of transformers, eight prompts at a time in the order of the file, padded to the longest; all new
            tokens that are allowed, unless all eight have ended: as the programs of the paper's authors do
sorted      the same, prompts sorted by length, and an answer ends after its first line where only that is scored
llamacpp    llama.cpp's server with its prompt cache, one request after the other
vllm        vLLM with its prefix cache
products    products of matrices alone: prints their speed in the number format, asks nothing
write-7b    asks nothing, and writes a model of the shape of Llama-2-7B with random weights to --model

prompts.jsonl: `name` and `ids` (token ids) of each prompt. answers.jsonl: `name`, `response`, and `computed`, the
prompt tokens that were computed for it with padding.
"""

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

BATCH = 8
#: Tokens that a prompt and its answer may take.
WINDOW = 8192
#: Rows, columns and inner size of the products: 2,048 tokens through a layer of SmolLM2-135M.
PRODUCT = (2048, 1536, 576)
#: Seconds of products, at least.
MEASURED_SECONDS = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=[*WAYS, "products", "write-7b"])
    parser.add_argument("--model", help="a folder; for llamacpp a GGUF file")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--new-tokens", type=int, default=100)
    parser.add_argument("--first-line", action="store_true", help="only an answer's first line is scored")
    parser.add_argument("--device", default="cpu", help="of transformers")
    parser.add_argument("--packages", help="a folder with further packages")
    parser.add_argument("--tokenizer", help="write-7b: a tokenizer.json")
    args = parser.parse_args()
    if args.packages:
        sys.path.insert(0, args.packages)
    if args.way == "products":
        print(product_speed(args.dtype))
    elif args.way == "write-7b":
        write_7b(args.model, args.tokenizer)
    else:
        prompts = [json.loads(line) for line in args.prompts.read_text(encoding="utf-8").splitlines()]
        with args.output.open("w", encoding="utf-8") as out:
            for prompt, response, computed in WAYS[args.way](args, prompts):
                row = {"name": prompt["name"], "response": response, "computed": computed}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def product_speed(dtype: str) -> float:
    """Operations per processor second of `linear`, on one thread."""
    import torch

    torch.set_num_threads(1)
    rows, columns, inner = PRODUCT
    number = getattr(torch, dtype)
    tokens, weights = torch.randn(rows, inner).to(number), torch.randn(columns, inner).to(number)
    torch.nn.functional.linear(tokens, weights)
    begin, count = time.process_time(), 0
    while time.process_time() - begin < MEASURED_SECONDS:
        torch.nn.functional.linear(tokens, weights)
        count += 1
    return 2 * rows * columns * inner * count / (time.process_time() - begin)


def write_7b(folder: str, tokenizer: str) -> None:
    """Write random weights and the tokenizer; the model never ends an answer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = PreTrainedTokenizerFast(tokenizer_file=tokenizer)
    words.pad_token = words.convert_ids_to_tokens(0)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), max_position_embeddings=8192, eos_token_id=None))
    model.save_pretrained(folder)
    words.save_pretrained(folder)


# --- ways


def by_generate(args: argparse.Namespace, prompts: list[dict]) -> Iterator[tuple[dict, str, int]]:
    """Batches of eight, padded on the left; `sorted` has prompts of similar length in each."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=args.dtype).eval().to(args.device)
    more = {}
    if args.way == "sorted":
        prompts = sorted(prompts, key=lambda prompt: -len(prompt["ids"]))
        more = {"stop_strings": line_end(args), "tokenizer": tokenizer} if args.first_line else {}
    for start in range(0, len(prompts), BATCH):
        batch = prompts[start : start + BATCH]
        inputs = tokenizer.pad({"input_ids": [prompt["ids"] for prompt in batch]}, return_tensors="pt").to(args.device)
        with torch.inference_mode():
            output = model.generate(**inputs, max_new_tokens=args.new_tokens, do_sample=False, **more)
        width = inputs["input_ids"].shape[1]
        texts = tokenizer.batch_decode(output[:, width:], skip_special_tokens=True)
        yield from ((prompt, text, width) for prompt, text in zip(batch, texts, strict=True))


def llamacpp(args: argparse.Namespace, prompts: list[dict]) -> Iterator[tuple[dict, str, int]]:
    """The server runs in this process; prompts go to it as token ids, in the order in which they share most."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.n_ctx, params.n_parallel = WINDOW, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # Threads that wait by polling take processor seconds for nothing.
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.warmup = False
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    fixed = {"temperature": 0, "n_predict": args.new_tokens, "cache_prompt": True, "stop": line_end(args)}
    for prompt in sorted(prompts, key=lambda prompt: prompt["ids"]):
        body, url = json.dumps({"prompt": prompt["ids"], **fixed}).encode(), f"{server.listening_address}/completion"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            answer = json.load(reply)
        yield prompt, answer["content"], answer["timings"]["prompt_n"]


def vllm(args: argparse.Namespace, prompts: list[dict]) -> Iterator[tuple[dict, str, int]]:
    """All prompts at once, in the order in which they share most."""
    # Its engine in this process, so that its processor seconds are this one's.
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "4")
    from vllm import LLM, SamplingParams
    from vllm.inputs import TokensPrompt

    model = LLM(args.model, dtype=args.dtype, max_model_len=WINDOW, enable_prefix_caching=True)
    sampling = SamplingParams(temperature=0.0, max_tokens=args.new_tokens, stop=line_end(args))
    ordered = sorted(prompts, key=lambda prompt: prompt["ids"])
    asked = [TokensPrompt(prompt_token_ids=prompt["ids"]) for prompt in ordered]
    for prompt, answer in zip(ordered, model.generate(asked, sampling, use_tqdm=False), strict=True):
        computed = len(prompt["ids"]) - (answer.num_cached_tokens or 0)
        yield prompt, answer.outputs[0].text, computed


def line_end(args: argparse.Namespace) -> list[str]:
    """What ends an answer early."""
    return ["\n"] if args.first_line else []


WAYS = {"unsorted": by_generate, "sorted": by_generate, "llamacpp": llamacpp, "vllm": vllm}


if __name__ == "__main__":
    main()
