"""The suite's tasks: their prompts, the fixed text around the gold item, and the checks of both."""

import json
import re
from dataclasses import replace

import pytest
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
    examples_by_position,
    first_prompt,
    nine_positions,
    questions,
    suite_placements,
)

from litm.base.messages import UserError
from litm.config.study import load_study
from litm.config.yaml_files import read_yaml
from litm.examples.checks import check_examples, checked
from litm.examples.examples import make_example, place, read_template, shuffle_distractors
from litm.examples.tasks import load_task
from litm.examples.tasks.needles import multi_needle
from litm.placements import gold_placement, gold_positions
from litm.records import read_examples
from litm.scoring.metrics import METRICS
from litm.scoring.scores import Sweep, score_sweep

# fmt: off
PROMPTS = {
    ("needle_in_haystack", 3, "gold_at_1"): (
        "Read the text below and answer the question after it.\n"
        "\n"
        "There is talk in Prapurkal of turning the mill into a ropewalk. The secret code is CGT-2485. The path "
        "between Valdoto and Warandis is hard to find after the harvest.\n"
        "\n"
        "Question: What is the secret code? Answer with only the code.\n"
        "Answer:"
    ),
    ("multi_needle", 5, "gold_at_0_2_4"): (
        "Read the text below and answer the question after it.\n"
        "\n"
        "The first secret code is CXH-7779. Nobody in Thupilmo can say who built the market hall. The second "
        "secret code is SXG-2336. A grey cat sleeps among the benches beside the water tower in Stemosto. The "
        "third secret code is SDV-6737.\n"
        "\n"
        "Question: What are the first, the second and the third secret code? Answer with only the three codes, in "
        "this order.\n"
        "Answer:"
    ),
    ("fact_reasoning", 3, "gold_at_2"): (
        "Read the text below and answer the question after it.\n"
        "\n"
        "Travellers on the way to Pazagis often ask the beekeeper about the weather. An old walnut tree shades the"
        " town hall in Pazagis, where the cooper works. Skivozum amber costs $468 per kg.\n"
        "\n"
        "Question: I buy 12 kg of Skivozum amber. What is the total cost in dollars? Answer with only the number.\n"
        "Answer:"
    ),
    ("semantic_distractors", 6, "gold_at_3"): (
        "Read the statements below and answer the question after them.\n"
        "\n"
        "The national archive code of Jerfong is KGT-7264.\n"
        "The national archive code of Jerfoft is ZBZ-7327.\n"
        "The national archive code of Jerforn is PXG-3523.\n"
        "The national archive code of Jerfoth is RWJ-6279.\n"
        "The national archive code of Jerford is ZLR-7849.\n"
        "The national archive code of Peimgilt is PNG-2862.\n"
        "\n"
        "Question: What is the national archive code of Jerfoth? Answer with only the code.\n"
        "Answer:"
    ),
    ("temporal_narrative", 11, "gold_at_2"): (
        "Read the chronicle below and answer the question after it.\n"
        "\n"
        "In 1001, a statue of copper was unveiled in Blortedor, with the code RHS-4592 carved into its plinth.\n"
        "In 1002, a statue of copper was unveiled in Grollumo, with the code DTB-4239 carved into its plinth.\n"
        "In 1003, a statue of oak was unveiled in Grollumo, with the code MFQ-7374 carved into its plinth.\n"
        "In 1004, a statue of sandstone was unveiled in Blortedor, with the code PNC-9669 carved into its plinth.\n"
        "In 1005, a quarrel over cider divided Tetandal and Grurkortor.\n"
        "In 1006, a statue of copper was unveiled in Flortisso, with the code RWB-9947 carved into its plinth.\n"
        "In 1007, the first fair for malt was held in the fields outside Blortedor.\n"
        "In 1008, a statue of oak was unveiled in Flortisso, with the code FZW-9896 carved into its plinth.\n"
        "In 1009, a statue of sandstone was unveiled in Grollumo, with the code SZW-9429 carved into its plinth.\n"
        "In 1010, a statue of oak was unveiled in Blortedor, with the code ZSB-2849 carved into its plinth.\n"
        "In 1011, a statue of sandstone was unveiled in Flortisso, with the code NXR-7444 carved into its plinth.\n"
        "\n"
        "Question: What code is carved into the plinth of the statue of oak that was unveiled in Grollumo? Answer "
        "with only the code.\n"
        "Answer:"
    ),
    ("conversation_memory", 3, "gold_at_1"): (
        "This is a conversation between a user and an assistant.\n"
        "\n"
        "User: Can I leave my wooden bowls at the chapel in Reneldum?\n"
        "Assistant: Yes, leave your wooden bowls at the chapel in Reneldum and tell the stationmaster when you "
        "will be back.\n"
        "User: Please remember this for later: my favourite colour is the paint shade PBR-2732.\n"
        "Assistant: I will remember which shade is your favourite.\n"
        "User: How long does it take from Kakirtal to Reneldum?\n"
        "Assistant: With a light cart it takes most of a day to get from Kakirtal to Reneldum.\n"
        "User: What is my favourite colour? Answer with only the code of the shade.\n"
        "Assistant:"
    ),
    ("demonstrations", 5, "gold_at_1"): (
        "Each request below is followed by the code of the desk that takes it. All requests about one subject go to "
        "the same desk. Name the desk of the last request. Answer with only its code.\n"
        "\n"
        "Request: I would like to complain about the benches in the post office. Desk: SQZ-5534\n"
        "Request: I have a question about the wagon wheels in the fire station. Desk: MFB-7547\n"
        "Request: I would like to complain about the ladders in the lighthouse. Desk: QMT-5774\n"
        "Request: Can somebody have a look at the picture frames in the chapel? Desk: PPR-7536\n"
        "Request: I have a question about the garden tools in the brewery. Desk: MXD-2464\n"
        "Request: Can somebody have a look at the wagon wheels in the fire station? Desk:"
    ),
}
#: The words of the suite's description, by prompt file: the texts around the quoted ones are this project's.
SUITE_PROMPTS = {
    ("suite_needle_in_haystack", "needle_in_haystack", 3, "gold_at_1"): (
        "Read the text and find the secret code.\n"
        "\n"
        "The train to Bukezal waits at Westimek until the mail has been loaded. [1]. The secret code is SECRET-2382. "
        "[2]. The path between Thivizek and Drertentand is hard to find when the days grow short. [3].\n"
        "\n"
        "What is the secret code? Answer with only the code."
    ),
    ("suite_multi_needle", "multi_needle", 5, "gold_at_0_2_4"): (
        "Read the text and list ALL three secret codes in order.\n"
        "\n"
        "The secret code is SECRET-2947. The path between Grepoval and Konolda is hard to find in the middle of winter."
        " The secret code is SECRET-7797. The innkeeper of Drirkilin learned the trade in Kludiskis and speaks of it "
        "often. The secret code is SECRET-9323.\n"
        "\n"
        "Codes:"
    ),
    ("suite_document", "fact_reasoning", 3, "gold_at_1"): (
        "Travellers on the way to Pazagis often ask the beekeeper about the weather. For this order, Skivozum apples "
        "cost $468/kg. An old walnut tree shades the town hall in Pazagis, where the cooper works.\n"
        "\n"
        "According to the document, I buy 12 kg of Skivozum apples. What is my total cost?"
    ),
    ("suite_document", "semantic_distractors", 3, "gold_at_0"): (
        "The capital of Tobissum is RKBZN-6237.\n"
        "The capital of Bendirkum is ZTGHK-9594.\n"
        "The capital of Bipissum is TLRXR-2482.\n"
        "\n"
        "What is the capital of Tobissum? Answer with only the secret code."
    ),
    ("suite_document", "temporal_narrative", 11, "gold_at_3"): (
        "Year 1001: a granite statue was unveiled in the college court.\n"
        "Year 1002: a marble statue was unveiled in the northern cemetery.\n"
        "Year 1003: a silver statue was unveiled in the royal gardens.\n"
        "Year 1004: a golden statue was unveiled in the central square (CODE: TK-5974).\n"
        "Year 1005: a shipment of timber from Tetandal was lost near Datasin.\n"
        "Year 1006: a slate statue was unveiled in the city park.\n"
        "Year 1007: a copper statue was unveiled in the market hall.\n"
        "Year 1008: the archive of Blindepand was moved to the ropewalk.\n"
        "Year 1009: a limestone statue was unveiled in the western quarter.\n"
        "Year 1010: a tin statue was unveiled in the cathedral close.\n"
        "Year 1011: a stone statue was unveiled in the old harbor.\n"
        "\n"
        "What is the secret code for the golden statue that was unveiled in the central square?"
    ),
    ("conversation_memory", "conversation_memory", 2, "gold_at_1"): (
        "This is a conversation between a user and an assistant.\n"
        "\n"
        "User: What would be a good present for the bell-ringer in Blupuldis?\n"
        "Assistant: A few stools from Morvaska would suit the bell-ringer in Blupuldis.\n"
        "User: Please always remember that my favorite color is MYFAVCOLOR-675. This is very important.\n"
        "Assistant: I will remember that.\n"
        "User: Based on our conversation, what is my favorite color?\n"
        "Assistant:"
    ),
}
# fmt: on


