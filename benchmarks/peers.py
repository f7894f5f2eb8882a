"""Cost of prompts here and with alternative programs, on the same model and the same token ids.

    PYTHONPATH=scripts python benchmarks/peers.py --data FOLDER --folder peers --llamacpp FOLDER --vllm PYTHON
    PYTHONPATH=scripts python benchmarks/peers.py --reference --prompts kv75 ask75
    PYTHONPATH=scripts python benchmarks/peers.py --data FOLDER --random-7b tokenizer.json --peak-tflops 989

Prompts: multi-document QA with 10 documents at 3 positions and 20 at 5, and 75 key-value pairs at 4, as the paper has
them; and 75 pairs that keep their places, with another one asked for at each of 9 positions. Ways, each on one
thread, because threads that wait for each other take processor seconds for nothing on a busy machine:

unsorted    a process a position, as the paper's authors ran theirs, see peer_engines.py
sorted      one process for all positions, see peer_engines.py
llamacpp    llama.cpp's server with its prompt cache, on the 4-bit weights of the GGUF file; needs --llamacpp
vllm        vLLM with its prefix cache; needs --vllm
ours        identify_model.py and generate.py, as Snakemake runs them

Models: SmolLM2-135M-Instruct, in its chat format; --reference: the reference model, in float32, by the ways `unsorted`
and `ours`; --random-7b: random weights in the shape of Llama-2-7B on a GPU (13.5 GB are written to --folder), by the
ways `sorted`, `vllm` and `ours`, where seconds are those of the clock.

--data: a folder with `nq-open-20_total_documents_gold_at_0*.jsonl.gz` and `kv-retrieval-75_keys.jsonl.gz`, the authors'
files; without it pairs are made. Whatever has been measured lies in --folder and is not measured again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import measuring
from measuring import PAIRS, ROOT, Cost, Sweep, run

from litm.answers import normalize_answer
from litm.base.json_files import read_json, read_jsonl, write_json, write_jsonl
from litm.base.store import file_sha256
from litm.engines.interface import FIRST_LINE
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.models.gguf import read_gguf, unpacked
from litm.placements import positions_for
from litm.prompting.prefix_tree import as_bytes, shared_with_previous
from litm.prompting.prompt_format import CHAT, PromptFormat, load_tokenizer
from litm.records.examples import write_examples
from litm.scoring.metrics import first_line

REFERENCE = ROOT / "resources" / "reference_model"
#: Of an answer; of a batch of this workflow; seconds of a peer for one workload, at most.
NEW_TOKENS, BATCH_TOKENS, LIMIT = 100, 16384, 1800
ENGINES = Path(__file__).with_name("peer_engines.py")
#: Title of a way in the table.
WAYS = {
    "unsorted": "process a position",
    "sorted": "sorted, early stop",
    "llamacpp": "llama.cpp's server",
    "vllm": "vLLM",
    "ours": "this workflow",
}


@dataclass(frozen=True)
class Workload:
    """Prompts of one experiment. questions: as many as a run of 25 minutes allows; asks: another key at each place."""

    title: str
    task: str
    size: int
    positions: tuple[int, ...]
    questions: int
    file: str = ""
    asks: bool = False
    new_tokens: int = NEW_TOKENS


QA = "multi_document_qa"
DOCUMENT_FILE, PAIR_FILE = "nq-open-20_total_documents_gold_at_0*.jsonl.gz", "kv-retrieval-75_keys.jsonl.gz"
NINE = (0, 9, 18, 28, 37, 46, 56, 65, 74)
#: Workload of one short prompt: the cost of starting.
START = "start"
WORKLOADS = {
    "qa20": Workload("20 documents, 5 positions", QA, 20, (0, 4, 9, 14, 19), 3, DOCUMENT_FILE),
    "qa10": Workload("10 documents, 3 positions", QA, 10, (0, 4, 9), 3, DOCUMENT_FILE),
    "kv75": Workload("75 pairs, 4 positions", PAIRS, 75, (0, 24, 49, 74), 2, PAIR_FILE),
    "ask75": Workload("75 pairs that keep their places, 9 positions", PAIRS, 75, NINE, 2, PAIR_FILE, asks=True),
    START: Workload("starting", PAIRS, 2, (0,), 1, new_tokens=1),
}


#: What a way took for a workload: parts of `Cost`, tokens `computed`, `answers` by prompt, and `products`, the speed of
#: the machine's just before.
Measured = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folder", type=Path, help="prompts, answers and costs; by default a temporary one")
    parser.add_argument("--prompts", nargs="+", choices=WORKLOADS.keys() - {START}, default=["qa20", "qa10", "kv75"])
    parser.add_argument("--questions", type=int, help="of each; by default as many as 25 minutes allow")
    parser.add_argument("--ways", nargs="+", choices=WAYS)
    parser.add_argument("--reference", action="store_true", help="the reference model")
    parser.add_argument("--random-7b", metavar="TOKENIZER", help="a tokenizer.json; only its number of tokens matters")
    parser.add_argument("--peak-tflops", type=float, help="what the GPU can do in bfloat16, without sparsity")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--quantization", choices=["none", "nf4", "int8"], default="none", help="of this workflow")
    parser.add_argument("--llamacpp", help="a folder with the package xllamacpp")
    parser.add_argument("--vllm", help="the Python that has vLLM")
    parser.add_argument("--output", type=Path, help="the page; by default it is printed")
    args = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "HF_HUB_OFFLINE": "1"}
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
    with tempfile.TemporaryDirectory() as temporary:
        args.folder = args.folder or Path(temporary)
        args.folder.mkdir(parents=True, exist_ok=True)
        choose_model(args)
        # Starting comes last, because vLLM keeps what it compiles when it is started for the first time.
        for name in [*args.prompts, START]:
            write_prompts(args, name)
            for way in args.ways:
                if not cost_file(args, name, way).exists():
                    measure(args, name, way)
                # After each, so that an interrupted run leaves what it has measured.
                if args.output:
                    args.output.write_text(page(args), encoding="utf-8")
        if not args.output:
            print(page(args))


def choose_model(args: argparse.Namespace) -> None:
    """Set the model's folder, its file and format of prompts, the device, and the ways."""
    args.gguf, args.device, args.prompt_template, ways = None, "cpu", "raw", ["unsorted", "ours"]
    if args.reference:
        args.model, args.dtype = REFERENCE, "float32"
    elif args.random_7b:
        args.model, args.device, ways = args.folder / "model", "cuda", ["sorted", "vllm", "ours"]
        if not args.model.exists():
            run(sys.executable, ENGINES, "write-7b", "--model", args.model, "--tokenizer", args.random_7b)
    else:
        args.gguf, args.prompt_template, ways = measuring.smollm2(), CHAT, list(WAYS)
        args.model, _ = unpacked(args.gguf, read_gguf(args.gguf), args.dtype, args.folder / "unpacked", file_sha256)
    args.ways = args.ways or [way for way in ways if way not in ("llamacpp", "vllm") or getattr(args, way)]


