"""The prompts of a judge: one about each answer of a sweep, and some with the accepted answers in reverse order."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from litm.base.messages import UserError, first_of
from litm.base.store import digest
from litm.records.examples import Example, Target
from litm.records.responses import SweepResponse
from litm.scoring.judging import SWAPPED, is_exempt
from litm.scoring.scores import answered
from litm.verdicts import NO_ANSWER, PLACES, RIGHT, WRONG, judge_prompt


def check_template(template: str, where: str) -> None:
    """Raise `UserError` beginning with `where` for a judge's prompt that lacks a place."""
    if missing := [f"{{{place}}}" for place in PLACES if f"{{{place}}}" not in template]:
        raise UserError(f"{where}: the prompt of a judge has {first_of(missing, 3)} in it, to be filled in")


def judge_prompts(
    template: str,
    examples: Callable[[], Iterable[Example]],
    responses: Callable[[], Iterable[SweepResponse]],
    where: str,
    swap: int = 0,
    only_unclear: bool = False,
) -> Iterator[Example]:
    """The prompts of a judge about a sweep, first `judge_examples`, then `swapped_examples`.

    examples, responses: of the sweep, each read twice; where: the file of the responses, for messages. Raises
    `UserError` for an example without a response and for a response to another prompt.
    """

    def answers() -> Iterator[tuple[Example, SweepResponse]]:
        return ((example, response) for example, response, _ in answered(examples(), responses(), where))

    again = swapped_examples(template, answers(), only_unclear, swap) if swap else []
    return chain(judge_examples(template, answers(), only_unclear), again)


def judge_examples(
    template: str, answered: Iterable[tuple[Example, SweepResponse]], only_unclear: bool
) -> Iterator[Example]:
    """The prompts of a judge about the answers of one sweep, with the names of the answered prompts."""
    for example, response in answered:
        if not judge_is_asked(example, response, only_unclear):
            continue
        prompt = judge_prompt(template, example.question, example.targets[0].answers, response.scored_text or "")
        yield _example(example, prompt)


def swapped_examples(
    template: str, answered: Iterable[tuple[Example, SweepResponse]], only_unclear: bool, number: int
) -> list[Example]:
    """The prompts about `number` answers with the accepted answers in reverse order, of those with several.

    A digest draws them. `SWAPPED` ends their ids.
    """
    several = [
        (example, response)
        for example, response in answered
        if len(example.targets[0].answers) > 1 and judge_is_asked(example, response, only_unclear)
    ]
    drawn = sorted(several, key=lambda pair: digest(["swap", *pair[0].name]))[:number]
    return [
        _example(
            example,
            judge_prompt(template, example.question, example.targets[0].answers[::-1], response.scored_text or ""),
            SWAPPED,
        )
        for example, response in drawn
    ]


def judge_is_asked(example: Example, response: SweepResponse, only_unclear: bool) -> bool:
    """Whether the judge is asked about an answer: not about an empty one, nor one that was not given."""
    answer = (response.scored_text or "").strip()
    return bool(answer) and not (only_unclear and is_exempt(answer, example.targets[0].answers))


def _example(example: Example, prompt: str, ending: str = "") -> Example:
    """The prompt of a judge, with the name of the answered prompt."""
    judged = Target(example.targets[0].name, None, None, None, (RIGHT, WRONG, NO_ANSWER))
    return Example(
        id=example.id + ending,
        size=example.size,
        placement=example.placement,
        question=example.question,
        answer_in_distractors=False,
        prompt=prompt,
        targets=(judged,),
        items=0,
    )
