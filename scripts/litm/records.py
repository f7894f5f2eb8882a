"""Records that the stages exchange: questions, cells and curves of experiments, comparisons and conditions, examples,
responses.

Files of examples and responses have one JSON object per line.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from litm.base.formats import checked_field, grouped, optional_field, read_jsonl, typed_field, write_jsonl
from litm.base.messages import UserError
from litm.base.store import canonical_json, digest, text_sha256

if TYPE_CHECKING:
    import pandas as pd

#: One element of a context: (title, text) of a document, (key, value) of a pair.
Item = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """An item with an answer, and the accepted answers; no item if none is known to have the answer."""

    name: str
    item: Item | None
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question with its gold item(s) and its distractors in order, before any placement."""

    id: str
    text: str
    golds: tuple[Gold, ...]
    distractors: tuple[Item, ...]
    #: Its group of dependent questions, such as an article; None if unknown.
    cluster: str | None = None

    @property
    def repeats_gold(self) -> bool:
        """Whether a gold item is also a distractor, so that a copy stays in place when it moves."""
        return any(gold.item in self.distractors for gold in self.golds if gold.item is not None)


@dataclass(frozen=True)
class Cell:
    """A size and a placement of the gold items; an experiment has one prompt per cell and question."""

    size: int
    placement: str


@dataclass(frozen=True)
class Curve:
    """The positions of an experiment at one size that are compared; a curve has a Position Bias Index.

    placement: that of all prompts if each prompt has several gold items, None if each position has its own.
    """

    name: str
    experiment: str
    size: int
    placement: str | None


#: Conditions that are no key of an experiment: the size, the model, and an experiment's references.
SIZE, MODEL, ORACLE, CLOSED_BOOK = "size", "model", "oracle", "closed_book"
#: The task of each reference.
REFERENCE_TASKS = {ORACLE: "oracle_qa", CLOSED_BOOK: "closed_book_qa"}


@dataclass(frozen=True)
class Comparison:
    """Side a minus side b of one model, at equal sizes; or of two sizes, or two models, of one experiment.

    condition: what differs, keys of experiments joined by ` + `, or one of the words above; setting_a, setting_b:
    values of these keys; sizes: the compared ones, empty for all (`SIZE`, `MODEL` and the references, which have one
    cell).
    """

    condition: str
    experiment_a: str
    experiment_b: str
    setting_a: str = ""
    setting_b: str = ""
    sizes: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Comparison":
        """The comparison in a JSON object of its fields."""
        return cls(**{**record, "sizes": tuple(record["sizes"])})


#: The order of retrieval, or of a reranker, best first.
RANKED = "ranked"


@dataclass(frozen=True)
class Cut:
    """A cut by score, where higher scores are better.

    score: documents below this score are left out; margin: so are documents more than this below the best. The best
    document is always kept.
    """

    score: float | None = None
    margin: float | None = None

    def kept(self, scores: Sequence[float]) -> int:
        """The number of documents kept, given their scores, best first: up to the first one that is left out."""
        for place, score in enumerate(scores[1:], start=1):
            if self.score is not None and score < self.score:
                return place
            if self.margin is not None and scores[0] - score > self.margin:
                return place
        return len(scores)

    def __str__(self) -> str:
        """In words: `scores of at least 10, scores at most 3 below the best`."""
        parts = [(self.score, "scores of at least {}"), (self.margin, "scores at most {} below the best")]
        return ", ".join(text.format(score_in_words(value)) for value, text in parts if value is not None)


def score_in_words(value: float) -> str:
    """`3` for 3 and 3.0, and all digits of other scores, so that different scores have different names."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


@dataclass(frozen=True)
class Condition:
    """An experiment's treatment of retrieved documents. study: the experiment whose remedies it belongs to, possibly
    itself; reranker, prompt: None if the same as the study's; cut: in words, "" for none.
    """

    study: str
    experiment: str
    order: str = RANKED
    reranker: str | None = None
    cut: str = ""
    prompt: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the documents are read as retrieved."""
        return not self.differing

    @property
    def differing(self) -> tuple[str, ...]:
        """The keys in which it differs from reading documents as retrieved."""
        plain = Condition(self.study, self.experiment)
        return tuple(key for key in REMEDIES if getattr(self, key) != getattr(plain, key))


#: Keys of a condition that are remedies, in the order in which they are named.
REMEDIES = ("order", "reranker", "cut", "prompt")


