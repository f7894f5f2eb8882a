"""Data that rules generate, by the programs of planned jobs: prompts of all tasks, passages, questions, candidates."""

import bz2
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import yaml
from conftest import qa_record, town_records, write_lines
from pdf_files import write_pdf
from planned_jobs import cut, digest
from workbench import Workbench

#: Characters of a prompt that are shown: its beginning and its end.
SHOWN = 420

KV_RECORD = {"ordered_kv_records": [["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"]], "key": "c", "value": "3"}
EXAMPLES = 3
MADE = yaml.safe_load(Path(__file__).with_name("generated.yaml").read_text())


def generate(bench: Workbench, whole: bool) -> Iterator[tuple[str, str]]:
    """The prompts of all tasks, and all other data that is made for them."""
    config, own = MADE["config"], MADE["own"]
    experiments = {name: {"examples": EXAMPLES, **entry} for name, entry in config["define"]["experiments"].items()}
    define = {**config["define"], "experiments": experiments}
    _supply(bench)
    made = [f"results/example_checks/{name}.json" for name in (*experiments, *MADE["conditions"])]
    made += [f"results/passages/{name}/manifest.json" for name in define["corpora"]]
    made += [f"results/questions/{name}.jsonl.gz" for name in define["questions"]]
    bench.configure({**config, "experiments": list(experiments), "define": define})
    bench.make_here(*made)
    made = [f"results/example_checks/{name}.json" for name in MADE["own_experiments"]]
    bench.configure(own)
    bench.make_here(*made, "results/tables/gold_passages.csv")
    yield "prompts", "\n".join(_prompts(bench, whole))
    yield "data", "\n".join(_data(bench, whole))


def _supply(bench: Workbench) -> None:
    write_lines(bench.path("asked.jsonl.gz"), [qa_record(number, 5) for number in range(4)])
    write_lines(bench.path("pairs.jsonl"), [KV_RECORD, {**KV_RECORD, "key": "a", "value": "1"}])
    bench.path("kept.txt").write_text("what is number 3\nwhat is number 1\n")
    texts = [f"Word {'x ' * number} {'answer1' if number == 2 else 'other'}." for number in range(7)]
    documents = [
        {"id": f"d{n}", "title": f"T{n}", "text": text, "score": str(10 - 1.5 * n)} for n, text in enumerate(texts)
    ]
    asked = [{"question": f"which word {n}", "answers": [f"answer{n}"], "ctxs": documents} for n in range(3)]
    write_lines(bench.path("found.jsonl"), asked)
    write_lines(bench.path("own.jsonl"), town_records(4, 4, "Town {q}: {who} {q}{d}."))
    rows = [f"who rules town {q}?,{f'Ruler {q}2|R{q}' if q % 3 else 'nobody'},town{q},{q}" for q in range(4)]
    write_lines(bench.path("own.csv"), ["Question,Answer,file,kept", *rows])
    _write_documents(bench.path("documents"))
    write_lines(bench.path("passages.tsv"), ["id\ttext\ttitle", '1\t"A ""b"" c."\tOne', "2\tSecond é.\tTwo"])
    page = "<page><title>{}</title><ns>0</ns><id>{}</id><revision><id>9</id><text>{}</text></revision></page>"
    body = "".join(
        page.format(title, number, text)
        for number, (title, text) in enumerate(
            [("Mill", "A '''mill''' has [[wheel|wheels]].\n\n== Parts ==\nA {{t}} stone &amp; a sail that turns in the "
              "wind of the sea."), ("Mills", "#REDIRECT [[Mill]]"), ("X", "{{disambiguation}} Many.")]
        )
    )  # fmt: skip
    info = "<siteinfo><namespaces><namespace key='0' /></namespaces></siteinfo>"
    dump = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">{info}{body}</mediawiki>'
    bench.path("dump.xml.bz2").write_bytes(bz2.compress(dump.encode()))


def _write_documents(folder: Path) -> None:
    (folder / "deeper").mkdir(parents=True)
    (folder / "a.txt").write_text("First line of a text. " * 4 + "\n\nLast words\tof it.\n")
    (folder / "b.md").write_text("# Head\n\nA *word* and a [link](x).\n")
    (folder / "deeper" / "c.html").write_text(
        "<html><head><title>Page &amp; more</title><style>p {}</style></head><body><p>One.</p><ul><li>Two</ul></body>"
    )
    write_lines(folder / "d.jsonl", [{"id": "own", "title": "Row", "text": "A chunk."}, {"page_content": "Another."}])
    (folder / "e.csv").write_text("title,text\nOf a table,Its row.\n")
    write_pdf(folder / "f.pdf", ["Text of page one", "", "Text of page three"])


def _prompts(bench: Workbench, whole: bool) -> Iterator[str]:
    folder = bench.path("results/examples")
    for experiment in sorted(path for path in folder.iterdir() if path.is_dir()):
        for number, path in enumerate(sorted(experiment.glob("*/*.jsonl.gz"))):
            lines = gzip.decompress(path.read_bytes()).decode().splitlines()
            yield f"{path.relative_to(folder)}: {len(lines)} examples, {digest(lines)}"
            for line in lines if whole else lines[:1] if number == 0 else []:
                yield from _example(json.loads(line), whole)


def _example(example: dict, whole: bool) -> Iterator[str]:
    prompt = example.pop("prompt")
    yield f"  {cut(json.dumps(example, ensure_ascii=False), 600)}"
    shown = prompt if whole or len(prompt) <= 2 * SHOWN else f"{prompt[:SHOWN]}[...]{prompt[-SHOWN:]}"
    yield from (f"  | {line}" for line in shown.splitlines())


def _data(bench: Workbench, whole: bool) -> Iterator[str]:
    for kind in ("passages", "questions", "candidates", "gold_passages", "example_checks", "tables", "reranked"):
        for path in sorted(bench.path(f"results/{kind}").rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                content = path.read_bytes()
                text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
                lines = [json.dumps(json.loads(text))] if path.suffix == ".json" else text.splitlines()
                yield f"=== {path.relative_to(bench.path('results'))}: {len(lines)} lines, {digest(lines)}"
                number = len(lines) if whole or len(lines) <= 16 else 4
                yield from (line if whole else cut(line, 400) for line in lines[:number])
