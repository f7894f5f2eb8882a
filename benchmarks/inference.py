"""How long a sweep takes, against the way that the paper's authors ran theirs, on the same model and prompts.

    PYTHONPATH=scripts python benchmarks/inference.py qa --data nq-open-20_total_documents_gold_at_0.jsonl.gz
    PYTHONPATH=scripts python benchmarks/inference.py kv
    PYTHONPATH=scripts python benchmarks/inference.py ask
    PYTHONPATH=scripts python benchmarks/inference.py run --examples results/examples/mini_encyclopedia_qa
    PYTHONPATH=scripts python benchmarks/inference.py gpu --data ... --tokenizer tokenizer.json --peak-tflops 989

qa, kv: whole processes, cold, with the loading of libraries and model, in turns; medians of wall and processor time.
ask: the same with pairs in fixed places, and another pair asked for at each of nine positions.
run: the same with all the prompts that a run has made for one of its experiments on documents.
gpu: a model of the shape of Llama-2-7B with random weights (13.5 GB are written to --folder); prompt tokens a second
after loading the model, and the fraction of the device's peak that the computed tokens need.

The ways that are compared:

original    as the paper describes it: one process a position; `generate` of transformers on eight prompts at a time in
            the order of the file, padded to the longest; always 100 new tokens, unless all eight have ended
sorted      the same, but one process for all positions, and prompts sorted by length
sweep       scripts/inference/generate.py with the engine `transformers`
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measuring import ROOT, Cost, program, spread, sum_of, table, times_faster
from measuring import run as run_process

from litm.answers import normalize_answer
from litm.base.records import in_batches, read_json, read_jsonl, write_jsonl
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.placements import positions_for
from litm.records import read_examples, write_examples
from litm.scoring.metrics import first_line

POSITIONS = {"qa": (0, 4, 9, 14), "kv": (0, 24, 49, 74), "ask": (0, 9, 18, 28, 37, 46, 56, 65, 74)}
SIZES = {"qa": 15, "kv": 75, "ask": 75}
TASKS = {"qa": "multi_document_qa", "kv": "kv_retrieval", "ask": "kv_retrieval", "run": "multi_document_qa"}
NEW_TOKENS, BATCH = 100, 8
WAYS = ("original", "sorted", "sweep")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", choices=["qa", "kv", "ask", "run", "gpu", "generate"], help="generate: for the program itself"
    )
    parser.add_argument("--data", help="questions with 20 documents in the released format")
    parser.add_argument("--questions", type=int, default=16)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["original", "sweep"])
    parser.add_argument("--turns", type=int, default=3, help="measurements of each")
    parser.add_argument("--model", default=str(ROOT / "resources" / "reference_model"))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--attention", default="sdpa")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-tokens", type=int, default=16384, help="of the way `sweep`")
    parser.add_argument("--tokenizer", help="gpu: a tokenizer.json; only its number of tokens matters")
    parser.add_argument("--peak-tflops", type=float, help="gpu: what the device can do in bfloat16, without sparsity")
    parser.add_argument("--folder", help="where to put the files while it runs")
    parser.add_argument("--examples", nargs="+", type=Path, help="run: a folder; generate: files of prompts")
    parser.add_argument("--output", help="generate: file of answers")
    parser.add_argument("--sort", action="store_true", help="generate: by length")
    args = parser.parse_args()
    if args.what == "generate":
        generate_as_original(args)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        measure = measure_gpu if args.what == "gpu" else measure_ratio
        measure(args, Path(folder))


# --- what is measured


def measure_ratio(args: argparse.Namespace, folder: Path) -> None:
    """Print a row for each method: median seconds, and their ratio to the original's."""
    if args.what == "run":
        cells = sorted(args.examples[0].glob("*/*.jsonl.gz"))
    else:
        cells = write_cells(args.what, args.data, args.questions, folder)
    costs: dict[str, list[Cost]] = {way: [] for way in args.ways}
    for _ in range(args.turns):
        for way in args.ways:
            costs[way].append(run(way, args, args.what, cells, folder))
            print(f"{way}: {costs[way][-1]}", file=sys.stderr, flush=True)
    first = costs[args.ways[0]]
    prompts = len(answers_of(args.ways[0], folder))
    print(f"{args.what}: {prompts} prompts in {len(cells)} cells, {args.turns} turns\n")
    rows = []
    for way, measured in costs.items():
        parts = ("wall", "processor")
        seconds = [spread((getattr(cost, part) for cost in measured), digits=1) for part in parts]
        ratios = [times_faster(first, measured, part) for part in parts]
        same = agreement(args.ways[0], way, folder)
        rows.append([way, *seconds, *ratios, computed_tokens(way, folder), same])
    columns = ["way", "seconds", "processor seconds", "times faster", "processor", "computed tokens"]
    print(table([*columns, "the same first lines"], rows))


