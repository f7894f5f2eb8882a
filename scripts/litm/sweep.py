"""A sweep: all prompts of one model and one experiment, answered once and never again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from litm.engine import Engine, Prepared
from litm.errors import UserError
from litm.finish_reasons import FAILED, OVERFLOW
from litm.identity_changes import Changes, reason_to_ask
from litm.journal import Journal, digest, response_key
from litm.prefix_tree import tree_tokens
from litm.progress import progress_bar
from litm.prompt_format import Content, prompt_content

#: What becomes of a sweep where prompts got no answer: an error, or responses that say so (`FAILED`) and are counted.
STOP, COUNT = "stop", "count"
#: What becomes of a sweep with prompts that do not fit: their questions are left out and counted, or it is an error.
LEAVE_OUT, FAIL = "leave_out", "fail"


@dataclass(frozen=True)
class Prompt:
    """One prompt of a sweep and the key of its response."""

    id: str
    size: int
    placement: str
    content: Content
    key: str


@dataclass(frozen=True)
class Fit:
    """What fits a model: prompt and answer together have at most `context_window` tokens (None: no limit known).

    on_overflow: `LEAVE_OUT` or `FAIL`, for prompts that do not. is_shared: not so for an encoder-decoder, of which
    `context_window` holds the prompt alone, and `answer_window` the answer.
    """

    context_window: int | None
    max_new_tokens: int
    on_overflow: str = LEAVE_OUT
    is_shared: bool = True
    answer_window: int | None = None

    @property
    def room(self) -> int:
        """Tokens of the context window that are kept for an answer of full length."""
        return self.max_new_tokens if self.is_shared else 0

    def holds(self, prompt_tokens: int | None) -> bool:
        """Whether a prompt fits, with the room for its answer; one of unknown length is a server's to refuse."""
        if self.context_window is None or prompt_tokens is None:
            return True
        return prompt_tokens + self.room <= self.context_window

    def check_answer(self, what: str) -> None:
        """Raise `UserError` if no answer could have its full length; what: the model and the experiment."""
        if self.answer_window is not None and self.max_new_tokens > self.answer_window:
            raise UserError(
                f"{what}: answers may have {self.max_new_tokens} tokens, but the model's decoder holds "
                f"{self.answer_window}: lower the experiment's max_new_tokens"
            )


@dataclass(frozen=True)
class Outcome:
    """What came of asking: how many prompts were asked now, and those without an answer.

    overflow, failed: prompt tokens by key, of those that do not fit and of those that were asked in vain, which are
    among the asked (None where only a server knows); asked_because: see `identity_changes.reason_to_ask`, None if none
    were asked; work: None if none were.
    """

    asked: int
    overflow: Mapping[str, int]
    failed: Mapping[str, int | None]
    asked_because: Changes | str | None = None
    work: "Work | None" = None

    @property
    def answered(self) -> int:
        """Prompts that were asked now and got an answer."""
        return max(0, self.asked - len(self.failed))


@dataclass(frozen=True)
class Work:
    """Tokens of the prompts that were asked: all of them, those that the engine computed, and the fewest it could have.

    tree_tokens: the nodes of the prefix tree of the prompts, each of which is computed at least once, and need be no
    more than once. None where only a server knows.
    """

    prompt_tokens: int | None
    computed_tokens: int | None
    tree_tokens: int | None


def sweep_prompts(examples: Iterable[dict], identity: str, prompt_template: str) -> list[Prompt]:
    """The prompts of all example records, in their order, each with its key under an identity digest.

    prompt_template: the model's, which decides whether it is asked with messages or with a text.
    """
    return [_prompt(example, identity, prompt_template) for example in examples]


def _prompt(example: dict, identity: str, prompt_template: str) -> Prompt:
    content = prompt_content(example, prompt_template)
    return Prompt(example["id"], example["size"], example["placement"], content, response_key(identity, content))


def ask_missing(
    prompts: Sequence[Prompt],
    journal: Journal,
    identity: dict,
    fit: Fit,
    make_engine: Callable[[], Engine],
    what: str,
    ask: bool = True,
) -> Outcome:
    """Ask the prompts that the journal has no answer to, and append each batch of answers as it comes.

    The engine is made only if something is missing, and its model is loaded only if something of that fits. A
    prompt that was answered before, under a larger context window, does not fit now either. One that gets no answer
    leaves nothing in the journal, which is why it is asked again whenever this runs again. If not `ask`, nothing is
    asked, and what the journal lacks has failed, as others have asked it. Raises `UserError` before anything is asked
    if prompts do not fit and `fit` says that this is one, or if no answer of full length does.
    """
    fit.check_answer(what)
    known = {p.key: journal[p.key].prompt_tokens for p in prompts if p.key in journal}
    overflow = {key: tokens for key, tokens in known.items() if not fit.holds(tokens)}
    missing = {prompt.key: prompt.content for prompt in prompts if prompt.key not in journal}
    if not missing:
        check_fits(prompts, overflow, fit, what)
        return Outcome(0, overflow, {})
    engine = make_engine()
    prepared = dict(zip(missing, engine.prepare(list(missing.values())), strict=True))
    overflow |= {key: prompt.tokens or 0 for key, prompt in prepared.items() if not fit.holds(prompt.tokens)}
    check_fits(prompts, overflow, fit, what)
    fitting = {key: prompt for key, prompt in prepared.items() if key not in overflow}
    failed = {key: prompt.tokens for key, prompt in fitting.items()}
    if not fitting or not ask:
        return Outcome(0, overflow, failed)
    # Before they are asked, after which the journal knows the identity.
    because = reason_to_ask(journal.identities, digest(identity), identity)
    with progress_bar(len(fitting), what, "prompts") as bar:
        for count in _ask(fitting, engine, journal, identity):
            bar.update(count)
    failed = {key: tokens for key, tokens in failed.items() if key not in journal}
    ids = [prompt.ids for prompt in fitting.values()]
    return Outcome(len(fitting), overflow, failed, because, work_done(ids, engine.computed_tokens))


