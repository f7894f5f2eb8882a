"""A sweep: all prompts of one model and one experiment, answered once and never again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from litm.engines import Engine
from litm.errors import UserError
from litm.finish_reasons import OVERFLOW
from litm.journal import Journal, JournalWriter, digest, response_key
from litm.progress import progress_bar


@dataclass(frozen=True)
class Prompt:
    """One prompt of a sweep and the key of its response."""

    id: str
    size: int
    placement: str
    text: str
    key: str


@dataclass(frozen=True)
class Outcome:
    """What came of asking: how many prompts were asked now, and prompt tokens of those that do not fit, by key."""

    asked: int
    overflow: Mapping[str, int]


def sweep_prompts(examples: Iterable[dict], identity: str) -> list[Prompt]:
    """The prompts of all example records, in their order, each with its key under an identity digest."""
    return [
        Prompt(e["id"], e["size"], e["placement"], e["prompt"], response_key(identity, e["prompt"])) for e in examples
    ]


def ask_missing(
    prompts: Sequence[Prompt], journal: Journal, identity: dict, make_engine: Callable[[], Engine], what: str
) -> Outcome:
    """Ask the prompts that the journal has no answer to, and append each batch of answers as it comes.

    The engine is made only if something is missing, and its model is loaded only if something of that fits.
    """
    missing = {prompt.key: prompt.text for prompt in prompts if prompt.key not in journal}
    if not missing:
        return Outcome(0, {})
    engine = make_engine()
    encoded = dict(zip(missing, engine.encode(list(missing.values())), strict=True))
    fitting, overflow = split_by_fit(encoded, engine)
    with journal.writer(digest(identity), identity) as writer, progress_bar(len(fitting), what, "prompts") as bar:
        for count in _ask(fitting, engine, writer):
            bar.update(count)
    return Outcome(len(fitting), overflow)


def split_by_fit(encoded: Mapping[str, list[int]], engine: Engine) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Prompts that leave room for an answer of full length in the context window, and lengths of those that do not."""
    window = engine.context_window
    room = float("inf") if window is None else window - engine.max_new_tokens
    fitting = {key: ids for key, ids in encoded.items() if len(ids) <= room}
    return fitting, {key: len(ids) for key, ids in encoded.items() if len(ids) > room}


def _ask(encoded: Mapping[str, list[int]], engine: Engine, writer: JournalWriter) -> Iterator[int]:
    """Yield the size of each batch once its answers are in the journal."""
    keys = list(encoded)
    unanswered = set(keys)
    for batch in engine.generate(list(encoded.values())):
        writer.append([(keys[index], response) for index, response in batch])
        unanswered.difference_update(keys[index] for index, _ in batch)
        yield len(batch)
    if unanswered:
        raise UserError(
            f"{len(unanswered)} of {len(keys)} prompts got no answer; the others are kept, run the same command again"
        )


def sweep_responses(prompts: Iterable[Prompt], journal: Journal, overflow: Mapping[str, int]) -> Iterator[dict]:
    """One record a prompt, in the order of the prompts; `response` is null where the prompt did not fit."""
    for prompt in prompts:
        name = {"id": prompt.id, "size": prompt.size, "placement": prompt.placement, "key": prompt.key}
        if prompt.key in overflow:
            tokens = {"prompt_tokens": overflow[prompt.key], "response_tokens": 0}
            yield {**name, "response": None, "finish_reason": OVERFLOW, **tokens}
        else:
            response = journal[prompt.key]
            yield {
                **name,
                "response": response.text,
                "finish_reason": response.finish_reason,
                "prompt_tokens": response.prompt_tokens,
                "response_tokens": response.response_tokens,
            }


def manifest(
    sweep: dict, identity: dict, prompts: Sequence[Prompt], outcome: Outcome, responses: Sequence[dict], versions: dict
) -> dict:
    """What a sweep is a result of, and what the last run of it did: prompts asked and reused, tokens, versions."""
    keys = {prompt.key for prompt in prompts}
    return {
        **sweep,
        "identity": digest(identity),
        "identity_fields": identity,
        "prompts": len(prompts),
        "distinct_prompts": len(keys),
        "asked": outcome.asked,
        "reused": len(keys) - outcome.asked - len(outcome.overflow),
        "overflow": len(outcome.overflow),
        "prompt_tokens": sum(response["prompt_tokens"] for response in responses),
        "response_tokens": sum(response["response_tokens"] for response in responses),
        "versions": versions,
    }