# --- What the prompts say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", PROMPTS)
def test_a_small_prompt_reads_exactly_so(cell):
    assert first_prompt(*cell) == PROMPTS[cell]


@pytest.mark.parametrize("cell", SUITE_PROMPTS)
def test_a_small_prompt_in_the_suite_s_words_reads_exactly_so(cell):
    prompt, task, size, placement = cell
    template = read_template(ROOT / "resources" / "prompts" / f"{prompt}.txt")
    question = questions(task, size, IN_SUITE_WORDS)[0]
    assert make_example(question, size, placement, template, load_task(task)).prompt == SUITE_PROMPTS[cell]


def test_a_demonstration_shows_the_label_of_one_subject_and_the_question_asks_about_it_in_other_words():
    for question in questions("demonstrations", 40):
        (shown, code), asked = question.golds[0].item, question.text
        subject = next(one for one in re.findall(r"the (\w[\w ]+ in the [\w ]+)", shown))
        assert subject in asked and shown != asked and question.golds[0].answers == (code,)
        assert not [request for request, _ in question.distractors if subject in request]
    placements = [gold_placement([position]) for position in (0, 20, 39)]
    assert not check_examples(examples_by_position("demonstrations", 40, placements), generated=True)


def test_a_context_of_more_demonstrations_than_subjects_is_refused():
    with pytest.raises(UserError, match="demonstrations: there are 576 subjects, so that a context cannot have 577"):
        next(load_task("demonstrations").questions(577, SETTINGS, None))


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


