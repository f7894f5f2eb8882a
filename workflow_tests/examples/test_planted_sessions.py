"""Facts and instructions in a session: once, at their step, and readers that see as much as they should."""

import re
from hashlib import sha256

import pytest
from conftest import ROOT

from litm.corpora.sessions import SYSTEM, TOOL, read_session, steps
from litm.examples.checks import check_examples
from litm.examples.examples import make_example, read_template
from litm.examples.planted_sessions import BY_SYSTEM, IN_TOOL_RESULT, INSTRUCTION, PLACED, SAID, Planting, write_planted
from litm.examples.tasks import load_task
from litm.records.examples import Example
from litm.scoring.metrics import METRICS

SESSION = read_session(ROOT / "examples" / "sessions" / "codex.jsonl")
SIZE, NUMBER, PLACES = 10, 10, (0, 4, 9)
TEMPLATE = read_template(ROOT / "resources" / "prompts" / "agent_session.txt")


def examples(tmp_path, facts: str, **more) -> dict[int, list[Example]]:
    """The examples by position, through a file as in a run."""
    write_planted(tmp_path / "q.jsonl.gz", SESSION, Planting(facts, NUMBER, 1, **more))
    task = load_task("agent_session")
    questions = list(task.read(str(tmp_path / "q.jsonl.gz"), SIZE, None))
    return {p: [make_example(q, SIZE, f"gold_at_{p}", TEMPLATE, task) for q in questions] for p in PLACES}


def answer_of(messages: list[dict], question: str) -> str:
    """A reader: the sentences with the made-up name that the question ends with, and codes of rules for all answers."""
    text = "\n".join(message["content"] for message in messages)
    names = re.findall(r"[A-Z]\w+", question)
    sentences = [s for s in re.split(r"(?<=[.!?])\s", text) if names and re.search(rf"\b{names[-1]}\b", s)]
    return " ".join([*sentences, *re.findall(r"every answer with the code (\w{3}-\d{4})", text)])


def is_right(example: Example, facts: str, messages: list[dict]) -> bool:
    metric = METRICS["exact_code" if facts in (INSTRUCTION, BY_SYSTEM) else "whole_words"]
    return metric.judge(answer_of(messages, example.question), example.targets[0].answers)


@pytest.mark.parametrize("facts", PLACED)
def test_an_answer_is_in_its_prompt_once_at_its_step_and_nowhere_in_the_session(facts, tmp_path):
    whole = "\n".join(message["content"] for message in SESSION.messages)
    for place, made in examples(tmp_path, facts).items():
        for example in made:
            (target,) = example.targets
            assert target.position == place and example.prompt.count(target.answers[0]) == 1
            assert target.answers[0] in target.text_in(example.prompt) and target.answers[0] not in whole
            assert sum(target.answers[0] in message["content"] for message in example.messages) == 1


@pytest.mark.parametrize("facts", PLACED)
def test_the_prompts_of_a_question_differ_in_the_place_alone(facts, tmp_path):
    by_place = examples(tmp_path, facts)
    assert not check_examples({f"gold_at_{place}": made for place, made in by_place.items()}, generated=False)
    for versions in zip(*by_place.values(), strict=True):
        digests = {sha256(repr(sorted(map(repr, e.messages))).encode()).hexdigest() for e in versions}
        assert len(digests) == 1


@pytest.mark.parametrize("facts", PLACED)
def test_ids_match_and_the_system_speaks_first(facts, tmp_path):
    for made in examples(tmp_path, facts).values():
        for message_list in (example.messages for example in made):
            roles = [message["role"] for message in message_list]
            assert SYSTEM not in roles[roles.count(SYSTEM) :] and roles[-1] == "user"
            waiting: list[str] = []
            for message in message_list:
                if message["role"] == TOOL:
                    assert message["tool_call_id"] == waiting.pop(0)
                else:
                    assert not waiting
                waiting += [call["id"] for call in message.get("tool_calls", ())]


@pytest.mark.parametrize("facts", PLACED)
def test_a_perfect_reader_is_right_everywhere_and_one_without_the_system_fails_exactly_its_instructions(
    facts, tmp_path
):
    for made in examples(tmp_path, facts).values():
        assert all(is_right(example, facts, example.messages[:-1]) for example in made)
        deaf = [is_right(e, facts, [m for m in e.messages[:-1] if m["role"] != SYSTEM]) for e in made]
        assert deaf == [facts != BY_SYSTEM] * NUMBER


