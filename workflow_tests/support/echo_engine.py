"""An engine that answers each prompt with itself, and sweeps that it is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from record_makers import example

from litm.base.formats import in_batches
from litm.base.store import digest
from litm.inference.engine import Prepared
from litm.inference.journal import Journal, Shard, other_journals, shard_journal
from litm.inference.setup import Fit, Prompt, SourceFiles, sweep_prompts
from litm.inference.sweep import Outcome, ask_missing, manifest, prompts_of_shard, sweep_responses
from litm.prompting.prompt_format import RAW
from litm.records import Example, Response, SweepResponse

IDENTITY = {"model": "m"}
NO_FILES = SourceFiles()


@dataclass
class AskedSweep:
    """What is asked of a sweep, with any identity. See `litm.inference.setup.Sweep`."""

    name: str
    identity: dict
    files: SourceFiles = NO_FILES
    number_format = None
    is_measured = False


class EchoEngine:
    """Answers each prompt with itself, two a batch; one token a character."""

    computed_tokens: int | None = None
    is_loading = False
    forgets: tuple[str, ...] = ()

    def __init__(self):
        self.asked: list[str] = []

    def prepare(self, contents):
        return [Prepared(text, [ord(character) for character in text]) for text in contents]

    def generate(self, prompts):
        for batch in in_batches(enumerate(prompt.content for prompt in prompts), 2):
            told = [(index, text) for index, text in batch if text not in self.forgets]
            self.asked += [text for _, text in told]
            yield [(index, Response(text.upper(), "stop", len(text), 1, "echo 1.0")) for index, text in told]


def examples(*prompts: str, size: int = 4) -> list[Example]:
    return [example(id=f"q{n}", size=size, prompt=text) for n, text in enumerate(prompts)]


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
    path: Path,
    *prompts: str | Example,
    engine: EchoEngine | Callable[[], EchoEngine] | None = None,
    identity: dict = IDENTITY,
    fit: Fit = FIT,
    name: str = "m/e",
    files: SourceFiles = NO_FILES,
    part: Shard | None = None,
    others: Sequence[Path] = (),
    prompt_template: str = RAW,
    only_gather: bool = False,
) -> Asked:
    """Run the sweep, or one shard of it, whose journal is at `path`. engine: one, or what makes one."""
    engines: list[EchoEngine] = []

    def make_engine() -> EchoEngine:
        engines.append(engine() if callable(engine) else engine or EchoEngine())
        return engines[-1]

    asked = planned(*prompts, identity=identity, prompt_template=prompt_template)
    own = path
    if part:
        asked, own = prompts_of_shard(asked, part), shard_journal(path, part)
    sweep = AskedSweep(name, identity, files)
    with Journal(own, other_journals(path, own)) as journal:
        outcome = ask_missing(asked, journal, sweep, fit, make_engine, not only_gather, others)
        responses = list(sweep_responses(asked, journal, outcome))
        summary = manifest({"identity_fields": identity}, asked, journal, outcome)
    return Asked([text for one in engines for text in one.asked], outcome, responses, summary)
