"""Answers in texts: whether a text contains an answer, and which number or code it gives."""

import re
import string
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from litm.base.messages import UNSPACED

if TYPE_CHECKING:
    import regex


#: Includes the characters that stay: for missing ones, `translate` would repeat a failed lookup in every text.
_PUNCTUATION = {code: chr(code) for code in range(128)} | str.maketrans("", "", string.punctuation)
#: A letter or digit of a word, for a regular expression; those of scripts without spaces end none.
LETTER = rf"[^\W{UNSPACED}]"
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """SQuAD's normalisation (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single spaces."""
    return _without_articles(_without_punctuation(text))


#: Cached, because an answer is searched in many texts.
_normalized = lru_cache(normalize_answer)


def contains_normalized(text: str, answers: Sequence[str]) -> bool:
    """Whether any answer is a substring of the text, both normalised.

    An answer that normalises to nothing, such as "*" or "A", would be in every text; it is searched as written, as a
    separate word.
    """
    bare = _without_punctuation(text)
    return any(
        _contains(bare, normalized) if (normalized := _normalized(answer)) else is_word_of(answer.strip(), text)
        for answer in answers
    )


def _without_punctuation(text: str) -> str:
    return text.lower().translate(_PUNCTUATION)


def _without_articles(bare: str) -> str:
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _contains(bare: str, normalized: str) -> bool:
    # Most texts lack the longest word of the answer and skip the rest of the normalisation.
    return max(normalized.split(), key=len) in bare and normalized in _without_articles(bare)


def is_word_of(word: str, text: str) -> bool:
    """Whether a word is in the text with no letter or digit beside it."""
    return re.search(rf"(?<!{LETTER}){re.escape(word)}(?!{LETTER})", text, re.IGNORECASE) is not None


#: Function: whether a document (a passage or a document of a question, with `title` and `text`) contains an answer.
Check = Callable[[Any, Sequence[str]], bool]


#: Characters that are tokens: no space separates an answer from the words (or, in Korean, the particles) around it.
ALONE = re.compile(rf"[{UNSPACED}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
#: The first letter of an answer in Hebrew or Arabic, which write articles, prepositions and conjunctions as one word
#: with what follows; such prefixes of both, with their vowels.
_PREFIXED = re.compile("(?<=^ )[\u05d0-\u05ea\u0620-\u064a](?=[^ ])")
_PREFIXES = (
    " [\u05d1\u05d4\u05d5\u05db\u05dc\u05de\u05e9\u0591-\u05c7\u0627\u0628\u0633\u0641\u0643\u0644\u0648\u064b-\u0655]*"
)


@cache
def _patterns() -> "tuple[regex.Pattern[str], regex.Pattern[str]]":
    """DPR's SimpleTokenizer (a run of letters, numbers and marks, or any other single visible character), and a
    character that is a token, with its marks, or a Korean syllable.
    """
    # Imported here: the rules import this module, and Snakemake does not bring the package.
    import regex

    return regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]"), regex.compile(rf"(?={ALONE.pattern})\X")


def dpr_tokens(text: str) -> list[str]:
    """The lower-cased tokens of a text in Unicode's NFD form; none of them contains a space.

    As in BERT, and unlike in DPR, each character of a script without spaces is a token; so is a Korean syllable.
    """
    token_pattern, alone = _patterns()
    decomposed = unicodedata.normalize("NFD", text)
    if not text.isascii() and ALONE.search(decomposed):
        decomposed = alone.sub(r" \g<0> ", decomposed)
    return [token.lower() for token in token_pattern.findall(decomposed)]


@lru_cache(maxsize=16_384)
def _spaced_tokens(text: str) -> str:
    """The tokens with single spaces between them and at both ends, so that a run of tokens is a substring."""
    return f" {' '.join(dpr_tokens(text))} "


def contains_answer_dpr(text: str, answers: Sequence[str]) -> bool:
    """Whether the tokens of any answer are a contiguous run among those of the text.

    An answer without tokens (empty, or only invisible characters) is in no text. One in Hebrew or Arabic letters may
    follow a prefix, unlike in DPR. Tokenised passages and answers are cached, because neighbouring questions retrieve
    the same passages.
    """
    passage = _spaced_tokens(text)
    return any(has_run(passage, run) for run in map(_spaced_tokens, answers) if not run.isspace())