@pytest.mark.parametrize("task", [name for name in SIZES if name != "conversation_memory"])
def test_other_tasks_have_no_messages(task):
    asked = example(task, questions(task, 12)[0], 12, suite_placements(task, 12)[1])
    assert asked.messages is None and "messages" not in asked.to_json()


# --- Seeds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_a_seed_always_gives_the_same_questions_and_another_one_others(task):
    again = list(load_task(task).questions(20, SETTINGS, None))
    assert again == list(questions(task, 20))
    other = questions(task, 20, replace(SETTINGS, seed=1))
    assert all(mine.golds != theirs.golds for mine, theirs in zip(again, other, strict=True))
    assert all(mine.distractors != theirs.distractors for mine, theirs in zip(again, other, strict=True))


@pytest.mark.parametrize("task", TASKS)
def test_more_examples_keep_the_earlier_ones(task):
    more = questions(task, 20, replace(SETTINGS, examples=8))
    assert len(more) == 8 and more[:5] == questions(task, 20)


@pytest.mark.parametrize("task", TASKS)
def test_all_questions_have_ids_and_answers_of_their_own(task):
    some = [*questions(task, 20, replace(SETTINGS, examples=30)), *questions(task, 21)]
    assert len({question.id for question in some}) == 35
    answers = [answer for question in some for gold in question.golds for answer in gold.answers]
    assert len(set(answers)) > 0.8 * len(answers)
    assert len({question.distractors for question in some}) == 35


@pytest.mark.parametrize("task", TASKS)
def test_a_dataset_is_refused_because_nothing_is_taken_from_it(task):
    with pytest.raises(UserError, match=f"the task {task} makes its own questions: remove 'dataset'"):
        list(load_task(task).questions(20, SETTINGS, "questions.jsonl"))


# --- Placement ---------------------------------------------------------------------------------------------------


def test_three_needles_go_to_any_three_ascending_positions_among_the_same_sentences():
    for question in questions("multi_needle", 30):
        for positions in [(0, 1, 2), (27, 28, 29), (0, 14, 29), (3, 4, 20)]:
            context = place(question, 30, gold_placement(positions))
            assert [context[position] for position in positions] == [gold.item for gold in question.golds]
            assert tuple(item for index, item in enumerate(context) if index not in positions) == question.distractors


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        ("gold_at_4", "gold_at_4 has 1 positions, but question multi_needle/30/0 has 3 gold items"),
        ("gold_at_4_5", "has 2 positions"),
        ("gold_at_4_5_6_7", "has 4 positions"),
        ("gold_at_5_4_6", "gold_at_5_4_6: the positions must ascend"),
        ("gold_at_4_4_6", "gold_at_4_4_6: the positions must ascend"),
        ("gold_at_4_5_30", "position 30 is impossible, positions in a context of 30 are 0 to 29"),
        ("gold_at_30_5_6", "position 30 is impossible"),
    ],
)
def test_positions_that_cannot_be_are_refused(placement, message):
    with pytest.raises(UserError, match=message):
        place(questions("multi_needle", 30)[0], 30, placement)


