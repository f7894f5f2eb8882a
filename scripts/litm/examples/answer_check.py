"""Check of gold answers that could make a question right or wrong for the wrong reason."""

from collections.abc import Iterable
from unicodedata import is_normalized

from litm.answers import normalize_answer
from litm.records import Example


def answer_check_row(experiment: str, size: int, examples: Iterable[Example]) -> dict:
    """Counts of gold answers that make a question easier or harder to judge than it looks, for one size.

    n_symbols_only: an answer that normalises to nothing (it is searched as written, see `best_subspan_em`); n_short: an
    answer of at most two characters after normalisation; n_in_question: an answer contained in the question;
    n_in_distractors: an answer contained in an item that is not gold.
    """
    n = n_symbols_only = n_short = n_in_question = n_in_distractors = 0
    for example in examples:
        answers = [normalize_answer(a) for target in example.targets for a in target.answers]
        question = normalize_answer(example.question)
        n += 1
        n_symbols_only += any(not a for a in answers)
        n_short += any(0 < len(a) <= 2 for a in answers)
        n_in_question += any(a and a in question for a in answers)
        n_in_distractors += example.answer_in_distractors
    return {
        "experiment": experiment,
        "size": size,
        "n": n,
        "n_symbols_only": n_symbols_only,
        "n_short": n_short,
        "n_in_question": n_in_question,
        "n_in_distractors": n_in_distractors,
    }


def answers_not_in_nfc(examples: Iterable[Example]) -> int:
    """Examples with a gold answer that is not in Unicode's composed form (NFC), the form that most models write."""
    return sum(any(not is_normalized("NFC", a) for one in example.targets for a in one.answers) for example in examples)
