"""Checks: of examples from their prompts alone, of gold answers, and of generated questions."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import numpy as np

from litm.answer_words import WHOLE_WORDS, choice_of, has_answer
from litm.answers import contains_code, contains_normalized, normalize_answer
from litm.base.messages import UserError
from litm.examples.task import MOVE_THE_PAIR
from litm.placements import depth_of, gold_positions, positions_for
from litm.records.examples import Example, OtherItem, Target
from litm.records.questions import Item, Question

if TYPE_CHECKING:
    from litm.tables.questions import AnswerChecksRow

#: Words: shorter sentences and lines may occur twice, because they are labels.
_SHORTEST_SENTENCE = 3
#: Metric of the paper's questions, whose gold items hold an answer as text, as with `WHOLE_WORDS`.
SUBSPAN = "best_subspan_em"
_SENTENCE_END = re.compile(r"\n|(?<=[.!?]) ")


def check_examples(
    examples_by_placement: Mapping[str, Iterable[Example]], generated: bool, design: str = MOVE_THE_PAIR
) -> list[str]:
    """The defects of the examples of one experiment and size, given by placement, each read once and in step.

    - Every placement has the same questions, each once, in the same order, with the same wording and answers.
    - A target is at its placement: its text is the same at every placement (except for what belongs to the slot, such
      as a number or a year), and it comes later at a larger position.
    - Placements differ only in order: all prompts of a question have the same letters.
    - In the design `ask_another_key`, instead of these three: every placement has the same context, and asks for the
      key of the pair at its position.
    - In generated examples no answer occurs in a prompt outside its target, and no sentence occurs twice in a prompt.
      (In real documents both happen.)

    If the questions differ, only that is reported.
    """
    defects: list[str] = []
    compare = _compare if design == MOVE_THE_PAIR else _compare_contexts
    ids: dict[str, list[str]] = {placement: [] for placement in examples_by_placement}
    for row in zip_longest(*examples_by_placement.values()):
        versions = dict(zip(ids, row, strict=True))
        for placement, example in versions.items():
            if example is not None:
                ids[placement].append(example.id)
        if len({example and example.id for example in row}) == 1:
            id_ = row[0].id
            defects += [f"{id_}: {finding}" for finding in compare(versions)]
            for placement, example in versions.items():
                defects += [f"{id_}, {placement}: {finding}" for finding in _check_alone(placement, example, generated)]
    return _compare_ids(ids) or defects


def _compare_ids(ids: Mapping[str, list[str]]) -> list[str]:
    """The differences between the questions of the placements."""
    defects = []
    for placement, here in ids.items():
        defects += [f"{id_}: is there {n} times with {placement}" for id_, n in Counter(here).items() if n > 1]
    id_sets = {placement: set(here) for placement, here in ids.items()}
    for id_ in dict.fromkeys(id_ for here in ids.values() for id_ in here):
        missing = [placement for placement, here in id_sets.items() if id_ not in here]
        if missing:
            defects.append(f"{id_}: is not there with {', '.join(missing)}")
    if not defects and len(set(map(tuple, ids.values()))) > 1:
        defects.append("the questions are in another order at some placement")
    return defects


def _compare(versions: Mapping[str, Example]) -> Iterator[str]:
    """The defects between the placements of one question."""
    examples = list(versions.values())
    if len({(e.question, tuple((t.name, t.answers) for t in e.targets)) for e in examples}) > 1:
        yield "question, targets or answers differ between placements"
        return
    if len({_letters(example.prompt) for example in examples}) > 1:
        yield "the items differ between placements"
    if len({_letters("".join(_contents(example))) for example in examples}) > 1:
        yield "the messages differ between placements"
    for index, name in enumerate(target.name for target in examples[0].targets):
        targets = [(example.prompt, example.targets[index]) for example in examples]
        shown = [(prompt, target) for prompt, target in targets if target.span is not None]
        if len({_without_slot(target.text_in(prompt)) for prompt, target in shown}) > 1:
            yield f"the span of {name} is not the same text at every placement"
        # Placements of several items may have one of them at the same place.
        places = {target.position: target for _, target in shown}
        if len(examples[0].targets) == 1 and not _ascend([*places.values()]):
            yield f"{name} does not lie further back at a greater position"


def _compare_contexts(versions: Mapping[str, Example]) -> Iterator[str]:
    """The defects between the placements of one context, whose prompts ask for different keys."""
    if len({_without_key(example) for example in versions.values()}) > 1:
        yield "more than the key asked for differs between placements"
    for placement, example in versions.items():
        (target,) = example.targets
        item = target.text_in(example.prompt)
        if not all(text in item for text in (example.question, *target.answers)):
            yield f"{placement} does not ask for the pair that is there"
    if not _ascend([target for example in versions.values() for target in example.targets]):
        yield "the pair asked for does not lie further back at a greater position"


def _without_key(example: Example) -> str:
    """The prompt without the key asked for, except for its place in the context."""
    start, end = example.targets[0].span or (0, 0)
    before, after = example.prompt[:start], example.prompt[end:]
    return before.replace(example.question, "") + example.prompt[start:end] + after.replace(example.question, "")


def _check_alone(placement: str, example: Example, generated: bool) -> Iterator[str]:
    """The defects of one prompt."""
    targets, size = example.targets, example.context_items
    positions = gold_positions(positions_for(placement, size))
    # A question may ask for one of several gold items.
    asked = [position for position in positions if position in {target.position for target in targets}]
    if placement != example.placement or (positions and (not asked or [t.position for t in targets] != asked)):
        yield f"its targets are at {[t.position for t in targets]}, in its record at {example.placement}"
    if any(t.position is not None and t.depth != depth_of(t.position, size) for t in targets):
        yield "the depth is not that of the position"
    # A text outside the messages cannot be read by the model, and one outside the prompt was not checked.
    if any(content not in example.prompt for content in _contents(example)):
        yield "its messages say something that its prompt does not"
    if not _ascend(targets):
        yield "the targets are not in the order of their positions"
    if generated:
        yield from _check_text(example.prompt, targets)


def _check_text(prompt: str, targets: Sequence[Target]) -> Iterator[str]:
    """Leaks and repetitions in a prompt."""
    for target in targets:
        start, end = target.span or (0, 0)
        outside = f"{prompt[:start]}\n{prompt[end:]}"
        leaked = (answer for answer in target.answers if contains_code(outside, answer))
        yield from (f"the answer {answer} is outside the item {target.name}" for answer in leaked)
    sentences = Counter(s for s in _SENTENCE_END.split(prompt) if len(s.split()) >= _SHORTEST_SENTENCE)
    yield from (f"{sentence!r} is there {n} times" for sentence, n in sentences.items() if n > 1)


def _contents(example: Example) -> list[str]:
    """The contents of an example's messages, if any."""
    return [message["content"] for message in example.messages or []]