def work_done(prompts: Sequence[Sequence[int] | None], computed_tokens: int | None) -> Work:
    """How much there was to compute of prompts that were all asked, and how much an engine says it has computed.

    prompts: the token ids of each, None where only a server knows them.
    """
    known = [ids for ids in prompts if ids is not None]
    if len(known) < len(prompts):
        return Work(None, computed_tokens, None)
    return Work(sum(map(len, known)), computed_tokens, tree_tokens(known))


def check_fits(prompts: Iterable[Prompt], overflow: Mapping[str, int], fit: Fit, what: str) -> None:
    """Raise `UserError` if prompts do not fit and `fit` says that this is an error; it names the longest's cell.

    overflow: prompt tokens by key, of those that do not fit; what: the model and the experiment.
    """
    if not overflow or fit.on_overflow != FAIL:
        return
    cells: dict[tuple[int, str], list[int]] = {}
    for prompt in prompts:
        if prompt.key in overflow:
            cells.setdefault((prompt.size, prompt.placement), []).append(overflow[prompt.key])
    (size, placement), tokens = max(cells.items(), key=lambda cell: max(cell[1]))
    others = sum(map(len, cells.values())) - len(tokens)
    elsewhere = f" (and {others} in other cells)" if others else ""
    room = f"of {fit.context_window} must hold {fit.room} of the answer too" if fit.room else f"is {fit.context_window}"
    raise UserError(
        f"{what}: {len(tokens)} prompts of size {size}, {placement}{elsewhere} do not fit: the "
        f"longest has {max(tokens)} tokens, and the context window {room}; nothing was asked. Choose smaller sizes, or "
        f"set the experiment's on_overflow to {LEAVE_OUT}"
    )


def _ask(prepared: Mapping[str, Prepared], engine: Engine, journal: Journal, identity: dict) -> Iterator[int]:
    """Yield the size of each batch once its answers are in the journal."""
    keys = list(prepared)
    for batch in engine.generate(list(prepared.values())):
        journal.append(identity, [(keys[index], response) for index, response in batch])
        yield len(batch)


def check_answered(outcome: Outcome) -> None:
    """Raise `UserError` if prompts got no answer: for a sweep that is to stop, lest fewer questions be counted."""
    if outcome.failed:
        raise UserError(
            f"{len(outcome.failed)} of {outcome.asked} prompts got no answer; the others are kept, run the same "
            f"command again or set the model's on_failure to {COUNT}"
        )


def sweep_responses(prompts: Iterable[Prompt], journal: Journal, outcome: Outcome) -> Iterator[dict]:
    """One record a prompt, in the order of the prompts; `response` is null where the prompt did not fit, or failed."""
    unanswered: dict[str, tuple[str, int | None]] = {key: (OVERFLOW, n) for key, n in outcome.overflow.items()}
    unanswered |= {key: (FAILED, tokens) for key, tokens in outcome.failed.items()}
    for prompt in prompts:
        name = {"id": prompt.id, "size": prompt.size, "placement": prompt.placement, "key": prompt.key}
        if prompt.key in unanswered:
            reason, tokens = unanswered[prompt.key]
            yield {**name, "response": None, "finish_reason": reason, "prompt_tokens": tokens, "response_tokens": 0}
        else:
            response = journal[prompt.key]
            yield {
                **name,
                "response": response.text,
                "finish_reason": response.finish_reason,
                "prompt_tokens": response.prompt_tokens,
                "response_tokens": response.response_tokens,
            }


def manifest(sweep: dict, prompts: Sequence[Prompt], journal: Journal, outcome: Outcome) -> dict:
    """What a sweep is a result of, and what the last run of it did.

    sweep: names and settings to repeat; asked: prompts asked now, also those that `failed`; reused: answers that the
    journal had; work: tokens of the prompts asked now, see `Work`; made_with: how many of the
    answers each software and device computed. Tokens are those of answers.
    """
    keys = {prompt.key for prompt in prompts}
    answers = [journal[key] for key in keys - outcome.overflow.keys() - outcome.failed.keys()]
    made_with = Counter(answer.made_with for answer in answers)
    left_out: dict[str, dict[str, None]] = {}
    for prompt in prompts:
        if prompt.key in outcome.overflow:
            left_out.setdefault(str(prompt.size), {})[prompt.id] = None
    return {
        **sweep,
        "prompts": len(prompts),
        "distinct_prompts": len(keys),
        "asked": outcome.asked,
        "asked_because": outcome.asked_because,
        "reused": len(answers) - outcome.answered,
        "overflow": len(outcome.overflow),
        "left_out": {size: list(ids) for size, ids in left_out.items()},
        "failed": len(outcome.failed),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "response_tokens": sum(answer.response_tokens for answer in answers),
        "work": asdict(outcome.work) if outcome.work else None,
        "made_with": dict(sorted(made_with.items())),
    }
