"""Sweep: which answers are there, asking a model for the others, and what the manifest says about it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litm.base.groups import grouped
from litm.base.messages import UserError, note
from litm.base.progress import progress_bar, showing, waiting
from litm.engines.interface import COUNT, FAIL, LEAVE_OUT, Engine, Prepared
from litm.inference.answer_identity import Changes, reason_to_ask
from litm.inference.asked_sweep import AskedSweep
from litm.inference.kept_answers import Answers, kept_answers
from litm.inference.prompts import Fit, Prompt, check_fits
from litm.prompting.prefix_tree import tree_tokens
from litm.records.bills import Usage
from litm.records.examples import Example
from litm.records.responses import FAILED, OVERFLOW, REFUSED, Asked, Response, SweepResponse, longest_measured
from litm.records.served import is_served, served_name


@dataclass(frozen=True)
class Outcome:
    """The outcome of asking: prompts asked in this run, and prompts without an answer."""

    asked: int
    """Number of prompts asked, with those in `failed`."""
    overflow: Mapping[str, int]
    """Token counts, by key, of prompts that do not fit."""
    failed: Mapping[str, int | None]
    """Token counts, by key, of prompts that got no answer; None if only a server knows."""
    asked_because: Changes | str | None = None
    """See `reason_to_ask`; None if nothing was asked."""
    work: Mapping[str, int | None] | None = None
    """See `work_of`, with the tokens that the engine computed; None if nothing was asked."""
    reused_elsewhere: int = 0
    """Number of kept answers that other sweeps have asked."""
    asked_too_long: int = 0
    """Number of asked prompts that do not fit, as only the server's reply says."""
    billed: tuple[Usage, ...] = ()
    """Sums of the usage of this run, by the way it is paid."""

    def after(self, first: "Outcome") -> "Outcome":
        """The outcome of both rounds, if this is the second: all that was asked and billed, and what is left."""
        return replace(
            self,
            asked=first.asked + self.asked,
            asked_because=first.asked_because or self.asked_because,
            work=first.work or self.work,
            reused_elsewhere=max(first.reused_elsewhere, self.reused_elsewhere),
            billed=(*first.billed, *self.billed),
        )


def work_of(prompts: Sequence[Sequence[int] | None]) -> dict[str, int | None]:
    """Tokens of prompts, and the fewest that must be computed, which are the nodes of their prefix tree.

    prompts: the token ids of each, None if only a server knows them, as it then does the numbers.
    """
    counted = [ids for ids in prompts if ids is not None]
    if len(counted) < len(prompts):
        return {"prompt_tokens": None, "tree_tokens": None}
    return {"prompt_tokens": sum(map(len, counted)), "tree_tokens": tree_tokens(counted)}


def manifest(sweep: dict, prompts: Sequence[Prompt], answers: Answers, outcome: Outcome) -> dict:
    """The manifest: the identity of a sweep's results, and the work of its last run.

    sweep: names and settings to repeat; asked: prompts asked in this run, including `failed` ones; reused: answers
    that were kept, `reused_elsewhere` by other sweeps; work: tokens of the prompts asked in this
    run, see `work_of`, with those that the engine computed; billed: sums of `Usage` by the way they are paid, if there
    are bills, and bill_not_recorded: answers without one, if others have it; made_with: number of answers by software
    and device. Token counts are those of answers.
    """
    keys = {prompt.key for prompt in prompts}
    answered = [answers[key] for key in keys - outcome.overflow.keys() - outcome.failed.keys()]
    made_with = Counter(answer.made_with for answer in answered)
    billed = [answer.billed for answer in answered if answer.billed]
    left_out = grouped(
        (prompt for prompt in prompts if prompt.key in outcome.overflow), lambda prompt: str(prompt.size)
    )
    return {
        **sweep,
        "prompts": len(prompts),
        "distinct_prompts": len(keys),
        "asked": outcome.asked,
        "asked_because": outcome.asked_because,
        "reused": len(answered) - max(0, outcome.asked - len(outcome.failed) - outcome.asked_too_long),
        "reused_elsewhere": outcome.reused_elsewhere,
        "overflow": len(outcome.overflow),
        "left_out": {size: list(dict.fromkeys(prompt.id for prompt in group)) for size, group in left_out.items()},
        "failed": len(outcome.failed),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answered),
        "response_tokens": sum(answer.response_tokens for answer in answered),
        **({"billed": [usage.to_json() for usage in Usage.sums(billed)]} if billed else {}),
        **({"bill_not_recorded": len(answered) - len(billed)} if len(billed) not in (0, len(answered)) else {}),
        "work": outcome.work,
        "made_with": dict(sorted(made_with.items())),
    }


def asked_of(prompts: Iterable[Prompt]) -> dict[str, Asked]:
    """The content of each prompt by the key of its answer."""
    return {prompt.key: prompt.asked for prompt in prompts}


