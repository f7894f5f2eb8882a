"""Check of a generated question before it becomes examples."""

from collections import Counter

from litm.answers import contains_code
from litm.base.messages import UserError
from litm.records import Item, Question


def check_question(question: Question) -> list[str]:
    """The defects of a generated question's items, one line each, [] if there are none.

    Items or keys (first parts) that occur twice; an answer in another item or in the question.
    """
    golds = [gold.item for gold in question.golds if gold.item is not None]
    items: list[Item] = [*golds, *question.distractors]
    found = [f"the item {key!r} occurs {n} times" for key, n in Counter(item[0] for item in items).items() if n > 1]
    for gold in question.golds:
        for answer in gold.answers:
            if contains_code(question.text, answer):
                found.append(f"the answer {answer} is in the question")
            found += [
                f"the answer {answer} is in another item: {' | '.join(item)!r}"
                for item in items
                if item != gold.item and contains_code(" ".join(item), answer)
            ]
    return [f"{question.id}: {finding}" for finding in found]


def checked(question: Question) -> Question:
    """The question; `UserError` if its items have defects."""
    found = check_question(question)
    if found:
        raise UserError(f"the task generated a question that does not measure what it should: {'; '.join(found)}")
    return question
