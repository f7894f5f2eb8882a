"""The prompts of the paper, character by character."""

import pytest
from conftest import ROOT

from litm.examples.examples import make_example, read_template
from litm.examples.tasks import load_task
from litm.records import Gold, Question

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
        (
            *("multi_document_qa_query_aware", "multi_document_qa", 2, "gold_at_1"),
            f"{INSTRUCTION}\n\n{QUESTION}\n\n{SEARCH_RESULTS}\n\n{LAST}",
        ),
        (
            *("multi_document_qa_random_order", "multi_document_qa", 2, "gold_at_1"),
            f"{INSTRUCTION} The search results are ordered randomly.\n\n{SEARCH_RESULTS}\n\n{LAST}",
        ),
        ("closed_book_qa", "", 0, "no_gold", LAST),
        ("multi_document_qa", "oracle_qa", 1, "gold_at_0", f"{INSTRUCTION}\n\n{GOLD_ALONE}\n\n{LAST}"),
        ("kv_retrieval", "", 3, "gold_at_1", f"{EXTRACT}\n\nJSON data:\n{JSON}\n\n{LAST_KEY}"),
        (
            *("kv_retrieval_query_aware", "kv_retrieval", 3, "gold_at_1"),
            f'{EXTRACT}\n\nKey: "key2"\n\nJSON data:\n{JSON}\n\n{LAST_KEY}',
        ),
    ],
)
def test_a_prompt_reads_as_in_the_paper(prompt, task, size, placement, expected):
    made_by = load_task(task or prompt)
    template = read_template(ROOT / "resources" / "prompts" / f"{prompt}.txt", with_context=size > 0)
    question = KEY if made_by.name == "kv_retrieval" else ASKED
    assert make_example(question, size, placement, template, made_by).prompt == expected