def present_answers(
    examples: Iterable[Example], sweep: AskedSweep, folders: Iterable[str | Path]
) -> tuple[list[Prompt], dict[str, Response]]:
    """The prompts of a sweep, and by key the answers that it would use again; changes no file.

    folders: of answers.
    """
    prompts = sweep.prompts(examples)
    return prompts, kept_answers(folders, sweep.identity, asked_of(prompts)).responses


def ask_missing(
    prompts: Sequence[Prompt],
    answers: Answers,
    sweep: AskedSweep,
    fit: Fit,
    make_engine: Callable[[], Engine],
    ask: bool = True,
) -> Outcome:
    """Ask the prompts that have no kept answer, and keep each batch of answers as it comes.

    The engine is created only if answers are missing, and loads its model only if a missing prompt fits. A prompt that
    was answered under a larger context window counts as overflow now. Nothing is kept of a failed prompt, so the next
    run asks it again. Without `ask` nothing is asked, and prompts without an answer count as failed. Raises
    `UserError`, before asking anything, if prompts do not fit and `on_overflow` is `fail`, or if a full-length answer
    cannot fit. Batches that an earlier run submitted are waited for in any case.
    """
    fit.check_answer(sweep.name)
    answers.find(sweep.identity, asked_of(prompts))
    answered_before = [p.key for p in prompts if p.key in answers]
    overflow = too_long(answered_before, answers, fit)
    reused_elsewhere = len(answers.others - overflow.keys())
    missing = {prompt.key: prompt for prompt in prompts if prompt.key not in answers}
    if not missing:
        answers.tell_batches(sweep.name)
        check_fits(prompts, overflow, fit, sweep.name)
        return Outcome(0, overflow, {}, reused_elsewhere=reused_elsewhere)
    before = sweep.files.state()
    with waiting(f"{sweep.name}: reading the model's files, and its tokens of {len(missing):,} prompts"):
        sweep.files.check()
        engine = make_engine()
        contents = [prompt.content for prompt in missing.values()]
        accepted = [[prompt.answers or () for prompt in missing.values()]] if sweep.is_measured else []
        prepared = engine.prepare(contents, *accepted)
        by_key = dict(zip(missing, prepared, strict=True))
    sweep.files.check_loaded(before)
    fitting = {key: prompt for key, prompt in by_key.items() if fit.holds(prompt.tokens, prompt.answer_tokens)}
    overflow |= {key: prompt.tokens or 0 for key, prompt in by_key.items() if key not in fitting}
    check_fits(prompts, overflow, fit, sweep.name)
    failed = {key: prompt.tokens for key, prompt in fitting.items()}
    if not fitting or not ask:
        return Outcome(0, overflow, failed, reused_elsewhere=reused_elsewhere)
    answers.check_place(sweep.identity)
    # Computed before asking, which adds the identity.
    because = reason_to_ask(answers.identities(), sweep.identity)
    names = _served_names(sweep.identity, (answers[key] for key in answered_before))
    billed: list[Usage] = []
    refused: dict[str, Response] = {}
    work = work_of([prompt.ids for prompt in fitting.values()])
    of_tokens = "" if work["prompt_tokens"] is None else f", {work['prompt_tokens']:,} tokens"
    in_format = f", in {sweep.number_format}" if sweep.number_format else ""
    what = "measure" if sweep.is_measured else "ask"
    note(f"{sweep.name}: {len(fitting):,} prompts to {what}{of_tokens}{in_format}")
    with progress_bar(len(fitting), sweep.name, "prompts") as bar, showing(bar, lambda: state_of(engine)):
        try:
            for number, (identity, batch) in enumerate(new_answers(engine, sweep, answers, fitting)):
                # For each batch: weights on a CPU may be read from their file at any time.
                sweep.files.check() if number else sweep.files.check_loaded(before)
                answered = [(key, response) for key, response in batch if response.finish_reason != OVERFLOW]
                if identity == sweep.identity:
                    names |= _note_names(sweep, names, [response for _, response in answered])
                if answered:
                    answers.append(identity, answered)
                billed += [response.billed for _, response in answered if response.billed]
                bar.update(sum(key in fitting for key, _ in batch))
                refused |= {key: reply for key, reply in batch if reply.finish_reason == OVERFLOW and key in fitting}
        except (KeyboardInterrupt, SystemExit):
            bar.close()
            note(f"{sweep.name}: {bar.n:,} of {len(fitting):,} prompts were answered, and these answers are kept")
            answers.tell_batches(sweep.name)
            raise
    if refused and fit.on_overflow == FAIL:
        raise UserError(
            f"{_refused_in_words(sweep, refused)}; what was answered is kept. Choose smaller sizes, or set the "
            f"experiment's on_overflow to {LEAVE_OUT}"
        )
    if len(refused) == len(fitting) and not answered_before:
        raise UserError(
            f"{_refused_in_words(sweep, refused)}: all that were sent. Lower the limit of an answer ('max_new_tokens', "
            "or the limit in the model's 'request') if it leaves no room for them, or choose smaller sizes"
        )
    if refused:
        note(f"{_refused_in_words(sweep, refused)}, so their questions are left out")
    failed = {key: tokens for key, tokens in failed.items() if key not in answers and key not in refused}
    # By the count that only the server's reply has.
    counted = too_long([key for key in fitting if key in answers], answers, fit)
    if counted:
        note(f"{sweep.name}: by the server's count, {len(counted)} prompts do not fit, so their answers do not count")
    overflow |= counted | {key: response.prompt_tokens for key, response in refused.items()}
    check_fits(prompts, overflow, fit, sweep.name, "their answers are kept")
    work["computed_tokens"] = engine.computed_tokens
    return Outcome(
        len(fitting), overflow, failed, because, work, reused_elsewhere, len(counted) + len(refused), (*billed,)
    )