# --- prompts


def write_prompts(args: argparse.Namespace, name: str) -> None:
    """A file of examples and one of token ids for each position, and one of all token ids."""
    work, data = WORKLOADS[name], None
    if work.file and (args.data or work.task == QA):
        found = sorted(args.data.glob(work.file)) if args.data else []
        if not found:
            sys.exit(f"{args.data or '--data'}: there is no {work.file}")
        data = str(found[0])
    count = 1 if name == START else args.questions or work.questions
    task = load_task(work.task)
    questions = list(task.questions(work.size, ExampleSettings(count, 0, "ranked"), data))[:count]
    tokenizer, as_chat = load_tokenizer(str(args.model)), args.prompt_template == CHAT
    everything = []
    for position in work.positions:
        place, asked = f"gold_at_{position}", questions
        if work.asks:
            asked = [task.ask_another_key(one, work.size, positions_for(place, work.size)) for one in questions]
        examples = list(measuring.examples_of(task, asked, work.size, place))
        contents = [example.content(as_chat=as_chat) for example in examples]
        ids = PromptFormat(tokenizer, args.prompt_template).encode(contents)
        write_examples(args.folder / f"{name}.{position}.examples.jsonl.gz", examples)
        rows = [{"name": f"{one.placement} {one.id}", "ids": own} for one, own in zip(examples, ids, strict=True)]
        write_jsonl(args.folder / f"{name}.{position}.prompts.jsonl", rows)
        everything += rows
    write_jsonl(args.folder / f"{name}.prompts.jsonl", everything)


def cell_files(args: argparse.Namespace, name: str, suffix: str) -> list[Path]:
    """The files of a workload's positions, in order."""
    return [args.folder / f"{name}.{position}.{suffix}" for position in WORKLOADS[name].positions]


# --- what each way costs


