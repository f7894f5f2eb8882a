"""Sweep: ask a model all prompts whose answers its journal lacks, and what its manifest says about it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from litm.base.messages import UserError, note
from litm.base.progress import progress_bar, showing, waiting
from litm.base.store import digest
from litm.inference.engine import COUNT, Engine, Prepared
from litm.inference.identity import NEW_PROMPTS, Changes, equal_answers, equal_digests, reason_to_ask
from litm.inference.journal import Journal
from litm.inference.prefix_tree import tree_tokens
from litm.inference.present_answers import answers_elsewhere
from litm.inference.setup import NO_FILES, Fit, Prompt, SourceFiles, check_fits
from litm.models.devices import NumberFormat
from litm.records import FAILED, OVERFLOW, REFUSED, Content, Response, SweepResponse, is_served, served_name


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


@dataclass(frozen=True)
class AskedSweep:
    """A sweep that is asked.

    name: its model and experiment, for messages; identity: all that defines an answer, except the prompt; files: of the
    model, checked before they are read, and again before answers are kept, because they may be replaced meanwhile;
    stored_dtype: see `equal_form`; number_format: that of the computation with its reason, for messages.
    """

    name: str
    identity: dict
    files: SourceFiles = NO_FILES
    stored_dtype: str | None = None
    number_format: NumberFormat | None = None


def ask_missing(
    prompts: Sequence[Prompt],
    journal: Journal,
    sweep: AskedSweep,
    fit: Fit,
    make_engine: Callable[[], Engine],
    ask: bool = True,
    others: Sequence[Path] = (),
) -> Outcome:
    """Ask the prompts that the journal has no answer to, and append each batch of answers as it comes.

    The engine is created only if answers are missing, and loads its model only if a missing prompt fits. A prompt that
    was answered under a larger context window counts as overflow now. A failed prompt leaves nothing in the journal, so
    the next run asks it again. Without `ask` nothing is asked, and prompts without an answer count as failed. Raises
    `UserError`, before asking anything, if prompts do not fit and `on_overflow` is `fail`, or if a full-length answer
    cannot fit.

    others: the journals of other sweeps, read only if answers are missing.
    """
    fit.check_answer(sweep.name)
    equal = equal_digests(journal.identities, sweep.identity, sweep.stored_dtype)
    journal.adopt(equal_answers(((prompt.key, prompt.content) for prompt in prompts), equal, journal.responses))
    elsewhere = _adopt_others(_missing(prompts, journal), journal, sweep, others)
    known = {p.key: journal[p.key].prompt_tokens for p in prompts if p.key in journal}
    overflow = {key: tokens for key, tokens in known.items() if not fit.holds(tokens)}
    reused_elsewhere = len(elsewhere - overflow.keys())
    missing = _missing(prompts, journal)
    if not missing:
        check_fits(prompts, overflow, fit, sweep.name)
        return Outcome(0, overflow, {}, reused_elsewhere=reused_elsewhere)
    before = sweep.files.state()
    with waiting(f"{sweep.name}: reading the model's files, and its tokens of {len(missing):,} prompts"):
        sweep.files.check()
        engine = make_engine()
        prepared = dict(zip(missing, engine.prepare(list(missing.values())), strict=True))
    sweep.files.check_loaded(before)
    overflow |= {key: prompt.tokens or 0 for key, prompt in prepared.items() if not fit.holds(prompt.tokens)}
    check_fits(prompts, overflow, fit, sweep.name)
    fitting = {key: prompt for key, prompt in prepared.items() if key not in overflow}
    failed = {key: prompt.tokens for key, prompt in fitting.items()}
    if not fitting or not ask:
        return Outcome(0, overflow, failed, reused_elsewhere=reused_elsewhere)
    # Computed before asking, which adds the identity to the journal.
    because = NEW_PROMPTS if equal else reason_to_ask(journal.identities, digest(sweep.identity), sweep.identity)
    names = _served_names(sweep.identity, (journal[key] for key in known))
    ids = [prompt.ids for prompt in fitting.values()]
    note(f"{sweep.name}: {to_ask(ids)}" + (f", in {sweep.number_format}" if sweep.number_format else ""))
    with progress_bar(len(fitting), sweep.name, "prompts") as bar, showing(bar, lambda: state_of(engine)):
        try:
            for count in _ask(fitting, engine, journal, sweep, sweep.files.checks(before), names):
                bar.update(count)
        except (KeyboardInterrupt, SystemExit):
            bar.close()
            note(f"{sweep.name}: {bar.n:,} of {len(fitting):,} prompts were answered, and these answers are kept")
            raise
    failed = {key: tokens for key, tokens in failed.items() if key not in journal}
    too_long = _too_long_as_counted(fitting, journal, fit, sweep.name)
    overflow |= too_long
    check_fits(prompts, overflow, fit, sweep.name, "their answers are kept in the journal")
    work = work_done(ids, engine.computed_tokens)
    return Outcome(len(fitting), overflow, failed, because, work, reused_elsewhere, len(too_long))


def _missing(prompts: Iterable[Prompt], journal: Journal) -> dict[str, Content]:
    return {prompt.key: prompt.content for prompt in prompts if prompt.key not in journal}


def _adopt_others(
    missing: Mapping[str, Content], journal: Journal, sweep: AskedSweep, others: Sequence[Path]
) -> set[str]:
    """Copy answers of other sweeps to missing prompts into the journal; returns their keys.

    The journal is then complete without the others, and its answers do not change with them.
    """
    if not missing or not others:
        return set()
    found = answers_elsewhere(missing, sweep.identity, others, sweep.stored_dtype)
    if found.answers:
        journal.append(sweep.identity, list(found.answers.items()))
    if found.conflicting:
        note(
            f"{sweep.name}: {found.conflicting} prompts have different answers in journals of other sweeps (asked at "
            "the same time, or on other machines?), and that in the last of these by name counts"
        )
    return set(found.answers)


def _too_long_as_counted(asked: Iterable[str], journal: Journal, fit: Fit, what: str) -> dict[str, int]:
    """Tokens, by key, of the asked prompts that do not fit by the count that only the server's reply has."""
    counted = {key: journal[key].prompt_tokens for key in asked if key in journal}
    too_long = {key: tokens for key, tokens in counted.items() if not fit.holds(tokens)}
    if too_long:
        note(f"{what}: by the server's count, {len(too_long)} prompts do not fit, so their answers do not count")
    return too_long