def has_run(passage: str, run: str) -> bool:
    """Whether a run of tokens, with spaces at both ends, is in a passage; after a prefix in Hebrew and Arabic."""
    if run in passage:
        return True
    return _PREFIXED.search(run) is not None and re.search(_PREFIXES + re.escape(run[1:]), passage) is not None


def dpr_check(document: Any, answers: Sequence[str]) -> bool:
    """Whether DPR finds an answer in the document, whose title it ignores."""
    return contains_answer_dpr(document.text, answers)


def metric_check(document: Any, answers: Sequence[str]) -> bool:
    """Whether a model that copied from the document, title included, could be scored as correct."""
    return contains_normalized(f"{document.title} {document.text}", answers)


_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
#: Pattern of a code: letters, a hyphen, and digits.
_CODE = re.compile(r"(?<!\w)(?<!\w-)[a-z]{2,}-[0-9]{3,}(?!-?\w)", re.IGNORECASE)


def contains_no_other_code(text: str, codes: Collection[str]) -> bool:
    """Whether every code in the text is one of these, in any case and with any kind of hyphen."""
    ours = {code.translate(_HYPHENS).lower() for code in codes}
    return all(code.lower() in ours for code in _CODE.findall(text.translate(_HYPHENS).replace("_", " ")))


def contains_code(text: str, code: str) -> bool:
    """Whether the code is in the text as a separate token, in any case and with any kind of hyphen.

    Further letters, digits or hyphenated parts on either side make it another code: "TRK-5938" is in "it's
    **trk-5938**." but not in "TRK-59381", "XTRK-5938", "TRK-5938-B" or "TRK 5938".
    """
    pattern = rf"(?<!\w)(?<!\w-){re.escape(code.translate(_HYPHENS))}(?!-?\w)"
    # Markdown's emphasis does not belong to a word, but the regular expression counts its underscore.
    return re.search(pattern, text.translate(_HYPHENS).replace("_", " "), re.IGNORECASE) is not None


# Thousands in groups of three after a comma, point, space or apostrophe, the same throughout; otherwise digits alone.
# Decimals follow a point or a comma.
_NUMBER = re.compile(
    r"""(?<![0-9A-Za-z.,])
    (?P<whole>[1-9][0-9]{0,2}(?P<separator>[,.'\u2019\ \u00a0\u2009\u202f])[0-9]{3}(?:(?P=separator)[0-9]{3})*(?![0-9])
      |[0-9]+)
    (?:[.,](?P<decimals>[0-9]+))?
    (?!(?!(?:kgs?|kilos?|kilograms?|USD|EUR|GBP|dollars?)\b)[0-9A-Za-z])""",
    re.VERBOSE,
)
#: Digits: a model that repeats itself can write more than Python converts to a number.
MOST_DIGITS = 100
_CURRENCY = r"(?:US\$|A\$|USD|US|EUR|GBP|dollars?|[$€£¥])"
_KILOGRAM = r"(?:kgs?|kilos?|kilograms?)\b"
#: Text after a number that is a quantity ("12 kg") or a unit price ("$357 per kg", "357/kg").
_GIVEN = re.compile(rf"\s*(?:{_CURRENCY})?\s*(?:(?:per|an?|each|for\s+(?:each|every|one|1)|/)\s*)?{_KILOGRAM}", re.I)
#: Text before a unit price: "one kg costs $357".
_GIVEN_BEFORE = re.compile(
    rf"\b(?:one|each|every|1)\s+{_KILOGRAM}\s+(?:costs?|is|at|for)\s+\\?(?:{_CURRENCY})?\s*$", re.I
)
_BETWEEN = re.compile(
    rf"\s*(?:{_CURRENCY})?\s*(?:(?:(?:per|/)\s*)?{_KILOGRAM})?\s*\)?\s*"
    # Signs of multiplication and division, and minus signs.
    r"(?:[x*/+\u00d7\u00b7\u22c5\u00f7\u2212\u2013-]|\\times|\\cdot|times|multiplied\s+by|plus|minus)"
    rf"\s*\(?\s*\\?(?:{_CURRENCY})?\s*",
    re.I,
)
#: Text that may precede a number at the beginning of an answer.
_BEGINNING = re.compile(rf"(?:[\s*_\"'`(=~\\\u2248]|{_CURRENCY})*", re.I)
_MINUS = re.compile(rf"(?:^|[\s(=$€£])[-\u2212]\s*\\?(?:{_CURRENCY})?\s*$", re.I)
#: Number of a list entry, at the beginning of its line.
_LIST_NUMBER = re.compile(r"^[ \t]*[0-9]{1,2}[.)][ \t]+(?=[^\s0-9])", re.MULTILINE)
#: Beginning of another question, where a model continues after its answer as in the prompt.
_NEXT_QUESTION = re.compile(r"^\s*(?:Question|Q)\s*:|^\s*Read the text below", re.MULTILINE)


