"""A sweep as it is asked: its engine's settings, its sources and the identity of its answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from litm.base.json_files import read_json
from litm.base.messages import UserError
from litm.base.store import digest, state_with_links
from litm.engines.interface import COMPLETIONS_ENDPOINT, FIRST_LINE, LEAVE_OUT, EngineSettings
from litm.engines.registry import engine_facts, settings_class
from litm.engines.stopping import cut_at_line_end
from litm.inference.answer_identity import sweep_identity
from litm.inference.prompts import Fit, Prompt, sweep_prompts
from litm.models.devices import AUTO, NumberFormat, format_here
from litm.models.identity import FileDigests, check_identified, loaded_files, tokenizer_identity
from litm.prompting.prompt_format import (
    CHAT,
    PromptFormat,
    chat_identity,
    load_tokenizer,
    model_tokenizer,
    read_prompt_template,
)
from litm.prompting.reasoning import Reasoning, generation_settings, with_answers
from litm.records.examples import Content, Example
from litm.records.measures import MEASURE
from litm.records.responses import SweepResponse, response_key
from litm.records.tokens import answer_limit

#: What engines are set to where nothing is generated.
NO_DECODING: Mapping[str, Any] = {"max_new_tokens": 0, "stop": "end_token"}


@dataclass(frozen=True)
class SourceFiles:
    """Checks of a model's files; the default is for a model without files."""

    check: Callable[[], None] = lambda: None
    """Raises `UserError` if their contents are not those of the model's identity."""
    state: Callable[[], Any] = lambda: None
    """Their state and that of the links on the way to them; it differs after a file or link was replaced and put
    back.
    """

    def check_loaded(self, before: Any) -> None:
        """Raise `UserError` if files were replaced since they had the state `before`, even if they were put back: the
        model may have been loaded in between.
        """
        self.check()
        if self.state() != before:
            raise UserError(
                "files of the model, or a link to them, were replaced while it was loaded, and have their contents of "
                "before again: no answer was kept; run the same command again"
            )


