"""The task semantic_distractors: the code of one made-up country among those of other countries."""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.wording import coined_names, other_coded_lines, random_codes, similar_names
from litm.records import Gold, Item, Question

DEFAULTS = TaskDefaults(
    prompt="semantic_distractors",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="statement",
)
SEPARATOR = "\n"
other_items = other_coded_lines
_ARCHIVE, _CAPITAL = ("The national archive code of {country} is {code}.",), ("The capital of {country} is {code}.",)
WORDINGS = {
    PLAIN: Wording(
        _ARCHIVE, "What is the national archive code of {country}? Answer with only the code.", other=_ARCHIVE
    ),
    SUITE: Wording(
        _CAPITAL, "What is the capital of {country}? Answer with only the secret code.", _CAPITAL, "?????-####"
    ),
}
#: Names of the countries: in families that differ in two letters, or all different.
_NAMES = {PLAIN: similar_names, SUITE: coined_names}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a statement about a country."""
    generate = partial(generate_question, wording=settings.wording)
    return seeded_questions("semantic_distractors", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A country asked for, and `size` - 1 others; all names and codes are distinct. wording: a key of `WORDINGS`."""
    words = WORDINGS[wording]
    pairs = zip(_NAMES[wording](rng, size), random_codes(rng, size, words.code), strict=True)
    (country, code), *others = pairs
    return Question(
        id_,
        words.question.format(country=country),
        (Gold("gold", fill(words.item, country=country, code=code), (code,)),),
        tuple(fill(words.other, country=country, code=code) for country, code in others),
    )


def format_items(items: Sequence[Item]) -> list[str]:
    """One statement per line, all of the same form."""
    return [statement for (statement,) in items]