def new_answers(
    engine: Any, sweep: AskedSweep, answers: Answers, prompts: Mapping[str, Prepared]
) -> Iterator[tuple[dict, list[tuple[str, Response]]]]:
    """Answers to prompts, by their keys, as they come, each time with their identity, which is another one if an
    earlier run submitted them in a batch.
    """
    submits = not sweep.is_measured and hasattr(engine, "in_batches") and engine.settings.keys.batch
    if (out := answers.batches(getattr(engine, "url", None))) or submits:
        yield from engine.in_batches(sweep.name, answers, out, sweep.identity, prompts, submits)
    keys = [] if submits else [key for key in prompts if key not in answers]
    compute = engine.measure if sweep.is_measured else engine.generate
    for batch in compute([prompts[key] for key in keys]) if keys else ():
        yield sweep.identity, [(keys[index], response) for index, response in batch]


def too_long(keys: Iterable[str], answers: Answers, fit: Fit) -> dict[str, int]:
    """The prompt tokens of kept answers whose prompts do not fit, by key."""
    responses = {key: answers[key] for key in keys}
    long = (key for key, reply in responses.items() if not fit.holds(reply.prompt_tokens, longest_measured(reply)))
    return {key: responses[key].prompt_tokens for key in long}


def _refused_in_words(sweep: AskedSweep, refused: Mapping[str, Response]) -> str:
    said = next(iter(refused.values())).text
    return f"{sweep.name}: the server refused {len(refused)} prompts as too long (the first: {said})"


def state_of(engine: Engine) -> str:
    """What an engine does, in words: it loads, or the prompt tokens that it has computed; "" if only a server knows."""
    if engine.is_loading:
        return "loading the model"
    return "" if engine.computed_tokens is None else f"{engine.computed_tokens:,} tokens read"


def _served_names(identity: dict, responses: Iterable[Response]) -> set[str]:
    """The server's names for the model in these responses; a refusal may come from a filter that gives none."""
    if not is_served(identity):
        return set()
    return {served_name(response.made_with) for response in responses if response.finish_reason != REFUSED}


def _note_names(sweep: AskedSweep, names: set[str], responses: Sequence[Response]) -> set[str]:
    """The server's names for the model in new answers that are not among `names`, those in earlier answers.

    They are reported before the answers are kept, but are no error, as providers add versions to names of the same
    model.
    """
    others = _served_names(sweep.identity, responses) - names
    if names and others:
        old, new = (", ".join(sorted(group)) for group in (names, others))
        note(f"{sweep.name}: the server now calls its model {new}, and in earlier answers of this sweep {old}")
    elif others:
        asked_for = sweep.identity["source"]["api_model"]
        if strange := sorted(name for name in others if asked_for not in name):
            note(
                f"{sweep.name}: the server calls its model {', '.join(strange)} instead of {asked_for}; some servers "
                "answer to any name, so check that this one runs the right model"
            )
    return others


def check_answered(outcome: Outcome) -> None:
    """Raise `UserError` if prompts got no answer: a sweep that continued would count fewer questions."""
    if outcome.failed:
        raise UserError(
            f"{len(outcome.failed)} of {outcome.asked} prompts got no answer; the others are kept, run the same "
            f"command again or set the model's on_failure to {COUNT}"
        )


def sweep_responses(prompts: Iterable[Prompt], answers: Answers, outcome: Outcome) -> Iterator[SweepResponse]:
    """The responses in the order of the prompts; text None for a prompt that did not fit or failed."""
    unanswered: dict[str, tuple[str, int | None]] = {key: (OVERFLOW, n) for key, n in outcome.overflow.items()}
    unanswered |= {key: (FAILED, tokens) for key, tokens in outcome.failed.items()}
    for prompt in prompts:
        name = (prompt.id, prompt.size, prompt.placement, prompt.key)
        if prompt.key in unanswered:
            reason, tokens = unanswered[prompt.key]
            yield SweepResponse(*name, None, reason, tokens, 0, prompt_sha256=prompt.sha256)
        else:
            response = answers[prompt.key]
            counts = (response.prompt_tokens, response.response_tokens)
            text, reason, billed = response.text, response.finish_reason, response.billed
            yield SweepResponse(*name, text, reason, *counts, prompt_sha256=prompt.sha256, billed=billed)
