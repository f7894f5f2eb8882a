"""The manifest of a sweep: what it is a result of, and what its last run did."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from litm.inference.identity_changes import Changes
from litm.inference.journal import Journal
from litm.inference.prefix_tree import tree_tokens
from litm.inference.prompt import Prompt


@dataclass(frozen=True)
class Outcome:
    """What came of asking: how many prompts were asked now, and those without an answer.

    overflow, failed: prompt tokens by key, of those that do not fit and of those that were asked in vain, which are
    among the asked (None where only a server knows); asked_because: see `identity_changes.reason_to_ask`, None if none
    were asked; work: None if none were; reused_elsewhere: answers that only journals of other sweeps had.
    """

    asked: int
    overflow: Mapping[str, int]
    failed: Mapping[str, int | None]
    asked_because: Changes | str | None = None
    work: "Work | None" = None
    reused_elsewhere: int = 0

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


def work_done(prompts: Sequence[Sequence[int] | None], computed_tokens: int | None) -> Work:
    """How much there was to compute of prompts that were all asked, and how much an engine says it has computed.

    prompts: the token ids of each, None where only a server knows them.
    """
    known = [ids for ids in prompts if ids is not None]
    if len(known) < len(prompts):
        return Work(None, computed_tokens, None)
    return Work(sum(map(len, known)), computed_tokens, tree_tokens(known))


def manifest(sweep: dict, prompts: Sequence[Prompt], journal: Journal, outcome: Outcome) -> dict:
    """What a sweep is a result of, and what the last run of it did.

    sweep: names and settings to repeat; asked: prompts asked now, also those that `failed`; reused: answers that the
    journal had, or (`reused_elsewhere`) journals of other sweeps alone; work: tokens of the prompts asked now, see
    `Work`; made_with: how many of the answers each software and device computed. Tokens are those of answers.
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
