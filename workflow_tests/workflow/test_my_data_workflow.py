"""`my_data`, run for real: jobs, messages, and the effect of a correction."""

import csv
import re

import pytest
from conftest import town_records, write_lines
from fault_server import FaultServer
from plans import plan_in
from programs import refused
from workbench import Workbench

from litm.base.json_files import read_json, read_jsonl
from litm.base.table_files import write_csv

CONFIG = {
    "models": ["dummy"],
    "my_data": {"retrieved": "retrieved.jsonl", "questions": "asked.csv"},
    "define": {
        "experiments": {
            "my_positions": {"positions": {"5": [0, 4]}},
            "my_as_retrieved": {
                "sizes": [1, 5],
                "examples": 5,
                "remedies": {"order": ["reversed"], "cut": [{"margin": 3}]},
            },
        },
        "candidates": {name: {"documents": 5} for name in ("my_candidates", "my_retrieved")},
    },
}


def rows(bench: Workbench, table: str) -> list[dict]:
    with bench.path(f"results/tables/{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory) -> Workbench:
    """A workbench where six questions have been asked about what a system has retrieved for them."""
    bench = new_project.moved_to(tmp_path_factory.mktemp("my_data"))
    records = town_records(6, 6)
    del records[0]["documents"][2:]
    write_lines(bench.path("retrieved.jsonl"), records)
    # A third of the answers are nowhere.
    asked = [f"who rules town {q}?,{f'Ruler {q}2' if q % 3 else 'nobody'},town{q}" for q in range(6)]
    write_lines(bench.path("asked.csv"), ["question,answer,file", *asked])
    bench.configure(CONFIG)
    tables = [f"results/tables/{name}.csv" for name in ("accuracy", "gold_passages")]
    done = bench.snakemake("--", *tables)
    assert done.returncode == 0, done.stdout + done.stderr
    bench.path("said.txt").write_text(done.stdout + done.stderr)
    return bench


def test_one_key_measures_positions_as_retrieved_closed_book_and_oracle(finished):
    keys = ("experiment", "size", "placement", "n")
    assert [" ".join(row[key] for key in keys) for row in rows(finished, "accuracy")] == [
        "my_positions 5 gold_at_0 4",
        "my_positions 5 gold_at_4 4",
        "my_as_retrieved 1 as_retrieved 5",
        "my_as_retrieved 5 as_retrieved 5",
        "my_as_retrieved-reversed 5 as_retrieved 5",
        "my_as_retrieved-margin_3 5 as_retrieved 5",
        "my_closed_book 0 no_gold 4",
        "my_oracle 1 gold_at_0 4",
    ]


def test_random_documents_where_too_few_were_retrieved_are_always_cut(finished):
    cut = read_jsonl(finished.path("results/examples/my_as_retrieved-margin_3/5/as_retrieved.jsonl.gz"))
    assert [one["items"] for _, one in cut] == [2, 4, 4, 4, 4]
    # 3 of 5 documents of one of the five questions that are asked.
    said = " ".join(finished.path("said.txt").read_text().split())
    words = "filled in at random (my_as_retrieved 12.0 % at size 5): the retriever found too few."
    assert words in said and said.count("filled in at random") == 1


def test_how_gold_passages_were_found_is_in_the_tables_and_on_the_console(finished):
    assert [row["how"] for row in rows(finished, "gold_passages")] == ["none", "file", "file"] * 2
    assert {row["rank"] for row in rows(finished, "gold_passages")} == {"", "3"}
    said = finished.path("said.txt").read_text()
    assert "my_data: retrieved.jsonl: its retrieved passages are used instead of BM25's" in said
    assert said.count("my_questions_with_gold: 4 of 6 questions have a gold passage") == 1
    assert "(my_questions_with_gold 4 of 6 with a gold passage, 2 without, left out)" in " ".join(said.split())


def test_a_correction_runs_no_search_and_asks_only_the_changed_prompts(bench):
    corrected = rows(bench, "gold_passages")
    corrected[1]["passage"] = corrected[4]["passage"]
    lines = ["question,passage", *(f"{row['question']},{row['passage']}" for row in corrected)]
    write_lines(bench.path("corrected.csv"), lines)
    bench.configure({**CONFIG, "my_data": {**CONFIG["my_data"], "corrections": "corrected.csv"}})
    sweep = "results/responses/dummy/my_oracle.jsonl.gz"
    jobs = bench.run("--", sweep)
    assert jobs["find_gold"] == 1 and not {"make_passages", "read_questions", "read_run"} & set(jobs)
    assert bench.asked("my_oracle") == (1, 3)


def test_documents_are_indexed_with_bm25_after_their_questions_are_checked(new_bench):
    bench = new_bench
    bench.path("texts").mkdir()
    for number in range(30):
        bench.path(f"texts/{number}.txt").write_text(f"Town {number} has a mill.")
    write_lines(bench.path("own.csv"), ["question,answer,file", "What?,a mill,"])
    config = {"models": ["dummy"], "my_data": {"documents": "texts", "questions": "own.csv"}}
    bench.configure(config)
    plan = bench.plan()
    assert {"make_passages", "read_questions", "index_bm25s", "find_gold", "make_report"} <= set(plan)
    assert "read_run" not in plan
    write_lines(bench.path("own.csv"), ["question,answer,file", "What?,a mill,31.txt"])
    said = refused(plan_in, bench.folder, "config", **config)
    assert "own.csv, line 2, column 'file': 31.txt is not among the documents" in said


def write_or_answer(prompt: str) -> str:
    """A model that asks for the longest word of a note and reads it there; it makes mistakes with some notes."""
    title = re.search(r"note on ([\w ]+)|Title: (?:The )?([\w ]+)", prompt)
    subject = next(filter(None, title.groups())).lower()
    text = re.search(r"(?:Passage:|Title: [^)]*\)) (.*?)\n\n", prompt, re.DOTALL)
    word = max(re.findall(r"\w+", text[1]), key=len) if text else ""
    if "Write one question" in prompt:
        said = {
            "bakery": "I cannot.",
            "clinic": "Question: Why?\nAnswer: Xanadu",
            "ferry": "Question: Who is in the?\nAnswer: the",
        }
        return said.get(subject, f"Question: What is the longest word of the note on {subject}?\nAnswer: {word}")
    return {"fire_brigade": "no idea", "library": "kilometres librarian"}.get(subject, word or "unknown")


def written_config(url: str, models: tuple[str, ...] = ("dummy",)) -> dict:
    """Twelve questions on the notes that the model of a server writes and checks."""
    writer = {"engine": "openai", "api_model": "w", "base_url": f"{url}/v1", "prices": {"input": 1, "output": 1}}
    return {
        "models": [*models],
        "my_data": {"documents": "examples/notes", "questions": {"by": "writer", "number": 12}},
        "define": {"models": {"writer": writer}},
    }


def test_neither_a_plan_nor_an_estimate_asks_the_model_that_writes_questions(new_bench):
    with FaultServer(lambda prompt, attempt: None, answer=write_or_answer) as server:
        new_bench.configure(written_config(server.url, ("writer",)))
        planned = new_bench.snakemake("-n")
        estimated = new_bench.snakemake("estimate")
        assert not server.asked
    assert planned.returncode == estimated.returncode == 0, planned.stderr + estimated.stderr
    # 12 to write, 24 to check, and what is asked of questions that nobody has written yet.
    with new_bench.path("results/estimate.csv").open(newline="") as file:
        prompts = {row["experiment"]: int(row["prompts"] or 0) for row in csv.DictReader(file)}
    assert prompts["my_questions_with_gold-written"] == 12 and prompts["my_questions_with_gold-checked"] == 24


def test_questions_that_a_model_writes_are_checked_asked_edited_and_never_paid_twice(new_project, tmp_path):
    bench = new_project.moved_to(tmp_path)
    with FaultServer(lambda prompt, attempt: None, answer=write_or_answer) as server:
        config = written_config(server.url)
        bench.configure(config)
        done = bench.snakemake("results/tables/written_questions.csv", "results/findings.json")
        assert done.returncode == 0, done.stdout + done.stderr
        asked = len(server.asked)
        outcomes = [row["outcome"] for row in rows(bench, "written_questions")]
        assert sorted(outcomes) == [
            *["in_question"] * 2,
            *["kept"] * 6,
            "known",
            "no_pair",
            "not_answered",
            "not_in_passage",
        ]
        kept = list(csv.DictReader(bench.path("results/written_questions/my_questions_with_gold.csv").open()))
        assert len(kept) == outcomes.count("kept") and {row["written_by"] for row in kept} == {"writer"}
        findings = read_json(bench.path("results/findings.json"))["findings"]
        finding = next(one for one in findings if one["kind"] == "written")
        assert finding["facts"]["written_by"] == "writer" and finding["facts"]["kept"] == len(kept)
        assert "The questions are written by a model" in done.stdout + done.stderr
        # The prompts of a writer that is also measured are those of the oracle and the closed book.
        bench.configure({**config, "models": ["writer"]})
        again = bench.snakemake("results/accuracy/writer/my_oracle.csv", "results/accuracy/writer/my_closed_book.csv")
        assert again.returncode == 0 and len(server.asked) == asked
        edited = [{**row, "question": row["question"].replace("What", "Which")} for row in kept[1:]]
        write_csv(bench.path("mine.csv"), edited)
        bench.configure({**config, "my_data": {"documents": "examples/notes", "questions": "mine.csv"}})
        done = bench.snakemake("results/tables/gold_passages.csv", "results/findings.json")
        assert done.returncode == 0
        assert [row["how"] for row in rows(bench, "gold_passages")] == ["text"] * len(edited)
        findings = read_json(bench.path("results/findings.json"))["findings"]
        finding = next(one for one in findings if one["kind"] == "written_before")
        assert finding["facts"]["written_by"] == ["writer"] and finding["facts"]["written"] == finding["n"] == len(
            edited
        )
        said = " ".join((done.stdout + done.stderr).split())
        assert f"written by a model (my_questions_with_gold {len(edited)} of {len(edited)} by writer)" in said
        assert len(server.asked) == asked