def test_several_positions_for_one_gold_item_are_refused():
    with pytest.raises(UserError, match="gold_at_1_2 has 2 positions, but question .* has 1 gold items"):
        place(questions("needle_in_haystack", 30)[0], 30, "gold_at_1_2")


def test_placements_name_their_positions():
    assert gold_placement([4]) == "gold_at_4" and gold_placement((0, 149, 299)) == "gold_at_0_149_299"
    assert gold_positions("gold_at_0_149_299") == (0, 149, 299) and gold_positions("gold_at_4") == (4,)
    assert gold_positions("no_gold") == gold_positions("as_retrieved") == gold_positions("gold_at_1_") == ()
    assert (gold_positions("gold_at_4"), gold_positions("gold_at_4_5"), gold_positions("no_gold")) == ((4,), (4, 5), ())


def test_without_gold_every_needle_is_a_target_without_a_position():
    record = example("multi_needle", questions("multi_needle", 30)[0], 0, "no_gold")
    assert [(t.name, t.position, t.depth, t.span) for t in record.targets] == [
        (name, None, None, None) for name in ("start", "middle", "end")
    ]


def test_a_random_order_has_the_same_sentences_also_with_three_needles():
    for question in questions("multi_needle", 30):
        shuffled = shuffle_distractors(question, 30, seed=0)
        assert sorted(shuffled.distractors) == sorted(question.distractors) != list(shuffled.distractors)


def test_a_context_too_short_for_three_needles_is_refused():
    with pytest.raises(UserError, match="multi_needle: a context of 2 has no room for 3 needles"):
        list(multi_needle.questions(2, SETTINGS, None))


# --- Scoring -------------------------------------------------------------------------------------------------------


def test_each_needle_is_scored_alone_in_any_order_and_with_others_missing():
    record = example("multi_needle", questions("multi_needle", 10)[0], 10, "gold_at_1_4_8")
    start, _, end = (target.answers[0] for target in record.targets)
    answered = response(id=record.id, size=10, placement="gold_at_1_4_8", response=f"{end}, {start}")
    scores = score_sweep(Sweep("m", "e", "multi_needle", "exact_code"), [record], [answered])
    assert scores[["target", "position", "correct"]].to_numpy().tolist() == [
        ["start", 1, True], ["middle", 4, False], ["end", 8, True]
    ]  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_a_task_names_a_metric_and_leaves_room_for_its_answer(task):
    defaults = load_task(task)
    assert defaults.metric in METRICS and not defaults.needs_dataset
    answers = questions(task, 20)[0].golds
    assert defaults.max_new_tokens >= 2 * sum(len(gold.answers[0]) for gold in answers)


# --- The program and the catalogue -------------------------------------------------------------------------------


