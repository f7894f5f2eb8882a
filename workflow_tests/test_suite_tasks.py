"""The suite's tasks: what their prompts say, that nothing but the gold item's place changes, and the checks of that."""

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
import yaml
from conftest import ROOT
from suite_examples import (
    CODE,
    ONE_GOLD,
    SETTINGS,
    SIZES,
    TASKS,
    example,
    first_prompt,
    nine_positions,
    questions,
    suite_placements,
)

from litm.codes_in_text import contains_code
from litm.errors import UserError
from litm.metrics import METRICS
from litm.placements import gold_placement, gold_positions
from litm.questions import (
    place,
    shuffle_distractors,
)
from litm.records import read_jsonl
from litm.scoring import Sweep, score_sweep
from litm.suite_text import events, exchanges, fillers
from litm.suite_text.codes import CODES, random_codes
from litm.suite_text.fillers import filler_sentences
from litm.suite_text.names import similar_names
from litm.suite_text.wordings import BUILDINGS
from litm.tasks import fact_reasoning, load_task, multi_needle, temporal_narrative

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
}
# fmt: on


# --- What the prompts say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", PROMPTS)
def test_a_small_prompt_reads_exactly_so(cell):
    assert first_prompt(*cell) == PROMPTS[cell]


def test_a_conversation_is_also_there_as_chat_messages_in_turns():
    question = questions("conversation_memory", 3)[0]
    record = example("conversation_memory", question, 3, "gold_at_1")
    messages = record["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3 + ["user"]
    assert [messages[2]["content"], messages[3]["content"]] == list(question.golds[0].item)
    assert messages[-1]["content"] == question.text
    names = {"user": "User", "assistant": "Assistant"}
    transcript = "\n".join(f"{names[message['role']]}: {message['content']}" for message in messages)
    assert record["prompt"].endswith(f"\n\n{transcript}\nAssistant:")


@pytest.mark.parametrize("task", [name for name in SIZES if name != "conversation_memory"])
def test_other_tasks_have_no_messages(task):
    assert "messages" not in example(task, questions(task, 12)[0], 12, suite_placements(task, 12)[1])


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


@pytest.mark.parametrize("task", ONE_GOLD)
def test_moving_the_gold_item_changes_nothing_else(task):
    for question in questions(task, 30):
        for position in range(30):
            context = place(question, 30, gold_placement([position]))
            assert context.pop(position) == question.golds[0].item
            assert tuple(context) == question.distractors


def test_three_needles_go_to_any_three_ascending_positions_among_the_same_sentences():
    for question in questions("multi_needle", 30):
        for positions in [(0, 1, 2), (27, 28, 29), (0, 14, 29), (3, 4, 20)]:
            context = place(question, 30, gold_placement(positions))
            assert [context[position] for position in positions] == [gold.item for gold in question.golds]
            assert tuple(item for index, item in enumerate(context) if index not in positions) == question.distractors


def test_each_needle_is_a_target_with_its_own_position_depth_and_span():
    record = example("multi_needle", questions("multi_needle", 5)[0], 5, "gold_at_0_2_4")
    assert [(target["name"], target["position"], target["depth"]) for target in record["targets"]] == [
        ("start", 0, 0.0), ("middle", 2, 0.5), ("end", 4, 1.0)
    ]  # fmt: skip
    for target, ordinal in zip(record["targets"], ("first", "second", "third"), strict=True):
        (code,) = target["answers"]
        assert record["prompt"][slice(*target["span"])] == f"The {ordinal} secret code is {code}."


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
    assert [(t["name"], t["position"], t["depth"], t["span"]) for t in record["targets"]] == [
        (name, None, None, None) for name in ("start", "middle", "end")
    ]


def test_a_random_order_is_of_the_same_sentences_also_beside_three_needles():
    for question in questions("multi_needle", 30):
        shuffled = shuffle_distractors(question, 30, seed=0)
        assert sorted(shuffled.distractors) == sorted(question.distractors) != list(shuffled.distractors)


def test_a_context_too_short_for_three_needles_is_refused():
    with pytest.raises(UserError, match="multi_needle: a context of 2 has no room for 3 needles"):
        list(multi_needle.questions(2, SETTINGS, None))


# --- The texts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_no_sentence_of_a_long_text_occurs_twice(seed):
    sentences = filler_sentences(Random(seed), 500)
    assert len(sentences) == len(set(sentences)) == 500
    # Nor does one differ from another by its names alone too often: every wording takes its turn.
    assert len({re.sub(r"[A-Z]\w+", "", sentence).split(",")[-1] for sentence in sentences}) > 200


def test_even_a_very_long_text_repeats_nothing():
    assert len(set(filler_sentences(Random(0), 40_000))) == 40_000


def test_fillers_are_plain_sentences_without_numbers_codes_or_prices():
    sentences = filler_sentences(Random(0), 2000)
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z][A-Za-z ,'-]+\.", sentence), sentence
        assert not CODE.search(sentence)
    text = " ".join(sentences).lower()
    for word in ("code", "secret", "price", "cost", "dollar", "colour", "favourite", "statue", "remember", "  "):
        assert word not in text, word


def test_no_building_wants_another_article():
    assert not [building for building in BUILDINGS if building[0] in "aeiou"]


def test_all_wordings_differ_and_take_turns():
    for wordings in (fillers.WORDINGS, events.WORDINGS, exchanges.WORDINGS):
        assert len(set(wordings)) == len(wordings)
    text = " ".join(filler_sentences(Random(0), len(fillers.WORDINGS))).lower()
    assert all(max(re.split(r"\{\w+\}", wording), key=len) in text for wording in fillers.WORDINGS)


def test_no_message_and_no_reply_of_a_conversation_occurs_twice():
    for question in questions("conversation_memory", 100):
        items = [question.golds[0].item, *question.distractors]
        parts = [part for item in items for part in item]
        assert len(parts) == len(set(parts)) == 200
        assert sum("favourite" in user for user, _ in items) == 1
        assert not any(contains_code(assistant, question.golds[0].answers[0]) for _, assistant in items)


def test_codes_are_random_distinct_and_never_words():
    codes = random_codes(Random(0), 2000)
    assert len(set(codes)) == 2000 and CODES > 30_000_000
    assert all(re.fullmatch(r"[B-DF-HJ-NP-TV-XZ]{3}-[2-9]{4}", code) for code in codes)


def test_countries_have_similar_names_none_of_them_inside_another():
    for count in (80, 7, 200):
        names = similar_names(Random(count), count)
        assert len(set(names)) == count
        assert not any(one != other and one in other for one in names for other in names)
    stems = Counter(name[:-2] for name in similar_names(Random(0), 80))
    assert set(stems.values()) == {5}


def test_the_statement_asked_for_has_four_that_differ_in_two_letters():
    for question in questions("semantic_distractors", 80):
        country, _ = question.golds[0].item
        assert sum(other[:-2] == country[:-2] for other, _ in question.distractors) == 4
        assert len({code for _, code in (question.golds[0].item, *question.distractors)}) == 80


# --- The price ---------------------------------------------------------------------------------------------------


def test_the_answer_is_twelve_times_a_price_that_only_one_sentence_has():
    prices = []
    for question in questions("fact_reasoning", 300, replace(SETTINGS, examples=30)):
        (gold,) = question.golds
        ((product, price),) = re.findall(r"^(.+) costs \$(\d+) per kg\.$", gold.item[0])
        assert gold.answers == (str(12 * int(price)),) and f"12 kg of {product}." in question.text
        assert not any(re.search(rf"\d|\$|{product}", sentence) for (sentence,) in question.distractors)
        prices.append(int(price))
    assert 50 <= min(prices) < 150 and 400 < max(prices) <= 500 and len(set(prices)) > 20
    assert fact_reasoning.PRICES == (50, 500)


# --- The chronicle -----------------------------------------------------------------------------------------------


def test_the_years_are_in_order_wherever_the_target_is():
    for question in questions("temporal_narrative", 100):
        for position in range(0, 100, 3):
            prompt = example("temporal_narrative", question, 100, gold_placement([position]))["prompt"]
            years = [int(year) for year in re.findall(r"^In (\d+), ", prompt, re.MULTILINE)]
            assert len(years) == 100 and all(later == earlier + 1 for earlier, later in pairwise(years))
            (line,) = [line for line in prompt.splitlines() if question.golds[0].answers[0] in line]
            assert line == f"In {temporal_narrative.FIRST_YEAR + position}, {question.golds[0].item[0]}."


def test_a_slot_has_the_same_year_in_every_question_so_years_say_nothing():
    for question in questions("temporal_narrative", 100):
        assert not re.search(r"\d", question.text)
        for item in (question.golds[0].item, *question.distractors):
            assert not re.search(r"\d", CODE.sub("", item[0]))


def test_nine_statues_of_three_materials_in_three_places_only_one_of_which_is_asked():
    for question in questions("temporal_narrative", 100):
        texts = [item[0] for item in (question.golds[0].item, *question.distractors)]
        statues = re.findall(r"a statue of (\w+) was unveiled in (\w+), with the code (\S+) carved", "\n".join(texts))
        assert len(texts) == len(set(texts)) == 100 and len(statues) == 9
        materials, places, codes = map(set, zip(*statues, strict=True))
        assert (len(materials), len(places), len(codes)) == (3, 3, 9)
        assert len({(material, place) for material, place, _ in statues}) == 9
        asked = [
            code
            for material, place, code in statues
            if f"statue of {material} that was unveiled in {place}?" in question.text
        ]
        assert asked == list(question.golds[0].answers)


def test_the_other_statues_are_spread_over_the_chronicle():
    where = [
        index / 98
        for question in questions("temporal_narrative", 100, replace(SETTINGS, examples=30))
        for index, (event,) in enumerate(question.distractors)
        if "statue" in event
    ]
    assert len(where) == 240 and 0.42 < sum(where) / 240 < 0.58


# --- Scoring -------------------------------------------------------------------------------------------------------


def test_each_needle_is_scored_by_itself_whatever_is_left_out_and_in_any_order():
    record = example("multi_needle", questions("multi_needle", 10)[0], 10, "gold_at_1_4_8")
    start, _, end = (target["answers"][0] for target in record["targets"])
    response = {
        "id": record["id"], "size": 10, "placement": "gold_at_1_4_8", "response": f"{end}, {start}",
        "finish_reason": "stop", "prompt_tokens": 1, "response_tokens": 1,
    }  # fmt: skip
    scores = score_sweep(Sweep("m", "e", "multi_needle", "exact_code"), [record], [response])
    assert scores[["target", "position", "correct"]].to_numpy().tolist() == [
        ["start", 1, True], ["middle", 4, False], ["end", 8, True]
    ]  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_a_task_names_a_metric_and_leaves_room_for_its_answer(task):
    defaults = load_task(task).DEFAULTS
    assert defaults.metric in METRICS and not defaults.needs_dataset
    answers = questions(task, 20)[0].golds
    assert defaults.max_new_tokens >= 2 * sum(len(gold.answers[0]) for gold in answers)


# --- The program and the catalogue -------------------------------------------------------------------------------


def test_the_program_writes_the_examples_of_three_needles(tmp_path):
    settings = {"examples": 2, "seed": 0, "distractor_order": "ranked"}
    output = tmp_path / "gold_at_0_2_4.jsonl.gz"
    command = [
        sys.executable, ROOT / "scripts" / "make_examples.py", "--task", "multi_needle", "--size", "5",
        "--placement", "gold_at_0_2_4", "--settings", json.dumps(settings), "--output", output,
        "--prompt", ROOT / "resources" / "prompts" / "multi_needle.txt", "--dataset", "--labels",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    records = [record for _, record in read_jsonl(output)]
    assert records[0] == example("multi_needle", questions("multi_needle", 5)[0], 5, "gold_at_0_2_4")
    assert [[target["position"] for target in record["targets"]] for record in records] == [[0, 2, 4]] * 2


def test_the_suite_selects_seven_experiments_at_the_nine_positions():
    catalogue = yaml.safe_load((ROOT / "config" / "experiments.yaml").read_text())
    selected = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())["experiments"]
    suite = {name: catalogue[name] for name in selected}
    assert sorted(entry["task"] for entry in suite.values()) == sorted(SIZES)
    for entry in suite.values():
        defaults = load_task(entry["task"]).DEFAULTS
        assert entry["examples"] == 100
        assert (entry["metric"], entry["stop"]) == (defaults.metric, defaults.stop)
        assert entry["max_new_tokens"] == defaults.max_new_tokens
        for size, positions in entry["positions"].items():
            wanted = [[0, 149, 299]] if entry["task"] == "multi_needle" else nine_positions(size)
            assert positions == wanted
    assert sorted(suite["suite_kv_retrieval"]["positions"]) == [100, 200]
