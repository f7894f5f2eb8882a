"""Own text and own sessions at 32k to 128k tokens: answers at their places, and readers that see what they should."""

import json
from itertools import accumulate

import pytest
from conftest import ROOT
from readers import read_answer, shown

from litm.answer_words import has_answer
from litm.config.my_haystack import positions
from litm.config.my_session import step_positions, steps_of_lengths
from litm.corpora.passages import CorpusSettings, Passage, read_source
from litm.corpora.sessions import SYSTEM, USER, Session, read_session, steps
from litm.examples.examples import make_example, read_template
from litm.examples.facts import LINKED, STATED
from litm.examples.planted_documents import planted_records
from litm.examples.planted_sessions import BY_SYSTEM, IN_TOOL_RESULT, INSTRUCTION, PLACED, Planting, write_planted
from litm.examples.tasks import load_task
from litm.questions.released_format import read_qa_questions, write_question_records
from litm.records.examples import Example
from litm.scoring.metrics import METRICS

pytestmark = pytest.mark.long
#: Characters that stand for a token, and those at the end of a prompt that a short-sighted reader sees.
A_TOKEN, SEEN = 4, 80_000
LENGTHS, NUMBER = (32_000, 128_000), 5
PROMPTS = ROOT / "resources" / "prompts"


@pytest.fixture(scope="module")
def passages(tmp_path_factory) -> list[Passage]:
    """Passages of Markdown documentation, this project's."""
    folder = tmp_path_factory.mktemp("docs")
    for number, page in enumerate(sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"), *ROOT.glob("*/README.md")])):
        (folder / f"{number}_{page.name}").write_bytes(page.read_bytes())
    return [passage for _, passage in read_source("documents", folder, CorpusSettings(100))]


@pytest.fixture(scope="module")
def session(tmp_path_factory) -> Session:
    """A session in Claude Code's form whose tools read this project's files."""
    path = tmp_path_factory.mktemp("session") / "long.jsonl"
    records = []
    for number, file in enumerate(sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("scripts/litm/*/*.py")])):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": file.name}}
        text = file.read_text(encoding="utf-8")[:6000]
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        records += [
            *([_record(USER, f"Go on with {file.name}, please.")] if number % 5 == 0 else []),
            _record("assistant", [call]),
            _record(USER, [result]),
            *([_record("assistant", f"{file.name} is read.")] if number % 5 == 4 else []),
        ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return read_session(path)


def _record(role: str, content: object) -> dict:
    return {"type": role, "message": {"role": role, "content": content}}


def begin_of(prompt: str, sentence_with: str) -> int:
    """The place where the sentence with these words begins."""
    return max(prompt.rfind(end, 0, prompt.find(sentence_with)) for end in (". ", ") ", ": ", "\n"))


@pytest.mark.parametrize("group", [STATED, LINKED])
@pytest.mark.parametrize("length", LENGTHS)
def test_facts_in_long_documents_are_at_their_places_and_read_as_far_as_a_reader_sees(
    group, length, passages, tmp_path
):
    text = "\n".join(f"{passage.title} {passage.text}" for passage in passages)
    size = int(length * A_TOKEN / (len(text) / len(passages) + 25))
    assert size <= len(passages)
    path = tmp_path / "questions.jsonl.gz"
    write_question_records(path, planted_records(passages, group, NUMBER, size, seed=3))
    questions, task = [*read_qa_questions(path, None)], load_task("multi_document_qa")
    template = read_template(PROMPTS / "multi_document_qa.txt")
    for place in positions(size):
        for question in questions:
            example = make_example(question, size, f"gold_at_{place}", template, task)
            prompt, (target,) = example.prompt, example.targets
            answer = target.answers[0]
            assert abs(len(prompt) / A_TOKEN / length - 1) < 0.15
            assert prompt.count(answer) == 1 and answer not in text and target.position == place
            after = prompt.find(f"\nDocument [{place + 2}](") % len(prompt)
            assert prompt.find(f"Document [{place + 1}](") < prompt.find(answer) < after
            assert has_answer(read_answer(prompt, question.text), target.answers)
            if group == STATED:
                sees = begin_of(prompt, answer) >= len(prompt) - SEEN
                assert has_answer(read_answer(prompt[-SEEN:], question.text), target.answers) == sees


@pytest.mark.parametrize("facts", PLACED)
def test_what_is_placed_in_a_long_session_is_at_its_step_and_read_as_far_as_a_reader_sees(facts, session, tmp_path):
    in_steps = steps(session.messages)
    ends = [*accumulate(len(shown(step)) // A_TOKEN for step in in_steps)]
    sizes = steps_of_lengths(LENGTHS, ends, [step[-1]["role"] == USER for step in in_steps])
    assert [round(ends[size - 2], -3) for size in sizes] == pytest.approx(LENGTHS, rel=0.1)
    write_planted(tmp_path / "q.jsonl.gz", session, Planting(facts, NUMBER, 1))
    task, template = load_task("agent_session"), read_template(PROMPTS / "agent_session.txt")
    for size in sizes:
        for question in task.read(str(tmp_path / "q.jsonl.gz"), size, None):
            for place in step_positions(ends, size):
                example = make_example(question, size, f"gold_at_{place}", template, task)
                check_session(example, facts, sum(map(len, in_steps[:place])), shown(session.messages))


def check_session(example: Example, facts: str, before: int, text: str) -> None:
    """before: messages of the session before what is placed."""
    judge = METRICS["exact_code" if facts in (INSTRUCTION, BY_SYSTEM) else "whole_words"].judge
    (target,) = example.targets
    answer, messages = target.answers[0], example.messages[:-1]
    holding = [message for message in messages if answer in message["content"]]
    assert len(holding) == 1 and answer not in text and example.prompt.count(answer) == 1
    # A fact in a tool's result follows a request and a call; what the system says is at the beginning.
    assert messages.index(holding[0]) == {BY_SYSTEM: 0, IN_TOOL_RESULT: before + 2}.get(facts, before)
    whole, without_system = shown(messages), shown(messages, (USER, "assistant", "tool"))
    assert judge(read_answer(whole, example.question), target.answers)
    assert judge(read_answer(without_system, example.question), target.answers) == (holding[0]["role"] != SYSTEM)
    sees = begin_of(whole, answer) >= len(whole) - SEEN
    assert judge(read_answer(whole[-SEEN:], example.question), target.answers) == sees