# Finish reasons: why a response ended where it did.

#: An end token, or the end of the text that the scorer reads.
STOP = "stop"
#: The limit of new tokens: the answer may be cut.
LENGTH = "length"
#: A provider's safety filter withheld or cut the answer, or blocked the prompt. The partial answer is scored, and may
#: be wrong for that reason alone. It is journalled, because asking again would not help.
REFUSED = "refused"
#: The prompt does not fit the context window: it was not asked, or the server refused it as too long. Not journalled.
OVERFLOW = "overflow"
#: The prompt was asked but got no answer (a server's failure, say): not scored and not journalled, so every new run of
#: the sweep asks it again.
FAILED = "failed"
#: The prompt was not asked here, and the recorded responses have none to it: not scored.
NOT_RECORDED = "not_recorded"
#: A response that may or may not have been cut.
UNKNOWN = "unknown"
#: Nothing was generated: the text of the response has the log-probabilities of the accepted answers.
MEASURED = "measured"
#: The key of a decoding that generates nothing.
MEASURE = "measure"


@dataclass(frozen=True, slots=True)
class OtherItem:
    """An item that has no answer. position: in the context, from 0; text: as the prompt has it; value: what a wrong
    answer may give of it in place of the answer, None for a document, which has many.
    """

    position: int
    text: str
    value: str | None = None


