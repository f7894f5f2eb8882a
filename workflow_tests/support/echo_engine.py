"""An engine that answers each prompt with itself, and sweeps that it is asked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record_makers import example

from litm.base.groups import in_batches
from litm.base.store import digest
from litm.engines.interface import Engine, Prepared
from litm.inference.asked_sweep import SourceFiles
from litm.inference.kept_answers import Answers
from litm.inference.prompts import Fit, Prompt, sweep_prompts
from litm.inference.shards import Shard, prompts_of_shard
from litm.inference.sweep import Outcome, ask_missing, manifest, sweep_responses
from litm.prompting.prompt_format import RAW
from litm.records.examples import Example
from litm.records.responses import Response, SweepResponse

IDENTITY = {"model": "m"}
NO_FILES = SourceFiles()


@dataclass
class AskedSweep:
    """What is asked of a sweep, with any identity. See `litm.inference.asked_sweep.Sweep`."""

    name: str
    identity: dict
    files: SourceFiles = NO_FILES
    number_format = None
    is_measured = False


@dataclass
class EchoEngine:
    """Answers each prompt with itself, two a batch; one token a character.

    forgets: prompts without an answer; each: of how many prompts one has an answer; counts: whether tokens are known
    before the answer; happens: what comes before each batch, with its number from 0.
    """

    forgets: Sequence[str] = ()
    each: int = 1
    counts: bool = True
    made_with: str = "echo 1.0"
    happens: Callable[[int], object] = lambda number: None
    asked: list[str] = field(default_factory=list)
    computed_tokens: int | None = None
    is_loading: bool = False

    def prepare(self, contents):
        return [Prepared(text, [ord(one) for one in text] if self.counts else None) for text in contents]

    def generate(self, prompts):
        for number, some in enumerate(in_batches(enumerate(prompts), 2)):
            self.happens(number)
            texts = {index: one.content for index, one in some if index % self.each == 0}
            answered = {index: text for index, text in texts.items() if text not in self.forgets}
            self.asked += answered.values()
            yield [(n, Response(text.upper(), "stop", len(text), 1, self.made_with)) for n, text in answered.items()]


FIT = Fit(context_window=20, max_new_tokens=5)


def planned(*prompts: str | Example, identity: dict = IDENTITY, prompt_template: str = RAW) -> list[Prompt]:
    """The prompts of a sweep, by their texts or examples."""
    made = [example(id=f"q{n}", size=4, prompt=one) if isinstance(one, str) else one for n, one in enumerate(prompts)]
    return sweep_prompts(made, digest(identity), prompt_template)


@dataclass
class Asked:
    """What became of a sweep. asked: the texts that its engine was asked."""

    asked: list[str]
    outcome: Outcome
    responses: list[SweepResponse]
    manifest: dict

    @property
    def texts(self) -> list[str | None]:
        return [response.text for response in self.responses]

    def counts(self, *names: str) -> tuple:
        return tuple(self.manifest[name] for name in names)


def ask(
    study: Path,
    *prompts: str | Example,
    engine: Engine | Callable[[], Engine] | None = None,
    identity: dict = IDENTITY,
    fit: Fit = FIT,
    name: str = "m/e",
    files: SourceFiles = NO_FILES,
    part: Shard | None = None,
    folders: Iterable[Path] = (),
    prompt_template: str = RAW,
    only_gather: bool = False,
) -> Asked:
    """Run the sweep, or one shard of it, of a study in a folder. engine: one, or what makes one; folders: of answers,
    the study's by default.
    """
    engines: list[Any] = []

    def make_engine() -> Engine:
        engines.append(engine() if callable(engine) else engine or EchoEngine())
        return engines[-1]

    asked = planned(*prompts, identity=identity, prompt_template=prompt_template)
    if part:
        asked = prompts_of_shard(asked, part)
    sweep = AskedSweep(name, identity, files)
    model, _, experiment = name.partition("/")
    shard = part.name if part else ""
    with Answers([*folders] or [study / "answers"], model, experiment, study / "asking", shard) as answers:
        outcome = ask_missing(asked, answers, sweep, fit, make_engine, not only_gather)
        responses = list(sweep_responses(asked, answers, outcome))
        summary = manifest({"identity_fields": identity}, asked, answers, outcome)
    return Asked([text for one in engines for text in getattr(one, "asked", ())], outcome, responses, summary)
