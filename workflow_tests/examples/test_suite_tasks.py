"""The suite's tasks: their questions, the fixed text around the gold item, and the program that makes them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from configs import KV, of_row
from conftest import ROOT, qa_record, write_lines
from programs import run_program
from record_makers import response
from suite_examples import (
    IN_SUITE_WORDS,
    SETTINGS,
    SIZES,
    SUITE_TASKS,
    TASKS,
    example,
    nine_positions,
    questions,
    suite_placements,
)

from litm.base.messages import UserError
from litm.config.study import load_study
from litm.config.yaml_files import read_yaml
from litm.examples.checks import check_examples, checked
from litm.examples.examples import make_example, place, read_template
from litm.examples.tasks import load_task
from litm.examples.tasks.needles import PRICES
from litm.examples.wording import filler_sentences
from litm.placements import gold_placement
from litm.records.examples import read_examples
from litm.scoring.metrics import METRICS
from litm.scoring.scores import Sweep, score_sweep


def test_a_conversation_also_has_chat_messages_in_turns():
    question = questions("conversation_memory", 3)[0]
    record = example("conversation_memory", question, 3, "gold_at_1")
    messages = record.messages
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3 + ["user"]
    assert [messages[2]["content"], messages[3]["content"]] == list(question.golds[0].item)
    assert messages[-1]["content"] == question.text
    names = {"user": "User", "assistant": "Assistant"}
    transcript = "\n".join(f"{names[message['role']]}: {message['content']}" for message in messages)
    assert record.prompt.endswith(f"\n\n{transcript}\nAssistant:")


@pytest.mark.parametrize("task", TASKS)
def test_a_seed_gives_the_same_questions_whatever_their_number_and_another_one_others(task):
    again = list(load_task(task).questions(20, SETTINGS, None))
    assert again == list(questions(task, 20)) == list(questions(task, 20, replace(SETTINGS, examples=8))[:5])
    other = questions(task, 20, replace(SETTINGS, seed=1))
    assert all(mine.golds != theirs.golds for mine, theirs in zip(again, other, strict=True))
    assert all(mine.distractors != theirs.distractors for mine, theirs in zip(again, other, strict=True))


@pytest.mark.parametrize("task", TASKS)
def test_all_questions_have_ids_and_answers_of_their_own(task):
    some = [*questions(task, 20, replace(SETTINGS, examples=30)), *questions(task, 21)]
    assert len({question.id for question in some}) == 35
    answers = [answer for question in some for gold in question.golds for answer in gold.answers]
    assert len(set(answers)) > 0.8 * len(answers)
    assert len({question.distractors for question in some}) == 35


@pytest.mark.parametrize("task", [name for name in TASKS if load_task(name).read is None])
def test_a_dataset_is_refused_because_nothing_is_taken_from_it(task):
    with pytest.raises(UserError, match=f"the task {task} makes its own questions: remove 'dataset'"):
        list(load_task(task).questions(20, SETTINGS, "questions.jsonl"))


def test_three_needles_go_to_any_three_ascending_positions_among_the_same_sentences():
    for question in questions("multi_needle", 30):
        for positions in [(0, 1, 2), (27, 28, 29), (0, 14, 29), (3, 4, 20)]:
            context = place(question, 30, gold_placement(positions))
            assert [context[position] for position in positions] == [gold.item for gold in question.golds]
            assert tuple(item for index, item in enumerate(context) if index not in positions) == question.distractors


@pytest.mark.parametrize(
    ("task", "placement", "message"),
    [
        ("multi_needle", "gold_at_4", "gold_at_4 has 1 positions, but question multi_needle/30/0 has 3 gold items"),
        ("multi_needle", "gold_at_4_5", "has 2 positions"),
        ("multi_needle", "gold_at_4_5_6_7", "has 4 positions"),
        ("multi_needle", "gold_at_5_4_6", "gold_at_5_4_6: the positions must ascend"),
        ("multi_needle", "gold_at_4_4_6", "gold_at_4_4_6: the positions must ascend"),
        ("multi_needle", "gold_at_4_5_30", "position 30 is impossible, positions in a context of 30 are 0 to 29"),
        ("multi_needle", "gold_at_30_5_6", "position 30 is impossible"),
        ("needle_in_haystack", "gold_at_1_2", "gold_at_1_2 has 2 positions, but question .* has 1 gold items"),
        ("needle_in_haystack", "gold_at_30", "position 30 is impossible, positions in a context of 30 are 0 to 29"),
    ],
)
def test_positions_that_cannot_be_are_refused(task, placement, message):
    with pytest.raises(UserError, match=message):
        place(questions(task, 30)[0], 30, placement)


@pytest.mark.parametrize(
    ("task", "size", "message"),
    [
        ("multi_needle", 2, "multi_needle: a context of 2 has no room for 3 needles"),
        ("demonstrations", 577, "demonstrations: there are 576 subjects, so that a context cannot have 577"),
    ],
)
def test_a_context_that_cannot_be_made_is_refused(task, size, message):
    with pytest.raises(UserError, match=message):
        next(load_task(task).questions(size, SETTINGS, None))


@pytest.mark.parametrize("metric", ["exact_code", "only_code"])
def test_each_needle_is_scored_alone_in_any_order_and_with_others_missing(metric):
    record = example("multi_needle", questions("multi_needle", 10)[0], 10, "gold_at_1_4_8")
    start, _, end = (target.answers[0] for target in record.targets)
    answered = response(id=record.id, size=10, placement="gold_at_1_4_8", response=f"{end}, {start}")
    scores = score_sweep(Sweep("m", "e", "multi_needle", metric), [record], [answered])
    assert scores[["target", "position", "correct"]].to_numpy().tolist() == [
        ["start", 1, True], ["middle", 4, False], ["end", 8, True]
    ]  # fmt: skip
    assert scores["wrong_kind"].fillna("none").tolist() == ["none", "left_out", "none"]
    other = {"exact_code": "strict", "only_code": "lenient"}[metric]
    assert scores[f"correct_{other}"].tolist() == scores["correct"].tolist()


@pytest.mark.parametrize("task", TASKS)
def test_a_task_names_a_metric_and_leaves_room_for_its_answer(task):
    defaults = load_task(task)
    assert defaults.metric in METRICS and not defaults.needs_dataset
    answers = questions(task, 20)[0].golds
    assert defaults.max_new_tokens >= 2 * sum(len(gold.answers[0]) for gold in answers)


def made(folder: Path, task: str, size: int, placement: str, examples: int | None, dataset: list | None = None) -> str:
    """What the program says that writes the examples of a cell to `folder`."""
    settings = {"examples": examples, "seed": 0, "distractor_order": "ranked"}
    done = run_program(
        "make_examples", "--task", task, "--size", size, "--placement", placement, "--settings", json.dumps(settings),
        "--prompt", ROOT / "resources" / "prompts" / f"{task}.txt", "--output", folder / f"{placement}.jsonl.gz",
        "--dataset", *([write_lines(folder / "qa.jsonl", dataset)] if dataset else []), "--labels",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_program_writes_the_examples_of_three_needles(tmp_path):
    made(tmp_path, "multi_needle", 5, "gold_at_0_2_4", 2)
    records = list(read_examples(tmp_path / "gold_at_0_2_4.jsonl.gz"))
    assert records[0] == example("multi_needle", questions("multi_needle", 5)[0], 5, "gold_at_0_2_4")
    assert [[target.position for target in record.targets] for record in records] == [[0, 2, 4]] * 2


@pytest.mark.parametrize("copies", [0, 1])
def test_the_program_says_how_many_questions_have_their_gold_document_twice(copies, tmp_path):
    one, other = qa_record(1, 2), qa_record(2, 2)
    one["ctxs"] += [{**one["ctxs"][1], "isgold": False}] * copies
    said = "qa.jsonl: 1 of 2 questions have their gold item among the distractors too (the first is 'what is number 1')"
    assert (said in made(tmp_path, "multi_document_qa", 3, "gold_at_0", None, [one, other])) == bool(copies)


def test_the_program_says_how_many_gold_answers_are_not_in_composed_form_and_that_there_are_fewer_than_asked(tmp_path):
    rows = [{"question": f"who {answer}", "answers": [answer]} for answer in ("Beyonc\u00e9", "Beyonce\u0301")]
    said = made(tmp_path, "closed_book_qa", 0, "no_gold", 3, rows)
    assert "qa.jsonl: 1 of 2 questions have a gold answer that is not in Unicode's composed form (NFC)" in said
    assert "qa.jsonl: 2 questions, fewer than the 3 of 'examples'; all are taken" in said


def nine(*sizes: int) -> dict[int, list[list[int]]]:
    return {size: [[position] for position in nine_positions(size)] for size in sizes}


#: What config/suite.yaml runs: prompts, cells and questions of section 4 of the suite's description. 100 turns of a
#: conversation are 50 exchanges.
SELECTED = {
    "suite_kv_retrieval": ("kv_retrieval", "kv_retrieval", nine(100, 200)),
    "suite_needle_in_haystack": ("needle_in_haystack", "suite_needle_in_haystack", nine(500)),
    "suite_multi_needle": ("multi_needle", "suite_multi_needle", {300: [[0, 150, 299]]}),
    "suite_fact_reasoning": ("fact_reasoning", "suite_document", nine(300)),
    "suite_semantic_distractors": ("semantic_distractors", "suite_document", nine(80)),
    "suite_temporal_narrative": ("temporal_narrative", "suite_document", nine(100)),
    "suite_conversation_memory": ("conversation_memory", "conversation_memory", nine(50)),
}


def test_the_suite_selects_the_seven_experiments_of_its_description():
    selection = read_yaml(ROOT / "config" / "suite.yaml")
    study = load_study({**read_yaml(ROOT / "config" / "config.yaml"), **selection}, ROOT)
    assert list(study.experiments) == list(SELECTED)
    for name, experiment in study.experiments.items():
        task, prompt, positions = SELECTED[name]
        assert (experiment.task, experiment.prompt, experiment.examples) == (task, prompt, 50)
        assert experiment.wording == ("plain" if task == "kv_retrieval" else "suite")
        wanted = [(size, gold_placement(places)) for size, all_places in positions.items() for places in all_places]
        assert [(cell.size, cell.placement) for cell in experiment.cells] == wanted
        # Every target's answer has room behind the words of the question, which models repeat.
        assert experiment.max_new_tokens >= 30


@pytest.mark.parametrize("task", SUITE_TASKS)
def test_the_suite_s_words_ask_about_the_same_places_with_other_texts(task):
    size, template = SIZES[task], read_template(ROOT / "resources" / "prompts" / "suite_document.txt")
    asked, plain = list(map(checked, questions(task, size, IN_SUITE_WORDS))), questions(task, size)
    examples = {
        placement: [make_example(question, size, placement, template, load_task(task)) for question in asked]
        for placement in suite_placements(task, size)
    }
    assert not check_examples(examples, generated=True)
    assert [one.id for one in asked] == [one.id for one in plain]
    answers = [{answer for one in some for answer in one.golds[0].answers if "-" in answer} for some in (asked, plain)]
    assert not answers[0] & answers[1]


def test_another_wording_than_the_project_s_is_refused_where_a_task_has_none():
    with pytest.raises(UserError, match="experiments.x: the task kv_retrieval has no 'wording: suite'"):
        load_study(of_row({"experiments.x": {**KV, "wording": "suite"}}), ROOT)


def test_even_a_very_long_text_repeats_nothing():
    assert len(set(filler_sentences(Random(0), 40_000))) == 40_000


def test_the_answer_is_twelve_times_a_price_that_only_one_sentence_has():
    prices = []
    for question in questions("fact_reasoning", 300, replace(SETTINGS, examples=30)):
        (gold,) = question.golds
        ((product, price),) = re.findall(r"^(.+) costs \$(\d+) per kg\.$", gold.item[0])
        assert gold.answers == (str(12 * int(price)),) and f"12 kg of {product}." in question.text
        assert not any(re.search(rf"\d|\$|{product}", sentence) for (sentence,) in question.distractors)
        prices.append(int(price))
    assert 50 <= min(prices) < 150 and 400 < max(prices) <= 500 and len(set(prices)) > 20
    assert PRICES == (50, 500)


def test_a_context_has_nine_statues_of_three_materials_in_three_places_and_asks_for_one():
    for question in questions("temporal_narrative", 100):
        texts = [item[0] for item in (question.golds[0].item, *question.distractors)]
        statues = re.findall(r"a statue of (\w+) was unveiled in (\w+), with the code (\S+) carved", "\n".join(texts))
        assert len(texts) == len(set(texts)) == 100 and len(statues) == 9
        materials, places, codes = map(set, zip(*statues, strict=True))
        assert (len(materials), len(places), len(codes)) == (3, 3, 9)
        assert len({(material, place) for material, place, _ in statues}) == 9
        asked = {f"statue of {material} that was unveiled in {place}?": code for material, place, code in statues}
        assert [code for words, code in asked.items() if words in question.text] == list(question.golds[0].answers)