def cost_file(args: argparse.Namespace, name: str, way: str) -> Path:
    return args.folder / f"{name}.{way}.{args.dtype}.{args.quantization}.measured.json"


def measure(args: argparse.Namespace, name: str, way: str) -> None:
    """Answer all prompts of a workload; costs, computed tokens and answers go into one file."""
    print(f"{name}: {way} ...", file=sys.stderr, flush=True)
    command = [sys.executable, ENGINES, "products", "--dtype", args.dtype]
    products = float(subprocess.check_output(command, text=True))
    try:
        cost, computed, answers = ours(args, name) if way == "ours" else peer(args, name, way)
    except SystemExit as ended:
        lines = str(ended).strip().splitlines()
        # Libraries warn even after the error.
        last = next((line for line in reversed(lines) if "Error: " in line), lines[-1])[:300]
        print(f"{name}: {way} did not run: {last}", file=sys.stderr)
        return
    found = {**asdict(cost), "computed": computed, "answers": answers, "products": products}
    write_json(cost_file(args, name, way), found)
    print(f"{name}: {way}: {cost}, {computed} tokens computed", file=sys.stderr, flush=True)


def peer(args: argparse.Namespace, name: str, way: str) -> tuple[Cost, int, dict[str, str]]:
    """One process for all prompts or per position; its cost, computed tokens, and answers by prompt."""
    work, output = WORKLOADS[name], args.folder / f"{name}.{way}.answers.jsonl"
    command = ["timeout", LIMIT, args.vllm if way == "vllm" else sys.executable, ENGINES, way, "--dtype", args.dtype]
    command += ["--model", args.gguf if way == "llamacpp" else args.model, "--device", args.device]
    command += ["--output", output, "--new-tokens", work.new_tokens]
    command += ["--first-line"] if is_first_line(work) else []
    command += ["--packages", args.llamacpp] if way == "llamacpp" else []
    all_prompts = [args.folder / f"{name}.prompts.jsonl"]
    costs, rows = [], []
    for path in cell_files(args, name, "prompts.jsonl") if way == "unsorted" else all_prompts:
        costs.append(run(*command, "--prompts", path))
        rows += [row for _, row in read_jsonl(output)]
    return measuring.sum_of(costs), sum(row["computed"] for row in rows), {row["name"]: row["response"] for row in rows}


def is_first_line(work: Workload) -> bool:
    """Whether only an answer's first line is scored."""
    return load_task(work.task).stop == FIRST_LINE


def ours(args: argparse.Namespace, name: str) -> tuple[Cost, int, dict[str, str]]:
    """The two programs that Snakemake runs for a sweep."""
    settings = {key: vars(args)[key] for key in ("dtype", "quantization", "prompt_template")}
    decoding = {"max_new_tokens": WORKLOADS[name].new_tokens, "stop": load_task(WORKLOADS[name].task).stop}
    options = {"device": args.device, "batch_tokens": BATCH_TOKENS}
    examples = cell_files(args, name, "examples.jsonl.gz")
    sweep = Sweep(args.folder, f"{name}.ours", args.gguf or args.model, settings, decoding, options, examples)
    shutil.rmtree(sweep.answers, ignore_errors=True)
    cost = measuring.sum_of([sweep.identify(), sweep.generate()])
    rows = (row for _, row in read_jsonl(sweep.file("responses.jsonl.gz")))
    answers = {f"{row['placement']} {row['id']}": row["response"] for row in rows}
    return cost, read_json(sweep.file("manifest.json"))["work"]["computed_tokens"], answers


# --- the page

HEADING = """# Peers

Written by `benchmarks/peers.py` on {machine}.

{model} in {numbers}, but in 4 bits by llama.cpp's server; answers of at most {new_tokens} tokens; threads
of a process: 1. Each way has processes of its own, and their loading counts. Seconds depend on what
else the machine does: compare ways with each other.

- *starting*: the same processes for one short prompt and a token of its answer.
- *times ours*: {seconds}, divided by those of this workflow; then both less starting, as in a run of thousands
  of prompts.
- *same answers*: the normalised first line (documents) or text (pairs) equals this workflow's.
"""