#: The content of a prompt: a text, or chat messages {role, content}.
Content = str | list[dict[str, str]]
#: What a response is to: a prompt, or {content, answers} where its accepted answers are measured.
Asked = Content | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A thing that a prompt asks for: a gold item and its answers.

    position: of the item, from 0; depth: the same as a fraction of the context, 0 to 1; span: offsets in the prompt of
    the item's first character and the one after its last. All three are None if no item is known to have the answer.
    """

    name: str
    position: int | None
    depth: float | None
    span: tuple[int, int] | None
    answers: tuple[str, ...]

    @classmethod
    def from_json(cls, record: object, where: str) -> "Target":
        """The target of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        answers = typed_field(record, "answers", list, where)
        span = optional_field(record, "span", list, where)
        if span is not None and not (len(span) == 2 and all(isinstance(end, int) for end in span)):
            raise UserError(f"{where}: 'span' must be two whole numbers, found {span}")
        if not all(isinstance(answer, str) for answer in answers):
            raise UserError(f"{where}: 'answers' must be strings")
        return cls(
            name=typed_field(record, "name", str, where),
            position=optional_field(record, "position", int, where),
            depth=optional_field(record, "depth", float, where),
            span=None if span is None else (span[0], span[1]),
            answers=tuple(answers),
        )

    def to_json(self) -> dict:
        """The JSON object."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def text_in(self, prompt: str) -> str:
        """The item's text in its prompt, "" if no item is known to have the answer."""
        return "" if self.span is None else prompt[slice(*self.span)]


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt of an experiment.

    id: of the question, the same at all positions; size: items in the context, or tokens if the experiment's sizes are
    tokens (then `items` counts the items); messages: the prompt as chat messages {role, content}, for tasks with
    conversations; cluster: the question's group of dependent questions, None if the experiment does not use it; extra:
    other fields of the record, which are kept.
    """

    id: str
    size: int
    placement: str
    question: str
    answer_in_distractors: bool
    prompt: str
    targets: tuple[Target, ...]
    messages: list[dict[str, str]] | None = None
    items: int | None = None
    cluster: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, record: dict, where: str = "example") -> "Example":
        """The example of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        targets = typed_field(record, "targets", list, where)
        needed = {name: typed_field(record, name, kind, where) for name, kind in NEEDED.items()}
        given = {name: optional_field(record, name, kind, where) for name, kind in GIVEN.items() if name in record}
        return cls(
            **needed,
            **given,
            targets=tuple(Target.from_json(target, f"{where}, targets[{n}]") for n, target in enumerate(targets)),
            extra={name: value for name, value in record.items() if name not in _NAMES},
        )

    def to_json(self) -> dict:
        """The JSON object, without absent `messages`, `items` and `cluster`."""
        targets = [target.to_json() for target in self.targets]
        record = {name: targets if name == "targets" else getattr(self, name) for name in _NAMES}
        return {name: value for name, value in record.items() if value is not None} | self.extra

    @property
    def name(self) -> tuple[int, str, str]:
        """Size, placement and question id, which identify a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def answers(self) -> list[str]:
        """The accepted answers to all targets."""
        return list(dict.fromkeys(answer for target in self.targets for answer in target.answers))

    @property
    def context_items(self) -> int:
        """The number of items in the context."""
        return self.size if self.items is None else self.items

    @property
    def prompt_sha256(self) -> str:
        """The sha256 (64 hex digits) of the content before any prompt template, the same for every model.

        Of the prompt in UTF-8, or, with chat messages, of the canonical JSON of [prompt, messages].
        """
        return text_sha256(self.prompt if self.messages is None else canonical_json([self.prompt, self.messages]))

    def content(self, as_chat: bool) -> Content:
        """The content to ask: the messages, if there are any and the model takes a chat, else the prompt."""
        return (self.messages if as_chat else None) or self.prompt


#: Fields of each example besides its targets, and those that it may lack, with their types.
NEEDED = {"id": str, "size": int, "placement": str, "question": str, "answer_in_distractors": bool, "prompt": str}
GIVEN = {"messages": list, "items": int, "cluster": str}
#: Fields with attributes of their own in their order in files; all others are `extra`.
_NAMES = (*NEEDED, "messages", "targets", "items", "cluster")


def read_examples(*paths: str | Path) -> Iterator[Example]:
    """Yield the examples of files, in order; `UserError` names file and line."""
    for path in paths:
        for number, record in read_jsonl(path):
            yield Example.from_json(record, f"{path}, line {number}")


def write_examples(path: str | Path, examples: Iterable[Example]) -> None:
    """Write examples, one per line; equal examples give equal bytes."""
    write_jsonl(path, (example.to_json() for example in examples))


#: Tokens: upper limit of a count, so that a million counts sum to a 64-bit integer.
MOST_TOKENS = 10**12


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a number of tokens: an integer from 0 to `MOST_TOKENS`."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


#: Fields of a model's `request` that limit the tokens of an answer in place of `max_new_tokens`.
LIMITS = ("max_tokens", "max_completion_tokens")


def answer_limit(request: Mapping[str, Any] | None, max_new_tokens: int) -> tuple[int, str]:
    """The most tokens of an answer, 0 if nothing is generated, and the key that sets them: `max_new_tokens`, or the
    field of `request` with the larger value.
    """
    sent = {name: value for name in LIMITS if isinstance(value := (request or {}).get(name), int | float)}
    given = [(int(value), name) for name, value in sent.items() if 0 <= value <= MOST_TOKENS]
    return max(given, default=(max_new_tokens, "max_new_tokens")) if max_new_tokens else (0, "max_new_tokens")


def measured_content(content: Content, answers: Sequence[str]) -> Asked:
    """What a response with the log-probabilities of these answers is to."""
    return {"content": content, "answers": [*answers]}


def response_key(identity: str, content: Asked) -> str:
    """The key of the response to a prompt with `content` under the identity with digest `identity`."""
    return digest([identity, content])


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider bills, by its own counters: of prompts those that no cache has and those written to its
    cache or read from it, and of answers. batch: whether at the price of batches; elsewhere: whether another sweep paid
    for them, whose answer is used again.
    """

    input: int
    cache_write: int
    cache_read: int
    output: int
    batch: bool = False
    elsewhere: bool = False

    @property
    def prompt(self) -> int:
        """All tokens of prompts."""
        return self.input + self.cache_write + self.cache_read

    @classmethod
    def from_json(cls, record: dict) -> "Usage":
        """The tokens in a line of a journal or of responses; KeyError or TypeError for malformed ones."""
        counts = {name: _token_count(record, name) for name in COUNTERS}
        return cls(**counts, batch=record.get("batch") is True, elsewhere=record.get("elsewhere") is True)

    def to_json(self) -> dict[str, Any]:
        """The JSON object, without what is false."""
        return {name: value for name, value in asdict(self).items() if value is not False}

    @staticmethod
    def sums(billed: Iterable["Usage"]) -> list["Usage"]:
        """The sums of tokens that are paid in the same way."""
        return [
            replace(some[0], **{name: sum(getattr(one, name) for one in some) for name in COUNTERS})
            for _, some in sorted(grouped(billed, attrgetter("batch", "elsewhere")).items())
        ]


