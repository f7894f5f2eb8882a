"""The prompts of the paper, character by character."""

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


def prompt(task_name: str, prompt_name: str, question: Question, size: int, placement: str) -> str:
    task = load_task(task_name)
    template = read_template(ROOT / "resources" / "prompts" / f"{prompt_name}.txt", with_context=size > 0)
    return make_example(question, size, placement, template, task).prompt


def qa(prompt_name: str, task: str = "multi_document_qa", size: int = 2, placement: str = "gold_at_1") -> str:
    question = Question("id", "test question", (Gold("gold", DOCUMENTS[1], ("x",)),), DOCUMENTS[:1])
    return prompt(task, prompt_name, question, size, placement)


def kv(prompt_name: str) -> str:
    question = Question("key2", "key2", (Gold("gold", PAIRS[1], ("value2",)),), (PAIRS[0], PAIRS[2]))
    return prompt("kv_retrieval", prompt_name, question, 3, "gold_at_1")


def test_multi_document_qa_is_figure_2():
    assert qa("multi_document_qa") == f"{INSTRUCTION}\n\n{SEARCH_RESULTS}\n\nQuestion: test question\nAnswer:"


def test_query_aware_qa_has_the_question_on_both_sides():
    expected = f"{INSTRUCTION}\n\nQuestion: test question\n\n{SEARCH_RESULTS}\n\nQuestion: test question\nAnswer:"
    assert qa("multi_document_qa_query_aware") == expected


def test_randomly_ordered_qa_says_so():
    expected = (
        f"{INSTRUCTION} The search results are ordered randomly.\n\n{SEARCH_RESULTS}\n\n"
        "Question: test question\nAnswer:"
    )
    assert qa("multi_document_qa_random_order") == expected


def test_closed_book_qa_is_the_question_alone():
    assert qa("closed_book_qa", "closed_book_qa", 0, "no_gold") == "Question: test question\nAnswer:"


def test_oracle_qa_is_the_prompt_with_the_gold_document_alone():
    expected = f"{INSTRUCTION}\n\nDocument [1](Title: second doc) second doc text\n\nQuestion: test question\nAnswer:"
    assert qa("multi_document_qa", "oracle_qa", 1, "gold_at_0") == expected


def test_kv_retrieval_is_figure_7():
    assert kv("kv_retrieval") == f'{EXTRACT}\n\nJSON data:\n{JSON}\n\nKey: "key2"\nCorresponding value:'


def test_query_aware_kv_retrieval_has_the_key_on_both_sides():
    expected = f'{EXTRACT}\n\nKey: "key2"\n\nJSON data:\n{JSON}\n\nKey: "key2"\nCorresponding value:'
    assert kv("kv_retrieval_query_aware") == expected