def test_the_program_writes_the_examples_of_three_needles(tmp_path):
    settings = {"examples": 2, "seed": 0, "distractor_order": "ranked"}
    output = tmp_path / "gold_at_0_2_4.jsonl.gz"
    done = run_program(
        "make_examples", "--task", "multi_needle", "--size", "5",
        "--placement", "gold_at_0_2_4", "--settings", json.dumps(settings), "--output", output,
        "--prompt", ROOT / "resources" / "prompts" / "multi_needle.txt", "--dataset", "--labels",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = list(read_examples(output))
    assert records[0] == example("multi_needle", questions("multi_needle", 5)[0], 5, "gold_at_0_2_4")
    assert [[target.position for target in record.targets] for record in records] == [[0, 2, 4]] * 2


@pytest.mark.parametrize("copies", [0, 1])
def test_the_program_says_how_many_questions_have_their_gold_document_twice(copies, tmp_path):
    one, other = qa_record(1, 2), qa_record(2, 2)
    one["ctxs"] += [{**one["ctxs"][1], "isgold": False}] * copies
    output = tmp_path / "gold_at_0.jsonl.gz"
    settings = {"examples": None, "seed": None, "distractor_order": "ranked"}
    done = run_program(
        "make_examples", "--task", "multi_document_qa", "--size", "3",
        "--placement", "gold_at_0", "--settings", json.dumps(settings), "--output", output,
        "--prompt", ROOT / "resources" / "prompts" / "multi_document_qa.txt",
        "--dataset", write_lines(tmp_path / "qa.jsonl", [one, other]), "--labels",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = "qa.jsonl: 1 of 2 questions have their gold item among the distractors too (the first is 'what is number 1')"
    assert (said in done.stderr) == bool(copies)


def test_the_program_says_how_many_gold_answers_are_not_in_the_composed_form_of_unicode(tmp_path):
    rows = [{"question": f"who {answer}", "answers": [answer]} for answer in ("Beyonc\u00e9", "Beyonce\u0301")]
    done = run_program(
        "make_examples", "--task", "closed_book_qa", "--size", "0", "--placement", "no_gold",
        "--settings", json.dumps({"examples": None, "seed": None, "distractor_order": "ranked"}),
        "--prompt", ROOT / "resources" / "prompts" / "closed_book_qa.txt",
        "--dataset", write_lines(tmp_path / "qa.jsonl", rows), "--output", tmp_path / "no_gold.jsonl.gz",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "qa.jsonl: 1 of 2 questions have a gold answer that is not in Unicode's composed form (NFC)" in done.stderr


#: What config/suite.yaml runs: prompts, cells and questions of section 4 of the suite's description. 100 turns of a
#: conversation are 50 exchanges.
SELECTED = {
    "suite_kv_retrieval": ("kv_retrieval", "kv_retrieval", {100: nine_positions(100), 200: nine_positions(200)}),
    "suite_needle_in_haystack": ("needle_in_haystack", "suite_needle_in_haystack", {500: nine_positions(500)}),
    "suite_multi_needle": ("multi_needle", "suite_multi_needle", {300: [(0, 150, 299)]}),
    "suite_fact_reasoning": ("fact_reasoning", "suite_document", {300: nine_positions(300)}),
    "suite_semantic_distractors": ("semantic_distractors", "suite_document", {80: nine_positions(80)}),
    "suite_temporal_narrative": ("temporal_narrative", "suite_document", {100: nine_positions(100)}),
    "suite_conversation_memory": ("conversation_memory", "conversation_memory", {50: nine_positions(50)}),
}


def test_the_suite_selects_the_seven_experiments_of_its_description():
    selection = read_yaml(ROOT / "config" / "suite.yaml")
    study = load_study({**read_yaml(ROOT / "config" / "config.yaml"), **selection}, ROOT)
    assert list(study.experiments) == list(SELECTED)
    for name, experiment in study.experiments.items():
        task, prompt, positions = SELECTED[name]
        assert (experiment.task, experiment.prompt, experiment.examples) == (task, prompt, 50)
        assert experiment.wording == ("plain" if task == "kv_retrieval" else "suite")
        wanted = [
            (size, gold_placement(one if isinstance(one, tuple) else [one]))
            for size, places in positions.items()
            for one in places
        ]
        assert [(cell.size, cell.placement) for cell in experiment.cells] == wanted
        # Every target's answer has room behind the words of the question, which models repeat.
        assert experiment.max_new_tokens >= 30


@pytest.mark.parametrize("task", SUITE_TASKS)
def test_the_suite_s_words_ask_about_the_same_places_with_other_texts(task):
    size = SIZES[task]
    placements = suite_placements(task, size)
    template = read_template(ROOT / "resources" / "prompts" / "suite_document.txt")
    asked = list(map(checked, questions(task, size, IN_SUITE_WORDS)))
    examples = {
        placement: [make_example(question, size, placement, template, load_task(task)) for question in asked]
        for placement in placements
    }
    assert not check_examples(examples, generated=True)
    plain = questions(task, size)
    assert [one.id for one in asked] == [one.id for one in plain]
    assert not {answer for one in asked for answer in one.golds[0].answers} & {
        answer for one in plain for answer in one.golds[0].answers if "-" in answer
    }


def test_another_wording_than_the_project_s_is_refused_where_a_task_has_none():
    entry = {"task": "kv_retrieval", "positions": {5: [0, 4]}, "examples": 1, "wording": "suite"}
    default = read_yaml(ROOT / "config" / "config.yaml")
    with pytest.raises(UserError, match="experiments.x: the task kv_retrieval has no 'wording: suite'"):
        load_study({**default, "experiments": ["x"], "define": {"experiments": {"x": entry}}}, ROOT)