@dataclass(frozen=True)
class _Number:
    """A number in a text."""

    value: int | None
    """Value; None if it is fractional or too long."""
    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""


def read_integer(text: str) -> int | None:
    """The integer that an answer gives, None if it gives none.

    Numbers of the calculation are ignored: operands ("12 x $357 = 4284", "3570 + 714") and numbers of or per kg ("12
    kg", "$357 per kg", "one kg costs $357"). Among the others it is the number at the beginning of the answer, or else
    the last one: an answer either starts with the result and may explain it, or ends with it.

    Thousands may be separated by commas, points, spaces or apostrophes, decimals by a point or a comma: "$4,284.00",
    "4 284", "4.284,00" and "4284 USD" are 4284. One to three digits, one such sign and exactly three digits are always
    read as thousands: "4.284" is 4284, because amounts of money have no thousandths. A fractional number, such as
    "42.84", counts as a number but equals no answer. Numbers in words are not read.
    """
    text = _plain(text)
    results = _results(text)
    if not results:
        return None
    begins = _BEGINNING.fullmatch(text, 0, results[0].start) is not None
    return (results[0] if begins else results[-1]).value


def read_last_integer(text: str) -> int | None:
    """The integer that an answer of several lines ends with, None if it has none.

    The last number that `read_integer` does not ignore, without the numbers of a list ("2. ...") and before any further
    question that the model asks itself. A single line is read as in `read_integer`.
    """
    if begins := _NEXT_QUESTION.search(text):
        text = text[: begins.start()]
    text = text.strip()
    if "\n" not in text:
        return read_integer(text)
    results = _results(_plain(_LIST_NUMBER.sub("", text)))
    return results[-1].value if results else None


def _results(text: str) -> list[_Number]:
    """The numbers in a plain text that are neither operands nor of or per kg."""
    numbers = list(_numbers(text))
    operands = {
        number for pair in pairwise(numbers) if _BETWEEN.fullmatch(text, pair[0].end, pair[1].start) for number in pair
    }
    return [number for number in numbers if number not in operands and not _is_given(text, number)]


def _is_given(text: str, number: _Number) -> bool:
    """Whether a number is a quantity or a unit price, which the question and the context contain."""
    return bool(_GIVEN.match(text, number.end) or _GIVEN_BEFORE.search(text, _before(number.start), number.start))


def _before(start: int) -> int:
    """The offset at which a search for text before a number starts, bounded by the longest such text."""
    return max(0, start - 60)


def _plain(text: str) -> str:
    """The text without LaTeX's groups around commas, and with spaces around an x between numbers and after the letters
    of a currency.
    """
    text = text.replace("{,}", ",")
    text = re.sub(r"\b(USD|EUR|GBP)(?=[0-9])", r"\1 ", text, flags=re.I)
    return re.sub(r"(?<=[0-9])[x\u00d7](?=\\?[$€£]?[0-9])", " x ", text, flags=re.I)


def _numbers(text: str) -> Iterator[_Number]:
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"[^0-9]", "", match["whole"])
        is_amount = not (match["decimals"] or "").strip("0") and len(digits) <= MOST_DIGITS
        sign = -1 if _MINUS.search(text, _before(match.start()), match.start()) else 1
        yield _Number(sign * int(digits) if is_amount else None, match.start(), match.end())