def measure_gpu(args: argparse.Namespace, folder: Path) -> None:
    """Print a row for each way: tokens a second, times faster than sorted batches of eight, part of the peak."""
    import torch

    if not torch.cuda.is_available():
        sys.exit("gpu: torch sees no GPU on this machine")
    parameters, args.model = make_7b(folder / "model", args.tokenizer), str(folder / "model")
    args.device, args.dtype = "cuda", "bfloat16"
    cells = write_cells("qa", args.data, args.questions, folder)
    (folder / "one").mkdir()
    one = write_cells("qa", args.data, 1, folder / "one")[:1]
    ways = [way for way in ("sorted", "sweep") if way in ("sorted", *args.ways)]
    seconds, tokens = {}, prompt_tokens(args.model, cells)
    for way in ways:
        # The first process also waits for the disk.
        run(way, args, "qa", one, folder / "one")
        loading = run(way, args, "qa", one, folder / "one").wall
        seconds[way] = run(way, args, "qa", cells, folder).wall - loading
    asked = f"{args.questions} questions at {len(cells)} positions, {tokens} prompt tokens"
    print(f"{torch.cuda.get_device_name()}: {asked}")
    print("| way | seconds | prompt tokens a second | times faster | part of the peak |\n|---|---|---|---|---|")
    for way in ways:
        computed = computed_tokens(way, folder)
        # Two operations a parameter and token, those of attention not counted.
        work = 2 * parameters * (tokens if computed == "" else int(computed))
        part = f"{work / seconds[way] / args.peak_tflops / 1e12:.3f}" if args.peak_tflops else ""
        times = seconds[ways[0]] / seconds[way]
        print(f"| {way} | {seconds[way]:.1f} | {tokens / seconds[way]:.0f} | {times:.2f} | {part} |")


def make_7b(folder: Path, tokenizer: str | None) -> int:
    """Write a model of the shape of Llama-2-7B with random weights; its number of parameters."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    if tokenizer is None:
        sys.exit("gpu: give a --tokenizer")
    words = PreTrainedTokenizerFast(tokenizer_file=tokenizer)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), max_position_embeddings=8192, eos_token_id=None))
    model.save_pretrained(folder)
    words.pad_token_id = 0
    words.save_pretrained(folder)
    return model.num_parameters()


# --- prompts


def write_cells(what: str, data: str | None, questions: int, folder: Path) -> list[Path]:
    """A file of examples for each position, as `make_examples.py` writes them."""
    if what == "qa" and data is None:
        sys.exit("qa: give --data, a file with 20 documents a question")
    task, size = load_task(TASKS[what]), SIZES[what]
    template = read_template(ROOT / "resources" / "prompts" / f"{TASKS[what]}.txt")
    settings = ExampleSettings(questions, 0, "ranked")
    asked = list(task.questions(size, settings, data if what == "qa" else None))[:questions]
    paths = []
    for position in POSITIONS[what]:
        place = f"gold_at_{position}"
        paths.append(folder / f"{place}.jsonl.gz")
        placed = asked
        if what == "ask":
            ask_another_key = task.ask_another_key
            placed = [ask_another_key(one, size, positions_for(place, size)) for one in asked]
        write_examples(paths[-1], (make_example(one, size, place, template, task) for one in placed))
    return paths


def prompt_tokens(model: str, cells: Sequence[Path]) -> int:
    """Tokens of all prompts."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    return sum(len(tokenizer(example.prompt)["input_ids"]) for example in read_examples(*cells))


# --- ways to answer them


