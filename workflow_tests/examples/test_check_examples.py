"""The program that checks examples before a model is asked."""

import subprocess
from pathlib import Path

from conftest import write_lines
from programs import run_program

from litm.base.formats import read_json

SENTENCES = ["One sentence is here.", "Another one is there.", "The code is K-7."]


def record(id: str, position: int, sentences: list[str]) -> dict:
    """A question whose answer is in the sentence of that position."""
    start = sum(len(sentence) + 1 for sentence in sentences[:position])
    span = [start, start + len(sentences[position])]
    target = {"name": "gold", "position": position, "depth": position / 2, "span": span, "answers": ["K-7"]}
    return {
        "id": id, "size": 3, "placement": f"gold_at_{position}", "question": "Which?", "prompt": " ".join(sentences),
        "answer_in_distractors": False, "targets": [target],
    }  # fmt: skip


def gold_at(position: int) -> list[str]:
    others = SENTENCES[:2]
    return [*others[:position], SENTENCES[2], *others[position:]]


def check(folder: Path, examples: dict[str, list[dict]], *words: str) -> subprocess.CompletedProcess:
    (folder / "3").mkdir(exist_ok=True)
    files = [write_lines(folder / "3" / f"{name}.jsonl.gz", records) for name, records in examples.items()]
    return run_program(
        "check_examples", "--experiment", "e", "--examples", *files, *words, "--output", folder / "e.json"
    )


def good() -> dict[str, list[dict]]:
    return {f"gold_at_{p}": [record("a", p, gold_at(p)), record("b", p, gold_at(p))] for p in (0, 2)}


def test_examples_that_pass_are_written_down(tmp_path):
    done = check(tmp_path, good(), "--generated")
    assert done.returncode == 0, done.stderr
    assert read_json(tmp_path / "e.json") == {
        "experiment": "e", "generated": True, "placements": {"3": ["gold_at_0", "gold_at_2"]}
    }  # fmt: skip


def test_a_leak_in_generated_examples_stops_the_run_with_one_line(tmp_path):
    examples = good()
    for placement in examples:
        examples[placement][1]["prompt"] += " Again: K-7."
    done = check(tmp_path, examples, "--generated")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert (
        "error: the examples of e, size 3, would not measure what they should: b, gold_at_0: the answer K-7 is outside"
        in done.stderr
    )
    assert not (tmp_path / "e.json").exists()
    # In real documents an answer may be anywhere: that is counted in a table instead.
    assert check(tmp_path, examples).returncode == 0