def _ask(
    prepared: Mapping[str, Prepared],
    engine: Engine,
    journal: Journal,
    sweep: AskedSweep,
    checks: Iterator[None],
    names: set[str],
) -> Iterator[int]:
    """Yield the size of each batch once its answers are in the journal.

    checks: see `SourceFiles.checks`. names: the server's names for the model in answers of this sweep that the journal
    has. Another name in a reply is reported before the answer is kept, but is no error, as providers add versions to
    names of the same model.
    """
    keys = list(prepared)
    for batch in engine.generate(list(prepared.values())):
        next(checks)
        others = _served_names(sweep.identity, (response for _, response in batch)) - names
        if names and others:
            old, new = (", ".join(sorted(some)) for some in (names, others))
            note(f"{sweep.name}: the server now calls its model {new}, and in earlier answers of this sweep {old}")
        elif others and (strange := _strange(others, sweep.identity["source"]["api_model"])):
            note(
                f"{sweep.name}: {strange}; some servers answer to any name, so check that this one runs the right model"
            )
        names |= others
        journal.append(sweep.identity, [(keys[index], response) for index, response in batch])
        yield len(batch)


def to_ask(prompts: Sequence[Sequence[int] | None]) -> str:
    """The work to do, in words, from the token ids of prompts; None for prompts that only a server can tokenize."""
    tokens = work_done(prompts, None).prompt_tokens
    return f"{len(prompts):,} prompts to ask{'' if tokens is None else f', {tokens:,} tokens'}"


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


def _strange(names: Iterable[str], asked_for: str) -> str:
    """Names of the server's model without the name that was asked for, in words; "" for none."""
    strange = sorted(name for name in names if asked_for not in name)
    return f"the server calls its model {', '.join(strange)} instead of {asked_for}" if strange else ""


def check_answered(outcome: Outcome) -> None:
    """Raise `UserError` if prompts got no answer: a sweep that continued would count fewer questions."""
    if outcome.failed:
        raise UserError(
            f"{len(outcome.failed)} of {outcome.asked} prompts got no answer; the others are kept, run the same "
            f"command again or set the model's on_failure to {COUNT}"
        )


def sweep_responses(prompts: Iterable[Prompt], journal: Journal, outcome: Outcome) -> Iterator[SweepResponse]:
    """The responses in the order of the prompts; text None for a prompt that did not fit or failed."""
    unanswered: dict[str, tuple[str, int | None]] = {key: (OVERFLOW, n) for key, n in outcome.overflow.items()}
    unanswered |= {key: (FAILED, tokens) for key, tokens in outcome.failed.items()}
    for prompt in prompts:
        name = (prompt.id, prompt.size, prompt.placement, prompt.key)
        if prompt.key in unanswered:
            reason, tokens = unanswered[prompt.key]
            yield SweepResponse(*name, None, reason, tokens, 0, prompt_sha256=prompt.sha256)
        else:
            response = journal[prompt.key]
            counts = (response.prompt_tokens, response.response_tokens)
            yield SweepResponse(*name, response.text, response.finish_reason, *counts, prompt_sha256=prompt.sha256)