def page(args: argparse.Namespace) -> str:
    """The page: all measurements, and the missing ones."""
    model = "Random weights of 7B parameters" if args.random_7b else args.gguf.stem if args.gguf else "Reference model"
    heading = {"machine": measuring.machine(), "model": model, "seconds": seconds_of(args)[1], "new_tokens": NEW_TOKENS}
    parts = [HEADING.format(numbers=f"{args.dtype}, quantization {args.quantization}", **heading)]
    starts = read_measured(args, START)
    for name in args.prompts:
        found = read_measured(args, name)
        parts.append(section(args, name, found, starts) if found else f"## {WORKLOADS[name].title}\n")
        if missing := [WAYS[way] for way in args.ways if way not in found]:
            parts.append(f"Not measured: {', '.join(missing)}.\n")
    return "\n".join(parts)


def read_measured(args: argparse.Namespace, name: str) -> dict[str, Measured]:
    """What has been measured of a workload, by way."""
    return {way: read_json(path) for way in args.ways if (path := cost_file(args, name, way)).exists()}


def seconds_of(args: argparse.Namespace) -> tuple[str, str]:
    """Which seconds count: the processor's, or on a GPU those of the clock."""
    return ("wall", "seconds by the clock") if args.device == "cuda" else ("processor", "processor seconds")


def section(args: argparse.Namespace, name: str, found: Mapping[str, Measured], starts: Mapping[str, Measured]) -> str:
    """A workload's table, and the share of the machine's products that this workflow reaches."""
    work, own, (part, seconds) = WORKLOADS[name], found.get("ours"), seconds_of(args)
    prompts = [row["ids"] for _, row in read_jsonl(args.folder / f"{name}.prompts.jsonl")]
    processes = {"unsorted": len(work.positions)}
    started = {way: starts[way][part] * processes.get(way, 1) for way in found.keys() & starts.keys()}
    rows = []
    for way, what in found.items():
        starting, ratios = f"{started[way]:.0f}" if way in started else "", ["", "", ""]
        if own:
            is_known = started.keys() >= {way, "ours"}
            without = f"{(what[part] - started[way]) / (own[part] - started['ours']):.2f}" if is_known else ""
            ratios = [f"{what[part] / own[part]:.2f}", without, same(work, what["answers"], own["answers"])]
        rows.append([WAYS[way], f"{what[part]:.0f}", starting, f"{what['wall']:.0f}", f"{what['computed']:,}", *ratios])
    columns = [seconds, "of these starting", "seconds", "prompt tokens computed", "times ours", "without starting"]
    nodes, weights, attention = reading_operations(args.model, prompts)
    tokens = f"{sum(map(len, prompts)):,} tokens; at least {nodes:,} must be computed"
    results = measuring.table(["way", *columns, "same answers"], rows)
    text = f"## {work.title}\n\n{len(prompts)} prompts, {tokens}.\n\n{results}\n"
    if own:
        products = measuring.spread((what["products"] / 1e9 for what in found.values()), digits=0)
        peak = args.peak_tflops * 1e12 if args.peak_tflops else own["products"]
        least = (weights + attention) / peak
        share = 100 * least / (own[part] - started.get("ours", 0))
        text += (
            f"\nProducts of matrices before each way: {products} GFLOP a processor "
            f"second. Reading, with nothing computed\ntwice, takes {weights / 1e9:,.0f} GFLOP for weights and "
            f"{attention / 1e9:,.0f} for attention: {least:.0f} seconds at {peak / 1e9:,.0f} GFLOP a second,\n"
            f"{share:.0f} % of what this workflow took less starting, answers included.\n"
        )
    return text


def same(work: Workload, theirs: Mapping[str, str], own: Mapping[str, str]) -> str:
    """The number of answers that equal ours."""
    cut = first_line if is_first_line(work) else str
    alike = sum(normalize_answer(cut(text)) == normalize_answer(cut(theirs[prompt])) for prompt, text in own.items())
    return f"{alike} of {len(own)}"


def reading_operations(model: Path, prompts: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """Nodes of the prefix tree, and operations for them: of products with weights, and of causal attention."""
    shape = read_json(model / "config.json")
    width, layers = shape["hidden_size"], shape["num_hidden_layers"]
    keys = width * shape["num_key_value_heads"] // shape["num_attention_heads"]
    a_layer = 2 * width * (width + keys) + 3 * width * shape["intermediate_size"]
    ordered = sorted(map(as_bytes, prompts))
    spans = [(shared, len(ids) // 4) for shared, ids in zip(shared_with_previous(ordered), ordered, strict=True)]
    nodes = sum(end - begin for begin, end in spans)
    pairs = sum((end * (end + 1) - begin * (begin + 1)) // 2 for begin, end in spans)
    return nodes, 2 * layers * a_layer * nodes, 4 * layers * width * pairs


if __name__ == "__main__":
    main()