@dataclass(frozen=True)
class AskedSweep:
    """A model, its settings, and an experiment that it is asked."""

    source: Mapping[str, Any]
    """The output of identify_model.py."""
    settings: Mapping[str, Any]
    """Settings of the model that change an answer."""
    template: str | None
    """The text of its prompt template, if it has one."""
    decoding: Mapping[str, Any]
    """Limit of new tokens and stop rule, or what is measured."""
    number_format: NumberFormat | None = None
    """The format in `settings` with its reason, None where it is not known or none of this machine's."""
    tokenizer: str | None = None
    """Folder of the tokenizer if it is not the model's."""
    digests: str | None = None
    """The folder of `FileDigests`."""
    model: str = ""
    """The model's name."""
    experiment: str = ""
    """The experiment's name."""

    @property
    def name(self) -> str:
        """The sweep's name in messages."""
        return f"{self.model}/{self.experiment}"

    @property
    def measured_experiment(self) -> str:
        """The experiment, with what is measured if that is not answers: how files of answers name it."""
        return f"{self.experiment}.{self.decoding[MEASURE]}" if self.is_measured else self.experiment

    @property
    def is_measured(self) -> bool:
        """Whether the log-probability of accepted answers is measured, and nothing is generated."""
        return MEASURE in self.decoding

    @property
    def ends_at_line(self) -> bool:
        """Whether an answer ends after its first line."""
        return self.decoding.get("stop") == FIRST_LINE

    @property
    def reasoning(self) -> Reasoning:
        """How the text before the model's answer is treated."""
        return Reasoning.from_settings(self.settings)

    @property
    def is_served(self) -> bool:
        """Whether a server runs the model, and makes the prompts."""
        return "base_url" in self.source

    @property
    def has_tokenizer(self) -> bool:
        """Whether the model has a tokenizer, here or on its server."""
        return engine_facts(self.settings["engine"]).has_model

    @property
    def sends_rendered_chats(self) -> bool:
        """Whether a server is sent chats as texts, which its tokenizer's chat template makes here."""
        return (self.settings.get("endpoint"), self.settings["prompt_template"]) == (COMPLETIONS_ENDPOINT, CHAT)

    @cached_property
    def identity(self) -> dict:
        """The identity of the sweep: everything that defines an answer, except the prompt.

        The tokenizer of a server's model counts only for what is rendered here. Raises `UserError` if rendering needs
        the tokenizer and it has no chat template.
        """
        # Answers of servers are kept whole; no rule ends them early.
        asked_with = generation_settings(self.settings, self.ends_at_line and not self.is_served)
        template: Any = self.template
        if self.sends_rendered_chats:
            if not self.tokenizer:
                raise UserError("prompt_template is 'chat' for the endpoint 'completions': set the model's 'tokenizer'")
            # Before the files are read.
            _ = self.files
            template = chat_identity(load_tokenizer(self.tokenizer))
        return sweep_identity(self.source["identity"], asked_with, template, dict(self.decoding))

    @cached_property
    def files(self) -> SourceFiles:
        """The checks that the model's files are those of the identity; for a server's model, those of the tokenizer
        that renders its chats here.
        """
        file_digests = FileDigests(self.digests, self.source.get("gguf") or self.source["location"])
        if not (self.sends_rendered_chats and self.tokenizer):
            return SourceFiles(
                lambda: check_identified(self.model, self.source, self.tokenizer, file_digests.sha256),
                lambda: [state_with_links(file) for file in loaded_files(self.source, self.tokenizer)],
            )
        tokenizer = Path(self.tokenizer)
        before = tokenizer_identity(tokenizer, file_digests.sha256)

        def check() -> None:
            if tokenizer_identity(tokenizer, file_digests.sha256) != before:
                raise UserError(
                    f"model {self.model}: its tokenizer {tokenizer} has changed since this job began, so its answers "
                    "would be kept as those to other prompts; run again"
                )

        return SourceFiles(check, lambda: state_with_links(tokenizer))

    def prompts(self, examples: Iterable[Example]) -> list[Prompt]:
        """The prompts of examples, in their order."""
        return sweep_prompts(examples, digest(self.identity), self.settings["prompt_template"], self.is_measured)

    def followed_up(self, prompt: Prompt, reminder: str) -> Prompt:
        """The prompt with a reminder at its end, of the last message of a chat, and its own key."""
        content = prompt.content
        if isinstance(content, str):
            longer: Content = content + reminder
        else:
            longer = [*content[:-1], {**content[-1], "content": content[-1]["content"] + reminder}]
        return replace(prompt, content=longer, key=response_key(digest(self.identity), longer))

    def names(self) -> dict:
        """What the manifest says of the sweep: names, identity, and numbers: the format of the computation with its
        reason, and that of the stored weights of a GGUF file.
        """
        stored, number_format = self.source.get("weights"), self.number_format
        return {
            **sweep_fields(self.model, self.experiment, self.identity),
            **({"weights": f"{stored}, read as {self.settings['dtype']}"} if stored else {}),
            **({"number_format": str(number_format)} if number_format else {}),
        }

    def engine_settings(
        self, *, gpus: int = 0, share_prefixes: bool = True, spent: float = 0.0, **run: Any
    ) -> EngineSettings[Any]:
        """Settings for the engine, see `EngineSettings`. run: the keys of the model's entry that change no answer."""
        return EngineSettings(
            location=self.source["location"],
            revision=self.source["revision"],
            tokenizer=self.tokenizer,
            prompt_template=self.settings["prompt_template"],
            template=self.template,
            **(NO_DECODING if self.is_measured else self.decoding),
            keys=settings_class(self.settings["engine"]).from_settings({**self.settings, **run}),
            reasoning=self.reasoning,
            gpus=gpus,
            share_prefixes=share_prefixes,
            base_url=self.source.get("base_url"),
            api_key_variable=self.source.get("api_key_variable"),
            spent=spent,
        )

    def fit(self, context_window: int | None, on_overflow: str = LEAVE_OUT) -> Fit:
        """The rule for prompts that fit. context_window: tokens; 0 or None takes the model's own window."""
        limit = self.decoding.get("max_new_tokens", 0)
        return Fit(
            context_window=context_window or self.source["context_window"],
            max_new_tokens=answer_limit(self.settings.get("request"), limit)[0] + self.reasoning.tokens,
            on_overflow=on_overflow,
            is_shared="answer_window" not in self.source,
            answer_window=self.source.get("answer_window"),
        )

    def form(self) -> PromptFormat:
        """How prompts are written for a model that runs here; errors as in `model_tokenizer`."""
        location, own_code = self.tokenizer or self.source["location"], self.settings.get("trust_remote_code", False)
        name = self.settings["prompt_template"]
        tokenizer = model_tokenizer(location, self.source["revision"], name, self.reasoning, own_code)
        return PromptFormat(tokenizer, name, self.template)

    def with_answers(self, responses: Iterable[SweepResponse]) -> Iterator[SweepResponse]:
        """The responses, each with its answer after the reasoning where only the answer is scored.

        Responses of servers are cut by the stop rule. Without a tokenizer there are no tokens to count, only words.
        """
        if not self.has_tokenizer:
            responses = (replace(response, prompt_tokens=None, response_tokens=None) for response in responses)
        if self.ends_at_line and self.is_served:
            responses = cut_at_line_end(responses, self.reasoning)
        opened = None
        if self.reasoning.is_separate and not self.is_served:
            opened = self.form().opens_reasoning(self.reasoning.tags[0])
        return with_answers(responses, self.reasoning, opened)


