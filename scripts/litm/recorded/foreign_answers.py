"""Answers as other programs record them: marks that they are void, finish reasons, and what surrounds the answer."""

import re
from ast import literal_eval
from collections.abc import Mapping
from json import loads
from pathlib import Path
from typing import Any

from litm.base.messages import shortened
from litm.base.yaml_files import read_data
from litm.records.examples import Example
from litm.records.responses import FAILED

_WORDS = read_data(Path(__file__).with_suffix(".yaml"))
#: Our finish reasons by the words of other programs, in lower case.
FINISH_REASONS = {word: reason for reason, words in _WORDS["finish_reasons"].items() for word in words}
#: The least status of HTTP that is an error; a status as a number or a text, with decimals as pandas writes it.
HTTP_ERROR = 400
_HTTP_ERROR = re.compile(r"[45]\d\d(\.0*)?")
#: The mark for which a log gives the reason.
VOID = "void"
#: Texts for a missing value.
MISSING = frozenset(_WORDS["missing"])
#: A special token; DeepSeek's have full-width bars.
_TOKEN = r"</?s>|<[be]os>|<(?:start|end)_of_turn>|<[|\uff5c][^|\uff5c<>\n]{1,40}[|\uff5c]>"
#: What a chat template has before an answer, and after it. A role alone may be an answer, so it counts only beside a
#: token, or after the prompt.
_ROLE = r"(?:assistant|model|final)\s*(?=\n|<[|\uff5c])"
_BEFORE = re.compile(
    rf"\s*(?:(?:{_TOKEN}|\[/?INST\]|### ?(?:Assistant|Response): *\n)\s*(?:{_ROLE})?\s*)+", re.IGNORECASE
)
_AFTER = re.compile(rf"(?:\s*(?:{_TOKEN}))+\s*$")
_ROLE_ALONE = re.compile(rf"\s*{_ROLE}")
#: Characters of a prompt that no answer quotes.
LONG = 200
#: Words of a piece of a prompt by which a repetition is seen; fewest pieces of a prompt that is long enough for this.
PIECE, FEWEST_PIECES = 6, 8


def finish_reason(value: Any) -> str | None:
    """Our finish reason for a program's word, such as `FinishReason.STOP` or SGLang's {"type": "length"}; None for an
    unknown one.
    """
    word = value.get("type") if isinstance(value, Mapping) else value
    return FINISH_REASONS.get(word.lower().removeprefix("finishreason.")) if isinstance(word, str) else None


def void_mark(values: Mapping[str, Any]) -> str | None:
    """The field that marks a record as one without a valid answer, with its word; None without such a mark."""
    for name in _WORDS["marks"]:
        if _is_set(value := values.get(name), is_flag=not name.startswith("error")):
            return f"{name} {shortened(value, 30)}" if name == VOID and isinstance(value, str) else name
    for name in ("status", "type"):
        if isinstance(state := values.get(name), str) and state.lower() in _WORDS["states"]:
            return f"{name} {state}"
    for name in ("status_code", "http_status", "status"):
        if _HTTP_ERROR.fullmatch(str(values.get(name))):
            return f"{name} {values[name]}"
    flags = {name: str(values.get(name)).lower() for name in ("valid", "is_valid")}
    return next((f"{name} {said}" for name, said in flags.items() if said in ("false", "no", "0")), None)


def _is_set(value: Any, is_flag: bool) -> bool:
    """Whether a mark is set. A number under the name `error` is a measured error, unless it is a status of HTTP."""
    if isinstance(value, str):
        number = re.fullmatch(r"\d+(\.\d*)?", value.strip())
        value = float(number[0]) if number else value.strip().lower() not in _WORDS["unset"]
    if isinstance(value, float | int) and not isinstance(value, bool):
        return value > 0 if is_flag else value >= HTTP_ERROR
    return bool(value)


def without_prompt(text: str, prompt: str) -> str:
    """The text after the whole prompt, which pipelines of transformers return before the answer; else the text.

    Before a long prompt there may be a system prompt; before a short one, which an answer may quote, only a template.
    """
    before, repeated, after = text.partition(prompt.strip())
    is_before = repeated and (len(repeated) >= LONG or without_template(before).strip() in ("", "user"))
    return _ROLE_ALONE.sub("", after, count=1) if is_before else text


def without_template(text: str) -> str:
    """The text without the special tokens and the role that a chat template has before and after an answer."""
    begin = _BEFORE.match(text)
    return _AFTER.sub("", text[begin.end() :] if begin else text)


def repeats_prompt(text: str, example: Example) -> bool:
    """Whether a text has most of its prompt, its beginning or the question included, perhaps in other words.

    A list of key-value pairs alone is an answer of some models, and no repetition.
    """
    if len(text) < len(example.prompt) / 2:
        return False
    words, joined = example.prompt.split(), " ".join(text.split())
    pieces = [" ".join(words[begin : begin + PIECE]) for begin in range(0, len(words), PIECE)]
    question = " ".join(example.question.split())
    has_most = 2 * sum(piece in joined for piece in pieces) >= len(pieces) >= FEWEST_PIECES
    return has_most and (pieces[0] in joined or (len(question.split()) >= 3 and question in joined))


def is_envelope(text: str) -> bool:
    """Whether a text is a server's reply as JSON, or as Python prints it, with the answer inside."""
    value = opened(text)
    value = value[0] if isinstance(value, list) and value else value
    return isinstance(value, Mapping) and any(name in value for name in _WORDS["envelopes"])


def opened(text: Any) -> Any:
    """The list or mapping that a text is in JSON or Python; other values as they are."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    for read in (loads, literal_eval):
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def is_failed(mark: str) -> bool:
    """Whether a mark says that the prompt was asked and got no answer."""
    return FINISH_REASONS.get(mark.split()[-1].lower()) == FAILED