def run(way: str, args: argparse.Namespace, what: str, cells: Sequence[Path], folder: Path) -> Cost:
    """Answer all prompts from scratch, and leave the answers in `folder`."""
    for old in [*folder.glob(f"{way}.*.jsonl"), *folder.glob(f"{way}.*.gz"), *folder.glob("*.journal")]:
        old.unlink()
    processes = original(way, args, cells, folder) if way in WAYS[:2] else ours(way, args, what, cells, folder)
    return sum_of(processes)


def original(way: str, args: argparse.Namespace, cells: Sequence[Path], folder: Path) -> list[Cost]:
    """The authors' method: one process per position, or one process that sorts all prompts."""
    return [
        run_process(
            *(sys.executable, __file__, "generate", "--model", args.model, "--dtype", args.dtype),
            *("--attention", args.attention, "--device", args.device, *(["--sort"] if way == "sorted" else [])),
            *("--examples", *paths, "--output", folder / f"{way}.{number}.jsonl"),
        )
        for number, paths in enumerate([cells] if way == "sorted" else [[cell] for cell in cells])
    ]


def generate_as_original(args: argparse.Namespace) -> None:
    """Batches of eight, padded, 100 new tokens."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(
        args.model, dtype=args.dtype, attn_implementation=args.attention, device_map=args.device
    ).eval()
    examples = list(read_examples(*args.examples))
    if args.sort:
        examples.sort(key=lambda example: -len(example.prompt))
    answers = []
    for batch in in_batches(examples, BATCH):
        inputs = tokenizer([example.prompt for example in batch], return_tensors="pt", padding=True)
        inputs = {name: inputs[name].to(args.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            output = model.generate(**inputs, max_new_tokens=NEW_TOKENS, do_sample=False)
        texts = tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        for example, text in zip(batch, texts, strict=True):
            answers.append({"id": example.id, "size": example.size, "placement": example.placement, "response": text})
    write_jsonl(args.output, answers)


def ours(way: str, args: argparse.Namespace, what: str, cells: Sequence[Path], folder: Path) -> list[Cost]:
    """The programs that Snakemake runs for a sweep: identify the model, and generate."""
    location = {"path": args.model, "hub": None, "revision": None}
    settings = {"engine": "transformers", "dtype": args.dtype, "attention": args.attention, "prompt_template": "raw"}
    decoding = {"max_new_tokens": NEW_TOKENS, "stop": load_task(TASKS[what]).stop}
    source = folder / f"{way}.source.json"
    identify = program("identify_model.py", "--location", json.dumps(location), "--output", source)
    generate = program(
        *("generate.py", "--model", "model", "--experiment", what, "--source", source),
        *("--settings", json.dumps(settings), "--decoding", json.dumps(decoding)),
        *("--run", json.dumps({"device": args.device, "batch_tokens": args.batch_tokens})),
        *("--gpus", int(args.device != "cpu")),
        *("--examples", *cells, "--journal", folder / f"{way}.journal"),
        *("--responses", folder / f"{way}.responses.jsonl.gz", "--manifest", folder / f"{way}.manifest.json"),
    )
    return [identify, generate]


# --- what came out


def computed_tokens(way: str, folder: Path) -> str:
    """Prompt tokens that were computed, if the method reports them."""
    manifest = folder / f"{way}.manifest.json"
    return str(read_json(manifest)["work"]["computed_tokens"]) if manifest.exists() else ""


def agreement(way: str, other: str, folder: Path) -> str:
    """How many prompts have the same first line by both ways, as the metric reads it: an end token may be a quote."""
    one, two = answers_of(way, folder), answers_of(other, folder)
    same = sum(normalize_answer(first_line(one[prompt])) == normalize_answer(first_line(two[prompt])) for prompt in one)
    return f"{same} of {len(one)}"


def answers_of(way: str, folder: Path) -> dict[tuple[str, int, str], str]:
    """Response by question, size and placement."""
    paths = [*folder.glob(f"{way}.*.jsonl"), *folder.glob(f"{way}.*.jsonl.gz")]
    return {
        (row["id"], row["size"], row["placement"]): row["response"] for path in paths for _, row in read_jsonl(path)
    }


if __name__ == "__main__":
    main()