@pytest.mark.parametrize("facts", [SAID, IN_TOOL_RESULT, INSTRUCTION])
def test_a_reader_of_the_last_messages_is_right_at_exactly_the_steps_that_it_can_see(facts, tmp_path):
    count = sum(map(len, steps(SESSION.messages)[3 : SIZE - 1]))
    for place, made in examples(tmp_path, facts).items():
        for example in made:
            placed = len(example.messages) - 1 - len(SESSION.messages[: sum(map(len, steps(SESSION.messages)[:9]))])
            seen = example.messages[-1 - count - placed : -1]
            assert is_right(example, facts, seen) == (place > 0)


def test_remedies_change_what_they_say_and_ask_the_same(tmp_path):
    plain, repeated = (examples(tmp_path, INSTRUCTION, repeat=repeat)[4] for repeat in (False, True))
    for one, other in zip(plain, repeated, strict=True):
        assert one.id == other.id and one.messages[:-1] == other.messages[:-1]
        assert other.messages[-1]["content"].startswith(f"{one.question}\n\nRemember the rule: ")
        assert other.targets[0].answers[0] in other.messages[-1]["content"]
    whole, short = (examples(tmp_path, SAID, result_words=words)[4] for words in (None, 20))
    for one, other in zip(whole, short, strict=True):
        assert [m for m in one.messages if m["role"] != TOOL] == [m for m in other.messages if m["role"] != TOOL]
        results = [m["content"] for m in other.messages if m["role"] == TOOL]
        assert all(len(text.split(" ")) <= 24 for text in results) and any(
            "words left out]" in text for text in results
        )


def test_results_before_the_last_steps_are_dropped_and_nothing_else_changes(tmp_path):
    whole, dropped = (examples(tmp_path, SAID, keep_results=keep) for keep in (None, 4))
    for place in PLACES:
        for one, other in zip(whole[place], dropped[place], strict=True):
            changed = [(m, n) for m, n in zip(one.messages, other.messages, strict=True) if m != n]
            assert changed and all(n == {**m, "content": "[result dropped]"} for m, n in changed)
            assert {m["role"] for m, _ in changed} == {TOOL} and one.targets[0].answers == other.targets[0].answers
            assert other.messages[-6:] == one.messages[-6:]
    assert not check_examples({f"gold_at_{place}": made for place, made in dropped.items()}, generated=False)


def test_a_summary_stands_in_place_of_the_first_half_and_the_rest_stays(tmp_path):
    whole, compacted = (examples(tmp_path, SAID, summary=text) for text in (None, "We fixed two tests."))
    for place in PLACES[1:]:
        for one, other in zip(whole[place], compacted[place], strict=True):
            texts = [message["content"] for message in other.messages]
            assert sum("We fixed two tests." in text for text in texts) == 1
            assert other.messages[0] == one.messages[0] and other.messages[0]["role"] == SYSTEM
            assert one.messages[-len(other.messages) + 2 :] == other.messages[2:]
            assert sum(other.targets[0].answers[0] in text for text in texts) == 1
    by_place = {f"gold_at_{place}": compacted[place] for place in PLACES[1:]}
    assert not check_examples(by_place, generated=False)


def test_a_repeated_session_has_all_messages_twice_with_other_ids_of_calls_and_one_system(tmp_path):
    write_planted(tmp_path / "q.jsonl.gz", SESSION, Planting(SAID, NUMBER, 1))
    task, template = (
        load_task("agent_session_repeated"),
        ROOT / "resources" / "prompts" / "agent_session_repeated.txt",
    )
    questions = list(task.read(str(tmp_path / "q.jsonl.gz"), SIZE, None))
    once = examples(tmp_path, SAID)
    for place in PLACES:
        made = [make_example(q, SIZE, f"gold_at_{place}", read_template(template), task) for q in questions]
        for one, other in zip(once[place], made, strict=True):
            spoken = [m["content"] for m in one.messages[:-1] if m["role"] != SYSTEM]
            assert [m["content"] for m in other.messages if m["role"] != SYSTEM] == [*spoken, *spoken, one.question]
            calls = [call["id"] for m in other.messages for call in m.get("tool_calls", ())]
            results = [m["tool_call_id"] for m in other.messages if m["role"] == TOOL]
            assert calls == results and len({*calls}) == len(calls)
            assert other.prompt.count(other.targets[0].answers[0]) == 2


def test_no_secret_of_the_session_is_in_the_questions(tmp_path):
    made = [example for facts in PLACED for some in examples(tmp_path, facts).values() for example in some]
    assert not any("EXAMPLE0000" in e.prompt or "admin@" in e.prompt for e in made)
    assert any("[masked token]" in e.prompt for e in made)
