"""Answers to a user's own questions: whether a text has an accepted answer, as whole words.

One function, `has_answer`, decides for the gold passage, the distractors and the metric of own data. The paper's data
keep the paper's rules (`litm.answers`), which also find an answer inside other words.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from litm.answers import ALONE, Check, dpr_check, has_run, is_word_of, metric_check

if TYPE_CHECKING:
    import regex

#: Name of the metric.
WHOLE_WORDS = "whole_words"
#: Forms of one character that programs write differently: quotation marks, apostrophes, hyphens and minus signs.
_FORMS = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-"),
}
#: Spaces and apostrophes between groups of three digits: "1 000" with a narrow or fixed space, "1'000".
_GROUPS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
#: Digits above the line, as of footnotes, fractions and numbers in circles, which the compatible form would join with
#: what is before; not those of units (m\u00b2).
_RAISED = re.compile(
    r"(?:(?<=\w{3})|(?<=\d))(?=[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2150-\u215e\u2460-\u2473])"
)
#: A word that is divided at the end of a line.
_DIVIDED = re.compile(r"(?<=[^\W\d_])-\s+(?=[^\W\d_])")
#: Initials and abbreviations ("U.S.", "J. R. R.", "p.m."), and groups of three digits after spaces.
_JOINED = re.compile(r"\b[^\W\d_]\.(?:\s?[^\W\d_]\.)+|\b[^\W\d_](?:\.[^\W\d_])+\b|(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")
#: Units that may follow a number without a space.
_UNITS = re.compile(
    "[mk\u03bc]?g|mcg|[mcd]?l|[nm\u03bc]?m|[ck]m|[ck]?m[23]|ha|mah|ms|min|h|[kmg]?hz|[kmgt]b|[kmg]?w|k?wh|k?v|ma|[km]pa|bar|px|pt|ft|lb|oz|mph|"
    "kmh|[ap]m"
)
#: Answers that a text gives by its first word of their kind, whatever follows.
_KINDS = (frozenset({"yes", "no"}), frozenset({"true", "false"}))
#: Words before true or false that mean the other.
_NOT = {"not", "isnt", "wasnt", "arent"}
#: Words after a single capital that is an option and no article or pronoun: "A is right" against "A better one".
_AFTER_OPTION = re.compile(r"\s+(?!(?:is|was|and|or|because|since|as)\b)[a-z]")


@cache
def _patterns() -> "tuple[regex.Pattern[str], regex.Pattern[str], regex.Pattern[str], regex.Pattern[str]]":
    """A token; a character that is a token, with its marks, or a Korean syllable; format characters; a single letter.

    A token is a number with its decimals, sign and following letters, a version (3.5.1), or a word with its plus and
    number signs (C++).
    """
    # Imported here: the rules import this module, and Snakemake does not bring the package.
    import regex

    token = regex.compile(
        r"""(?P<sign>(?<![^\s(\[{=~<>:;"'/])-(?=\.?\d))?
        (?P<number>(?<![^\s(\[{=~<>:;"'/$\u00a3\u20ac-])\.\d+
          |(?<![\d.,])(?!\d\d?\.\d\d?\.\d\d)\d+(?:\.\d+){2,}(?![.,]?\d)
          |(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![.,]?\d)
          |(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![.,]?\d)
          |(?<!\d)(?<!\d[.,])\d+[.,]\d+(?![.,]?\d)
          |\d+)(?P<unit>[\p{L}\p{M}][\p{L}\p{N}\p{M}]*)?
        |(?P<word>[\p{L}\p{M}][\p{L}\p{N}\p{M}]*(?:[+\#]+(?![\p{L}\p{N}]))?)""",
        regex.VERBOSE,
    )
    letter = regex.compile(r"(?<![\p{L}\p{N}\p{M}_]|[\p{L}\p{N}]['-])\p{L}(?![\p{L}\p{N}\p{M}_+\#]|['-][\p{L}\p{N}])")
    return token, regex.compile(rf"(?={ALONE.pattern})\X"), regex.compile(r"\p{Cf}"), letter


def plain_form(text: str) -> str:
    """The text in Unicode's compatible form (NFKC: "\ufb01" is "fi"), with one form of quotation marks, hyphens and
    spaces, and without format characters such as soft hyphens.
    """
    if text.isascii():
        return _GROUPS.sub("", text)
    text = unicodedata.normalize("NFKC", _RAISED.sub(" ", _GROUPS.sub("", text)))
    return _patterns()[2].sub("", text).translate(_FORMS)


def _tokens(plain: str) -> Iterator[str]:
    token, alone, _, _ = _patterns()
    decomposed = unicodedata.normalize("NFD", plain)
    if not plain.isascii() and ALONE.search(decomposed):
        decomposed = alone.sub(r" \g<0> ", decomposed)
    for match in token.finditer(decomposed):
        if (word := match["word"]) is not None:
            yield word.casefold()
            continue
        number, unit = match["number"], (match["unit"] or "").casefold()
        if "," in number and ("." not in number or number.rfind(".") > number.rfind(",")):
            # Thousands, or else a decimal comma.
            number = number.replace(",", "" if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number) else ".")
        elif "," in number:
            number = number.replace(".", "").replace(",", ".")
        # ".5" is 0.5, and "5.0" and "$5.00" are 5; "1.000" may be a thousand.
        number = (match["sign"] or "") + re.sub(r"(?<=\d)\.00?$", "", f"0{number}" if number[0] == "." else number)
        yield from (number, unit) if _UNITS.fullmatch(unit) else (number + unit,)


@lru_cache(maxsize=16_384)
def _forms_of(text: str) -> tuple[str, ...]:
    """The tokens of a text with single spaces between them and at both ends; where its lines divide words, or it has
    initials, also those with the parts joined. The article "the" is left out.
    """
    plain = plain_form(text)
    forms = dict.fromkeys((plain, _DIVIDED.sub("", plain), _joined(plain)))
    return tuple(f" {' '.join(token for token in _tokens(form) if token != 'the')} " for form in forms)


def token_forms(text: str) -> list[list[str]]:
    """The tokens that `has_answer` compares, in each form of the text."""
    return [form.split() for form in _forms_of(text)]


def _joined(plain: str) -> str:
    return _JOINED.sub(lambda match: re.sub(r"[.\s]", "", match[0]), plain)


@lru_cache(maxsize=16_384)
def _run_of(answer: str) -> str:
    """The tokens of an answer as in `_forms_of`, without an article before a word of two letters or more."""
    bare = re.sub(r"^\W*(?:a|an|the)\s+(?!(?:and|or)\b)(?=\w{2})", "", plain_form(answer), flags=re.IGNORECASE)
    return f" {' '.join(token for token in _tokens(bare) if token != 'the')} "


@lru_cache(maxsize=16_384)
def choice_of(answer: str) -> str:
    """The choice that an answer is, in lower case: yes, no, true, false or a single letter; "" for other answers."""
    word = plain_form(answer).strip(" .,;:!?()[]\"'*").casefold()
    is_letter = len(word) == 1 and word.isalpha() and not ALONE.search(unicodedata.normalize("NFD", word))
    return word if is_letter or any(word in kind for kind in _KINDS) else ""


def options_in(text: str) -> list[str]:
    """The single letters of a text that stand for options, in lower case and their order.

    The articles A and a and the pronoun I are none: a lower-case letter must end the text or stand before a bracket,
    point or colon, and a capital must not be followed by a word in lower case, "is" and the like apart.
    """
    # The letters of "e.g." and "U.S." are none.
    plain = re.sub(r"\b[^\W\d_](?:\.[^\W\d_])+\b", "", plain_form(text))
    options = []
    for match in _patterns()[3].finditer(plain):
        rest = plain[match.end() :]
        is_option = re.match(r"\s*$|[).:\]*\"']", rest) if match[0] in "ai" else True
        if match[0] in "AI":
            is_option = not _AFTER_OPTION.match(rest)
        if is_option:
            options.append(match[0].casefold())
    return options


def has_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether the text has one of the answers as whole words, in the same order and without words between them.

    Letters of both cases, punctuation, symbols and the article "the" do not count; numbers are compared with sign and
    decimals ("5 mg" is not in "15 mg" or "1.5 mg", "1,000" is "1000"). Of yes and no, of true and false, and of single
    letters the first in the text decides: "No, ..., yes" is a no, and "not true" is false. An answer of symbols alone
    is searched as written.
    """
    choices = {*map(choice_of, answers)}
    # "No, that is not true" is no "true" where yes and true are one answer.
    kinds = frozenset().union(*(kind for kind in _KINDS if kind & choices))
    return any(_has(text, answer, kinds) for answer in answers)


def _has(text: str, answer: str, kinds: frozenset[str]) -> bool:
    if choice := choice_of(answer):
        return _choice_in(text, choice, kinds) == choice
    joined = _joined(answer).strip(" .,;:!?\"'")
    # "U.S." is no "us".
    runs = {_run_of(answer), *([_run_of(joined)] if not joined.isalpha() or joined in text else [])}
    if any(map(str.isspace, runs)):
        return bool(answer.strip()) and is_word_of(answer.strip(), text)
    return any(has_run(form, run) for form in _forms_of(text) for run in runs)


def _choice_in(text: str, choice: str, kinds: frozenset[str]) -> str | None:
    """The first choice of a text of the same kind as this one; kinds: those of yes and no, true and false together."""
    if choice not in kinds:
        return next(iter(options_in(text)), None)
    # "No-one" is no "no".
    words = [*_tokens(re.sub(r"(?<=\w)['-](?=\w)", "", plain_form(text)))]
    place = next((number for number, word in enumerate(words) if word in kinds), None)
    if place is None:
        return None
    is_negated = place > 0 and words[place - 1] in _NOT
    word = words[place]
    return {"true": "false", "false": "true"}.get(word, word) if is_negated else word


def words_check(document: Any, answers: Sequence[str]) -> bool:
    """Whether the text of the document has an answer, see `has_answer`; its title does not count."""
    return has_answer(document.text, answers)


def shown_words_check(document: Any, answers: Sequence[str]) -> bool:
    """Whether the document as a prompt shows it, with its title, has an answer."""
    return has_answer(document.title, answers) or has_answer(document.text, answers)


#: Checks of distractors by their names in a config.
CHECKS: dict[str, Check] = {"dpr": dpr_check, "metric": metric_check, "words": shown_words_check}
