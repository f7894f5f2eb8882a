"""The metric first_word: is the first word of the answer the right one?"""

import re
from collections.abc import Sequence

from litm.scoring.metrics import FULL, Metric


def first_word(text: str, answers: Sequence[str]) -> bool:
    """Whether the first word of the text is an accepted answer, ignoring case."""
    words = re.findall(r"[a-z]+", text.lower())
    return words[:1] in [[answer.lower()] for answer in answers]


METRICS = {"first_word": Metric(first_word, reads=FULL, right_if="the first word of the text is an accepted answer.")}