def _ascend(targets: Sequence[Target]) -> bool:
    """Whether spans begin in the order of their positions, within a prompt or across prompts."""
    shown = sorted((t.position, *t.span) for t in targets if t.span is not None)
    starts = [start for _, start, _ in shown]
    return starts == sorted(set(starts))


def _letters(text: str) -> bytes:
    """The count of each byte in the text, equal for texts that differ only in order."""
    return np.bincount(np.frombuffer(text.encode(), dtype=np.uint8), minlength=256).tobytes()


def _without_slot(text: str) -> str:
    """An item's text without the additions of its slot: a number, or the brackets of a whole context."""
    return re.sub(r"\d+", "#", text.strip(" {}"))


#: The items of a prompt but a target's, as `litm.examples.task.Task.other_items`.
Others = Callable[[str, Target], Iterable[OtherItem]]


def answer_check_row(
    experiment: str, size: int, examples: Iterable[Example], metric: str = SUBSPAN, others: Others = lambda *_: ()
) -> "AnswerChecksRow":
    """Counts of gold answers that make a question easier or harder to judge than it looks, for one size.

    n_symbols_only: an answer that normalises to nothing (it is searched as written, see `best_subspan_em`); n_short: an
    answer of at most two characters after normalisation; n_in_question: an answer contained in the question;
    n_in_distractors: an answer contained in an item that is not gold; n_not_in_gold: no answer contained in the gold
    item, unless it is a choice, None with a metric by which an answer may be right in other words; n_choices: all
    answers are a yes, a no or a letter; chance: the share of these that have the commonest answer, which a constant
    answer reaches. others: the function that gives the distractors of own questions.
    """
    names = ("n", "n_symbols_only", "n_short", "n_in_question", "n_in_distractors", "n_not_in_gold", "n_choices")
    counts: dict = dict.fromkeys(names, 0)
    chosen: Counter[str] = Counter()
    contains = has_answer if metric == WHOLE_WORDS else contains_normalized
    for example in examples:
        texts = [answer for target in example.targets for answer in target.answers]
        answers = [normalize_answer(text) for text in texts]
        question = normalize_answer(example.question)
        in_question = any(answer and answer in question for answer in answers)
        choices = {choice_of(text) for text in texts}
        golds = ((target.text_in(example.prompt), target.answers) for target in example.targets if target.span)
        counts["n"] += 1
        counts["n_symbols_only"] += any(not answer for answer in answers)
        counts["n_short"] += any(0 < len(answer) <= 2 for answer in answers)
        counts["n_in_question"] += has_answer(example.question, texts) if metric == WHOLE_WORDS else in_question
        counts["n_in_distractors"] += (
            _is_in_others(example, others) if metric == WHOLE_WORDS else example.answer_in_distractors
        )
        if choices and "" not in choices:
            counts["n_choices"] += 1
            chosen.update(choices)
        else:
            counts["n_not_in_gold"] += not all(contains(*gold) for gold in golds)
    chance = max(chosen.values()) / counts["n_choices"] if chosen else None
    if metric not in (SUBSPAN, WHOLE_WORDS):
        counts["n_not_in_gold"] = None
    return {"experiment": experiment, "size": size, **counts, "chance": chance}