def sweep_fields(model: str, experiment: str, fields: dict) -> dict:
    """The names and the identity of a sweep, as its manifest has them; `fields` is all that defines its answers."""
    return {"model": model, "experiment": experiment, "identity": digest(fields), "identity_fields": fields}


#: Source of a model that was never asked and that the config describes fully.
UNKNOWN = {"location": None, "revision": None, "context_window": None, "identity": None}


@dataclass(frozen=True)
class SweepOptions:
    """Options that name a sweep and its examples, and say how its model is asked.

    model: the model's name
    experiment: the experiment's name
    settings: JSON: settings that change an answer
    decoding: JSON with max_new_tokens and stop, or with what is measured
    tokenizer: a tokenizer file or a model folder, if not the model's own
    template: the file of a named prompt template
    run: JSON: how the model is run; changes no answer
    """

    model: str
    experiment: str
    settings: dict
    decoding: dict
    examples: tuple[str, ...]
    tokenizer: str | None = None
    template: str | None = None
    run: dict | None = None

    def sweep(self, source_file: str | None, digests: str | None = None, engine: str | None = None) -> AskedSweep:
        """The sweep, in the number format of this machine; its source is `UNKNOWN` without a file.

        source_file: what identify_model.py wrote; engine: another than the model's own. Raises `UserError` as
        `read_prompt_template`.
        """
        template = read_prompt_template(self.template) if self.template else None
        source = read_json(source_file) if source_file else UNKNOWN
        settings = {**self.settings, **({"engine": engine} if engine else {})}
        number_format = number_format_of(settings, source, (self.run or {}).get("device", "auto"))
        if number_format:
            settings["dtype"] = number_format.name
        fixed = (source, settings, template, self.decoding, number_format)
        return AskedSweep(*fixed, self.tokenizer, digests, self.model, self.experiment)


def number_format_of(settings: Mapping[str, Any], source: Mapping[str, Any], device: str) -> NumberFormat | None:
    """The number format of a model's computation here; None for a model on a server, an engine without a model, and
    weights that are stored quantised, whose format their files set.
    """
    facts = engine_facts(settings["engine"])
    is_set_by_files = settings.get("dtype") == AUTO and source.get("is_quantized", False)
    if facts.provider or not facts.has_model or is_set_by_files:
        return None
    return format_here(settings["dtype"], device, needs_range="answer_window" in source)