#: The counters of a `Usage`, which have prices of their own.
COUNTERS = ("input", "cache_write", "cache_read", "output")
#: Share of all prices that providers take for the requests of a batch.
BATCH_FACTOR = 0.5
#: Tokens for which a price is given.
MILLION = 1e6
#: Columns of scores with what is billed.
BILL = ("cache_write_tokens", "cache_read_tokens", "in_batch")


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens: of prompts, written to the provider's cache, read from it, and of answers. batch:
    the factor of all of these for requests of a batch. Without prices of a cache, its tokens cost as others.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    batch: float = BATCH_FACTOR

    @classmethod
    def of(cls, given: Mapping[Any, float]) -> "Prices":
        """The prices in a model's entry, which always has `input` and `output`."""
        return cls(**{"cache_write": given["input"], "cache_read": given["input"], **given})

    def of_prompts(self, tokens: int, answer_tokens: int, shares: Mapping[str, float], batch: bool = False) -> float:
        """The dollars of prompts and answers; shares: what a cache has of the prompts, see `caching.Plan.shares`."""
        write, read = (round(tokens * shares.get(name, 0.0)) for name in ("cache_write", "cache_read"))
        return self.dollars(Usage(tokens - write - read, write, read, answer_tokens, batch))

    def of_rows(self, rows: "pd.DataFrame") -> "pd.Series":
        """The dollars of score rows as billed, and without a bill as if nothing was cached; missing without tokens."""
        write, read, batch = (rows[name].fillna(0) if name in rows else 0 for name in BILL)
        computed = self.input * (rows["prompt_tokens"] - write - read) + self.output * rows["response_tokens"]
        return (computed + self.cache_write * write + self.cache_read * read) * self.batch**batch / MILLION

    def dollars(self, usage: Usage) -> float:
        """The price of the tokens of one or more answers, all of them in batches or none."""
        each = (getattr(self, name) * getattr(usage, name) for name in COUNTERS)
        return sum(each) * (self.batch if usage.batch else 1) / MILLION


