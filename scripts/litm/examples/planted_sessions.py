"""Made-up facts and instructions in a session: questions with what is placed in it, and their file.

The first line of the file has the steps of the session, each further one a question with the messages to be placed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from litm.base.json_files import read_jsonl, typed_field, write_jsonl
from litm.corpora.made_up import words
from litm.corpora.sessions import ASSISTANT, SYSTEM, TOOL, USER, Message, Session, steps
from litm.examples.facts import STATED, contained_in, new_facts
from litm.examples.planted_documents import with_sentence
from litm.examples.wording import random_codes
from litm.records.questions import Gold, Item, Question

#: What is placed: a fact that the user says, a fact in a tool's result, an instruction of the user, and of the system.
SAID, IN_TOOL_RESULT, INSTRUCTION, BY_SYSTEM = "said", "in_tool_result", "instruction", "instruction_of_system"
PLACED = (SAID, IN_TOOL_RESULT, INSTRUCTION, BY_SYSTEM)
#: Keys of the first record: the steps, and what is done to those of a context.
STEPS, KEEP_RESULTS, COMPACTED = "steps", "keep_results", "compacted"
#: The id of a call that is placed; those of a session are numbers.
CALL = "call_placed"
#: The content of a dropped result, and what stands before a summary.
DROPPED, SUMMARY = "[result dropped]", "Summary of the conversation so far:\n"
#: Words of a tool's result that a fact is put into, at most, and its text in a session without results.
RESULT_WORDS, NO_RESULTS = 120, "Notes"


@dataclass(frozen=True)
class Planting:
    """What is placed in a session, and what is done to the session."""

    facts: str
    """One of `PLACED`."""
    number: int
    """Number of questions."""
    seed: int
    """Seed of the facts."""
    repeat: bool = False
    """Whether the instruction stands before the question once more."""
    result_words: int | None = None
    """Words to which each result of a tool is shortened, None to keep them."""
    keep_results: int | None = None
    """Steps at the end whose results of tools are kept; earlier ones are dropped. None to keep all."""
    summary: str | None = None
    """What stands in place of the first half of the steps, None to keep them."""


def item_of(messages: Sequence[Message]) -> Item:
    """A step of a session as an item of a context: each message as JSON."""
    return tuple(json.dumps(message, ensure_ascii=False, sort_keys=True) for message in messages)


def messages_of(items: Sequence[Item]) -> list[Message]:
    """The messages of items."""
    return [json.loads(text) for item in items for text in item]


def shortened(message: Message, most: int | None) -> Message:
    """The message; a tool's result with at most so many words, and the number of those left out."""
    shown = message["content"].split(" ")
    if most is None or message["role"] != TOOL or len(shown) <= most:
        return message
    return {**message, "content": f"{' '.join(shown[:most])} [{len(shown) - most} words left out]"}


def treated(session_steps: Sequence[Item], keep_results: int | None, summary: str | None) -> list[Item]:
    """The steps of a context: with a summary in place of their first half, whose messages of the system stay, and
    without the results of tools that more than `keep_results` steps follow or end.
    """
    shown = list(session_steps)
    if summary is not None:
        half = len(shown) // 2
        of_system = [message for message in messages_of(shown[:half]) if message["role"] == SYSTEM]
        # Steps without messages keep the places of the others.
        first = item_of([*of_system, {"role": USER, "content": f"{SUMMARY}{summary}"}])
        shown[:half] = [first, *[()] * (half - 1)]
    if keep_results is not None:
        early = len(shown) - keep_results
        shown[: max(0, early)] = map(_without_results, shown[: max(0, early)])
    return shown


def _without_results(step: Item) -> Item:
    return item_of([{**m, "content": DROPPED} if m["role"] == TOOL else m for m in messages_of([step])])


def planted_records(session: Session, planting: Planting) -> Iterator[dict[str, Any]]:
    """The records of the file; `UserError` if the session has the facts already."""
    all_steps = [list(item_of([shortened(m, planting.result_words) for m in s])) for s in steps(session.messages)]
    treatment = {KEEP_RESULTS: planting.keep_results, COMPACTED: planting.summary}
    yield {STEPS: all_steps, **{key: value for key, value in treatment.items() if value is not None}}
    is_in_text = contained_in("\n".join(json.dumps(message, ensure_ascii=False) for message in session.messages))
    results = [message["content"] for message in session.messages if message["role"] == TOOL] or [NO_RESULTS]
    facts = new_facts(planting.seed, STATED, planting.number, is_in_text)
    wording = words("facts")["session"]
    for index, fact in enumerate(facts):
        rng = Random(f"{planting.seed}/session/{planting.facts}/{index}")
        question, answers = fact.question, fact.answers
        if planting.facts == SAID:
            placed = [{"role": USER, "content": wording[SAID]["user"].format(sentence=fact.sentence)}]
        elif planting.facts == IN_TOOL_RESULT:
            placed = _read(wording[IN_TOOL_RESULT], fact.sentence, fact.coined[0].lower(), rng.choice(results), rng)
        else:
            rng = Random(f"{planting.seed}/session/{INSTRUCTION}/{index}")
            rule, answers, question = _rule(wording[INSTRUCTION], rng)
            role = SYSTEM if planting.facts == BY_SYSTEM else USER
            placed = [{"role": role, "content": wording[INSTRUCTION][role].format(rule=rule)}]
            if planting.repeat:
                question = f"{question}\n\n{wording[INSTRUCTION]['again'].format(rule=rule)}"
        placed = [shortened(message, planting.result_words) for message in placed]
        yield {
            "id": f"{INSTRUCTION if planting.facts == BY_SYSTEM else planting.facts}/{index}",
            "question": question,
            "answers": list(answers),
            "placed": list(item_of(placed)),
        }


def _rule(wording: dict[str, Any], rng: Random) -> tuple[str, tuple[str, ...], str]:
    """An instruction, the code that shows that it is followed, and a question that does not ask for it."""
    (code,) = random_codes(rng, 1)
    return rng.choice(wording["rules"]).format(code=code), (code,), rng.choice(wording["questions"])


def _read(wording: dict[str, str], sentence: str, place: str, result: str, rng: Random) -> list[Message]:
    """A request to read a file, the call, and its result: a real one of the session with the sentence in it."""
    file = wording["file"].format(place=place)
    text = with_sentence(" ".join(result.split(" ")[:RESULT_WORDS]), sentence, rng)
    call = {"id": CALL, "name": wording["tool"], "arguments": json.dumps({"path": file})}
    return [
        {"role": USER, "content": wording["user"].format(file=file)},
        {"role": ASSISTANT, "content": "", "tool_calls": [call]},
        {"role": TOOL, "content": text, "tool_call_id": CALL},
    ]


def write_planted(path: str | Path, session: Session, planting: Planting) -> None:
    """Write the file."""
    write_jsonl(path, planted_records(session, planting))


def read_planted(path: str | Path, size: int) -> Iterator[Question]:
    """The questions of a file for contexts of `size` steps, each with the session's first steps as its distractors."""
    records = read_jsonl(path)
    number, first = next(records)
    items = [tuple(step) for step in typed_field(first, STEPS, list, f"{path}, line {number}")]
    items = treated(items[: size - 1], first.get(KEEP_RESULTS), first.get(COMPACTED))
    for number, record in records:
        where = f"{path}, line {number}"
        id_, question = (typed_field(record, name, str, where) for name in ("id", "question"))
        placed, answers = (typed_field(record, name, list, where) for name in ("placed", "answers"))
        yield Question(id_, question, (Gold("gold", tuple(placed), tuple(answers)),), tuple(items))
