"""Planning opens no file per cell; and the benchmarks of scale run."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, qa_record, write_lines
from workbench import Workbench

RUN_ALL = [sys.executable, ROOT / "benchmarks" / "run_all.py", "--quick"]
#: Plans, and prints the files that were opened.
PLAN = """
import sys
sys.addaudithook(lambda event, arguments: event == "open" and print("opened", arguments[0]))
from snakemake.cli import main
main(["--dry-run", "--quiet", "host", "--configfile", "small.yaml", "--cores", "1"])
"""


def opened_by_a_plan(bench: Workbench, positions: int) -> Counter[Path]:
    """The number of times each file of the workbench is opened while Snakemake plans an experiment."""
    settings = {"task": "kv_retrieval", "positions": {50: list(range(positions))}, "examples": 3}
    bench.configure({"models": ["reference"], "experiments": ["kv"], "define": {"experiments": {"kv": settings}}})
    # Without bytecode, which the first plan would write and the second read.
    command = [sys.executable, "-B", "-c", PLAN]
    done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, check=True)
    assert f"make_examples {positions}".split() in [line.split() for line in done.stdout.splitlines()]
    opened = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("opened")]
    paths = [(bench.folder / name).resolve() for name in opened if not name.isdigit()]
    return Counter(path for path in paths if path.is_relative_to(bench.folder) and ".snakemake" not in path.parts)


def test_planning_opens_no_file_for_a_position(new_bench):
    bench = new_bench
    # The first plan keeps the hashes of large files.
    opened_by_a_plan(bench, 2)
    few = opened_by_a_plan(bench, 2)
    assert bench.path("small.yaml") in few
    assert opened_by_a_plan(bench, 40) == few


@pytest.mark.slow
def test_measurements_are_tables_on_a_page_that_keeps_those_of_earlier_runs(tmp_path):
    page = tmp_path / "results.md"
    for name in ("passages", "bm25"):
        subprocess.run([*RUN_ALL, "--only", name, "--output", page], check=True, capture_output=True)
    text = page.read_text()
    assert "| make_passages.py | 400 |" in text and "commit " in text
    assert "## BM25, against pyserini's own\n\nNot measured: it needs `--passages` and `--questions`." in text
    assert "## Reading kept answers\n\nNot measured.\n" in text


@pytest.mark.slow
def test_every_measurement_that_needs_no_other_file_runs(tmp_path):
    name = "nq-open-20_total_documents_gold_at_0.jsonl.gz"
    write_lines(tmp_path / name, [qa_record(number, 19) for number in range(3)])
    page = tmp_path / "results.md"
    done = subprocess.run([*RUN_ALL, "--data", tmp_path, "--output", page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sections = page.read_text().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections if "\n| --- |" not in section] == [
        "BM25, against pyserini's own",
        "Dense search, against pyserini's own",
    ]


@pytest.mark.slow
def test_peers_read_the_same_prompts_and_give_the_same_answers_in_float32(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_lines(data / "nq-open-20_total_documents_gold_at_0.jsonl.gz", [qa_record(0, 19)])
    ways = {"sorted": "sorted, early stop", "ours": "this workflow"}
    words = ["--data", data, "--folder", tmp_path / "peers", "--prompts", "qa10", "--questions", "1", "--ways", *ways]
    command = [sys.executable, ROOT / "benchmarks" / "peers.py", *words, "--dtype", "float32"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    assert "3 prompts" in done.stdout
    assert [(row[0], row[-1]) for row in rows[2:]] == [(way, "3 of 3") for way in ways.values()]