@dataclass(frozen=True, slots=True)
class Response:
    """A model's response to one prompt, as the journal keeps it.

    finish_reason: one of those above; prompt_tokens counts the prompt in its template, including special tokens;
    made_with: software and device of the computation; billed: None without a bill, as in journals of earlier versions.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    response_tokens: int
    made_with: str
    billed: Usage | None = None

    @classmethod
    def from_json(cls, record: dict) -> "Response":
        """The response in a journal line; KeyError or TypeError for a malformed line."""
        return cls(
            text=checked_field(record, "text", str),
            # Interned, because a million responses may share the string.
            finish_reason=sys.intern(checked_field(record, "finish_reason", str)),
            prompt_tokens=_token_count(record, "prompt_tokens"),
            response_tokens=_token_count(record, "response_tokens"),
            made_with=sys.intern(checked_field(record, "made_with", str)),
            billed=Usage.from_json(record["billed"]) if "billed" in record else None,
        )

    def to_json(self) -> dict:
        """The fields of the journal line, with `billed` if it is known."""
        known = {name: getattr(self, name) for name in self.__slots__ if name != "billed"}
        return known | ({"billed": self.billed.to_json()} if self.billed else {})

    def paid_elsewhere(self) -> "Response":
        """The same answer, used again by a sweep that has not paid for it."""
        return replace(self, billed=self.billed and replace(self.billed, elsewhere=True))


#: What an experiment measures: answers that are generated, and the log-probability of the accepted ones.
ANSWER, LOG_PROBABILITY = "answer", "log_probability"
#: Decimals of a log-probability: logits near 30 have steps of 2e-6 in float32, which tens of tokens add up.
DECIMALS = 5


def measured_response(prompt_tokens: int, measured: Sequence[tuple[float, int]], made_with: str) -> Response:
    """The response of a prompt whose answers were measured, one pair for each, in their order.

    measured: log-probability (natural, summed over the answer's tokens) and tokens. Raises `UserError` for numbers that
    are not finite, as float16 gives where it overflows.
    """
    if not all(isfinite(nats) for nats, _ in measured):
        raise UserError("a log-probability is not a finite number: run the model in bfloat16 or float32 (its 'dtype')")
    pairs = [[round(nats, DECIMALS), tokens] for nats, tokens in measured]
    return Response(canonical_json(pairs), MEASURED, prompt_tokens, sum(tokens for _, tokens in measured), made_with)


def measured_answers(text: str) -> list[tuple[float, int]]:
    """The log-probability and the tokens of each accepted answer, in the text of a `MEASURED` response."""
    return [(nats, tokens) for nats, tokens in json.loads(text)]


def longest_measured(response: Response) -> int:
    """The tokens of the longest answer that was measured; 0 for an answer that was generated."""
    is_measured = response.finish_reason == MEASURED
    return max((tokens for _, tokens in measured_answers(response.text)), default=0) if is_measured else 0


@dataclass(frozen=True, slots=True)
class SweepResponse:
    """The response to one prompt of a sweep: a line of results/responses.

    text: None if there is none, for a finish reason; key: of the journal; token counts are None if unknown. answer:
    the text after the model's reasoning, if `has_answer`; then only it is scored. prompt_sha256: of the answered
    prompt, see `Example.prompt_sha256`; None in files of earlier versions.
    """

    id: str
    size: int
    placement: str
    key: str
    text: str | None
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    answer: str | None = None
    has_answer: bool = False
    prompt_sha256: str | None = None
    billed: Usage | None = None

    @classmethod
    def from_json(cls, record: dict, where: str = "response") -> "SweepResponse":
        """The response in a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        given = {name: optional_field(record, name, kind, where) for name, kind in ALSO.items() if name in record}
        billed = given.pop("billed", None)
        return cls(
            **{name: typed_field(record, name, kind, where) for name, kind in ANSWERED.items()},
            text=optional_field(record, "response", str, where),
            prompt_tokens=optional_field(record, "prompt_tokens", int, where),
            response_tokens=optional_field(record, "response_tokens", int, where),
            **given,
            has_answer="answer" in record,
            billed=Usage.from_json(billed) if billed else None,
        )

    def to_json(self) -> dict:
        """The JSON object, with `answer` if that is scored, and `prompt_sha256` and `billed` if known."""
        return {
            "id": self.id,
            "size": self.size,
            "placement": self.placement,
            "key": self.key,
            **({} if self.prompt_sha256 is None else {"prompt_sha256": self.prompt_sha256}),
            "response": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "response_tokens": self.response_tokens,
            **({"answer": self.answer} if self.has_answer else {}),
            **({"billed": self.billed.to_json()} if self.billed else {}),
        }

    @property
    def name(self) -> tuple[int, str, str]:
        """Size, placement and question id, which identify a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def scored_text(self) -> str | None:
        """The scored text: the answer if it is separate, else the whole text; None without a response."""
        return self.answer if self.has_answer else self.text


#: Fields of each response that are never null, and those that it may lack, with their types.
ANSWERED = {"id": str, "size": int, "placement": str, "key": str, "finish_reason": str}
ALSO = {"answer": str, "prompt_sha256": str, "billed": dict}


def read_responses(path: str | Path) -> Iterator[SweepResponse]:
    """Yield the responses of a file; `UserError` names file and line."""
    for number, record in read_jsonl(path):
        yield SweepResponse.from_json(record, f"{path}, line {number}")


def write_responses(path: str | Path, responses: Iterable[SweepResponse]) -> None:
    """Write responses, one per line; equal responses give equal bytes."""
    write_jsonl(path, (response.to_json() for response in responses))


def _token_count(record: dict, name: str) -> int:
    value: Any = record[name]
    if not is_token_count(value):
        raise TypeError(f"'{name}' must be a whole number from 0 to {MOST_TOKENS}, found {value!r:.40}")
    return value


def made_with_server(software: str, url: str, name: str) -> str:
    """`made_with` of a server's answer. software: the SDK and its version.

    name: the server's name for the model, or `api_model` if it gives none.
    """
    return f"{software}, {url}, {name}"


#: What follows the software in `made_with` of an answer that came in a batch.
IN_A_BATCH = " in a batch"


def served_name(made_with: str) -> str:
    """The model's name in a result of `made_with_server`."""
    return made_with.split(", ", 2)[-1]


def is_served(identity_fields: Mapping) -> bool:
    """Whether a server runs the model, by the fields of an identity."""
    return "api_model" in identity_fields.get("source", {})


def several_names(manifest: Mapping) -> str:
    """`2 names of models in the server's answers: alpha (10), gamma (2)`; "" for one name or no server."""
    if not is_served(manifest["identity_fields"]):
        return ""
    answers: Counter[str] = Counter()
    for made_with, number in manifest["made_with"].items():
        answers[served_name(made_with)] += number
    named = ", ".join(f"{name} ({number:,})" for name, number in sorted(answers.items()))
    return f"{len(answers)} names of models in the server's answers: {named}" if len(answers) > 1 else ""
