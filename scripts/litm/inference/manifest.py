"""Manifest of a sweep: the identity of its results, and the work of its last run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from litm.base.store import digest
from litm.inference.identity_changes import Changes
from litm.inference.journal import Journal
from litm.inference.prefix_tree import tree_tokens
from litm.inference.prompt import Prompt


@dataclass(frozen=True)
class Outcome:
    """The outcome of asking: prompts asked in this run, and prompts without an answer.

    overflow: token counts, by key, of prompts that do not fit. failed: the same for prompts that got no answer, which
    also count as asked (None if only a server knows). asked_because: see `identity_changes.reason_to_ask`, None if
    nothing was asked; work: None if nothing was asked; reused_elsewhere: answers found only in other sweeps' journals;
    asked_too_long: asked prompts that do not fit by the server's count, which only its reply has.
    """

    asked: int
    overflow: Mapping[str, int]
    failed: Mapping[str, int | None]
    asked_because: Changes | str | None = None
    work: "Work | None" = None
    reused_elsewhere: int = 0
    asked_too_long: int = 0

    @property
    def answered(self) -> int:
        """Prompts that were asked in this run and got an answer that counts."""
        return max(0, self.asked - len(self.failed) - self.asked_too_long)


@dataclass(frozen=True)
class Work:
    """Tokens of the prompts that were asked: all, those that the engine computed, and the fewest possible.

    tree_tokens: nodes of the prefix tree of the prompts, which need to be computed once each. None if only a
    server knows.
    """

    prompt_tokens: int | None
    computed_tokens: int | None
    tree_tokens: int | None


def work_done(prompts: Sequence[Sequence[int] | None], computed_tokens: int | None) -> Work:
    """The tokens of prompts that were all asked, and the engine's count of computed ones.

    prompts: the token ids of each, None if only a server knows them.
    """
    known = [ids for ids in prompts if ids is not None]
    if len(known) < len(prompts):
        return Work(None, computed_tokens, None)
    return Work(sum(map(len, known)), computed_tokens, tree_tokens(known))


def sweep_fields(model: str, experiment: str, fields: dict) -> dict:
    """The names and the identity of a sweep, as its manifest has them; `fields` is all that defines its answers."""
    return {"model": model, "experiment": experiment, "identity": digest(fields), "identity_fields": fields}


def manifest(sweep: dict, prompts: Sequence[Prompt], journal: Journal, outcome: Outcome) -> dict:
    """The manifest: the identity of a sweep's results, and the work of its last run.

    sweep: names and settings to repeat; asked: prompts asked in this run, including `failed` ones; reused: answers from
    the journal or (`reused_elsewhere`) from journals of other sweeps alone; work: tokens of the prompts asked in this
    run, see `Work`; made_with: number of answers by software and device. Token counts are those of answers.
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
        "reused_elsewhere": outcome.reused_elsewhere,
        "overflow": len(outcome.overflow),
        "left_out": {size: list(ids) for size, ids in left_out.items()},
        "failed": len(outcome.failed),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "response_tokens": sum(answer.response_tokens for answer in answers),
        "work": asdict(outcome.work) if outcome.work else None,
        "made_with": dict(sorted(made_with.items())),
    }
