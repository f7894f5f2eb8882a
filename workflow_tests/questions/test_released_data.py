"""The authors' released files, if present: the paper's token tables, and the sizes that a file serves."""

from dataclasses import replace

import pytest
from conftest import ROOT

from litm.base.json_files import read_jsonl
from litm.examples.checks import answer_check_row
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.prompting.prompt_format import PromptFormat, load_tokenizer, read_prompt_template
from litm.prompting.token_counts import measure_prompts, token_count_row

ALL = ExampleSettings(examples=None, seed=0, distractor_order="ranked")
ORACLE = "nq-open-oracle.jsonl.gz"
QA_20 = "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz"


def examples(task_name: str, file, size: int, placement: str, settings: ExampleSettings = ALL) -> list[dict]:
    task = load_task(task_name)
    template = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt", size > 0)
    questions = task.questions(size, settings, str(file))
    return [make_example(question, size, placement, template, task) for question in questions]


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "file", "size", "placement", "published"),
    [
        ("closed_book_qa", ORACLE, 0, "no_gold", (2655, "43.5", "2.2", 58)),
        ("oracle_qa", ORACLE, 1, "gold_at_0", (2655, "187.9", "41.8", 482)),
        ("kv_retrieval", "kv-retrieval-75_keys.jsonl.gz", 75, "gold_at_24", (500, "4110.5", "23.8", 4187)),
        ("kv_retrieval", "kv-retrieval-140_keys.jsonl.gz", 140, "gold_at_139", (500, "7600.9", "31.1", 7687)),
    ],
)
def test_the_token_counts_of_mpt_are_those_of_the_papers_tables_2_and_4(data, task, file, size, placement, published):
    tokenizer = load_tokenizer(str(data / "tokenizers" / "gpt-neox-20b.tokenizer.json"))
    template = read_prompt_template(ROOT / "resources" / "prompt_templates" / "mpt_instruct.txt")
    asked = examples(task, data / file, size, placement)
    measured = measure_prompts(PromptFormat(tokenizer, "mpt_instruct", template), asked)
    row = token_count_row("mpt", "e", size, placement, [prompt for _, prompt in measured])
    assert (row["n"], f"{row['tokens_mean']:.1f}", f"{row['tokens_sd']:.1f}", row["tokens_max"]) == published
    assert row["n_gold_located"] == (0 if task == "closed_book_qa" else row["n"])


def test_the_gold_answers_to_be_careful_with_are_counted(data):
    row = answer_check_row("oracle", 1, examples("oracle_qa", data / ORACLE, 1, "gold_at_0"))
    assert (row["n"], row["n_symbols_only"], row["n_short"], row["n_in_question"]) == (2655, 1, 63, 53)
    assert row["n_not_in_gold"] == 0


def test_a_file_of_20_documents_serves_every_size_and_position(data):
    records = [record for _, record in read_jsonl(data / QA_20)]
    few = replace(ALL, examples=25)
    for size, position in ((20, 0), (20, 19), (10, 4), (1, 0)):
        made = examples("multi_document_qa", data / QA_20, size, f"gold_at_{position}", few)
        for example, record in zip(made, records[:25], strict=True):
            gold, *others = record["ctxs"]
            documents = [*others[:position], gold, *others[position : size - 1]]
            lines = [f"Document [{n}](Title: {d['title']}) {d['text']}" for n, d in enumerate(documents, start=1)]
            assert example.prompt.split("\n\n", 1)[1].startswith("\n".join(lines) + "\n\nQuestion: ")
            start, end = example.targets[0].span
            assert example.prompt[start:end] == lines[position]


def test_a_question_has_the_same_id_in_every_file_about_it(data):
    oracle = {e.question: e.id for e in examples("oracle_qa", data / ORACLE, 1, "gold_at_0")}
    sample = examples("multi_document_qa", data / QA_20, 20, "gold_at_0")
    assert len(oracle) == 2655 and len({*oracle.values()}) == 2655
    assert all(oracle[example.question] == example.id for example in sample)
