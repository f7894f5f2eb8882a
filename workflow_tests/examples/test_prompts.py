"""The prompts of the paper, character by character, and those that the recorded answers are of."""

import gzip
import json

import pytest
from conftest import ROOT

from litm.config.study import load_study
from litm.config.yaml_files import read_yaml
from litm.examples.examples import examples_of, make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.records.questions import Gold, Question

DOCUMENTS = (("first doc", "first doc text"), ("second doc", "second doc text"))
PAIRS = (("key1", "value1"), ("key2", "value2"), ("key3", "value3"))
INSTRUCTION = (
    "Write a high-quality answer for the given question using only the provided search results "
    "(some of which might be irrelevant)."
)
SEARCH_RESULTS = "Document [1](Title: first doc) first doc text\nDocument [2](Title: second doc) second doc text"
JSON = '{"key1": "value1",\n "key2": "value2",\n "key3": "value3"}'
EXTRACT = "Extract the value corresponding to the specified key in the JSON object below."


LAST_KEY = 'Key: "key2"\nCorresponding value:'
QUESTION = "Question: test question"
LAST = f"{QUESTION}\nAnswer:"
GOLD_ALONE = "Document [1](Title: second doc) second doc text"
ASKED = Question("id", "test question", (Gold("gold", DOCUMENTS[1], ("x",)),), DOCUMENTS[:1])
KEY = Question("key2", "key2", (Gold("gold", PAIRS[1], ("value2",)),), (PAIRS[0], PAIRS[2]))


@pytest.mark.parametrize(
    ("prompt", "task", "size", "placement", "expected"),
    [
        # Figure 2, and Figure 7 below.
        ("multi_document_qa", "", 2, "gold_at_1", f"{INSTRUCTION}\n\n{SEARCH_RESULTS}\n\n{LAST}"),
        ("multi_document_qa_query_aware", "multi_document_qa", 2, "gold_at_1",
         f"{INSTRUCTION}\n\n{QUESTION}\n\n{SEARCH_RESULTS}\n\n{LAST}"),
        ("multi_document_qa_random_order", "multi_document_qa", 2, "gold_at_1",
         f"{INSTRUCTION} The search results are ordered randomly.\n\n{SEARCH_RESULTS}\n\n{LAST}"),
        ("closed_book_qa", "", 0, "no_gold", LAST),
        ("multi_document_qa", "oracle_qa", 1, "gold_at_0", f"{INSTRUCTION}\n\n{GOLD_ALONE}\n\n{LAST}"),
        ("kv_retrieval", "", 3, "gold_at_1", f"{EXTRACT}\n\nJSON data:\n{JSON}\n\n{LAST_KEY}"),
        ("kv_retrieval_query_aware", "kv_retrieval", 3, "gold_at_1",
         f'{EXTRACT}\n\nKey: "key2"\n\nJSON data:\n{JSON}\n\n{LAST_KEY}'),
    ],
)  # fmt: skip
def test_a_prompt_reads_as_in_the_paper(prompt, task, size, placement, expected):
    made_by = load_task(task or prompt)
    template = read_template(ROOT / "resources" / "prompts" / f"{prompt}.txt", with_context=size > 0)
    question = KEY if made_by.name == "kv_retrieval" else ASKED
    assert make_example(question, size, placement, template, made_by).prompt == expected


#: The experiments of config/laptop.yaml that make their own questions, with the numbers of their prompts.
RECORDED = {
    "kv_retrieval_small": 1200, "needle_in_haystack_small": 1000, "multi_needle_spacing": 600,
    "similar_country_names": 1000, "nine_coded_statues": 1000, "colour_in_exchanges": 1000, "price_of_a_quantity": 600,
}  # fmt: skip


@pytest.mark.long
def test_the_answers_in_resources_are_to_the_prompts_that_the_tasks_make_today():
    config = {**read_yaml(ROOT / "config" / "config.yaml"), **read_yaml(ROOT / "config" / "laptop.yaml")}
    study = load_study({**config, "experiments": list(RECORDED)}, ROOT)
    for name, number in RECORDED.items():
        (path,) = ROOT.glob(f"resources/recorded/*/{name}.jsonl.gz")
        answered = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        asked, task = study.experiments[name], load_task(study.experiments[name].task)
        template = read_template(ROOT / "resources" / "prompts" / f"{asked.prompt}.txt")
        settings = ExampleSettings(**asked.example_settings())
        made = [
            {"size": one.size, "placement": one.placement, "id": one.id, "prompt_sha256": one.prompt_sha256}
            for cell in asked.cells
            for questions in [task.questions(cell.size, settings, None)]
            for one in examples_of(task, questions, cell.size, cell.placement, template, settings)
        ]
        assert len(made) == number and made == [{key: one[key] for key in made[0]} for one in answered], name