def _is_in_others(example: Example, others: Others) -> bool:
    """Whether an item other than the gold one has an answer as whole words; False without a gold one."""
    return any(
        has_answer(other.text, target.answers)
        for target in example.targets
        if target.position is not None
        for other in others(example.prompt, target)
    )


def answers_not_in_nfc(examples: Iterable[Example]) -> int:
    """Examples with a gold answer that is not in Unicode's composed form (NFC), the form that most models write."""
    return sum(any(not is_normalized("NFC", a) for gold in case.targets for a in gold.answers) for case in examples)


def check_question(question: Question) -> Iterator[str]:
    """The defects of a generated question's items, one line each.

    Items or keys (first parts) that occur twice; an answer in another item or in the question.
    """
    golds = [gold.item for gold in question.golds if gold.item is not None]
    items: list[Item] = [*golds, *question.distractors]
    for key, n in Counter(item[0] for item in items).items():
        if n > 1:
            yield f"{question.id}: the item {key!r} occurs {n} times"
    for gold in question.golds:
        for answer in gold.answers:
            if contains_code(question.text, answer):
                yield f"{question.id}: the answer {answer} is in the question"
            for item in items:
                if item != gold.item and contains_code(" ".join(item), answer):
                    yield f"{question.id}: the answer {answer} is in another item: {' | '.join(item)!r}"


def checked(question: Question) -> Question:
    """The question; `UserError` if its items have defects."""
    if defects := "; ".join(check_question(question)):
        raise UserError(f"the task generated a question that does not measure what it should: {defects}")
    return question
