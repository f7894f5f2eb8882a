"""The setup of a sweep: a model and its decoding, as every program that asks or counts prompts reads them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.store import state_with_links
from litm.domain.response import SweepResponse
from litm.inference.engine import COMPLETIONS_ENDPOINT, FIRST_LINE, EngineSettings
from litm.inference.engines import engine_facts
from litm.inference.first_line import cut_at_line_end
from litm.inference.fit import Fit
from litm.inference.identity import sweep_identity
from litm.inference.policies import LEAVE_OUT
from litm.inference.source_files import SourceFiles
from litm.models.file_digests import FileDigests
from litm.models.identity import check_identified, loaded_files, tokenizer_identity
from litm.models.number_format import NumberFormat
from litm.prompting.formats import CHAT
from litm.prompting.reasoning import Reasoning, generation_settings, with_answers
from litm.prompting.render import chat_identity, opens_reasoning
from litm.prompting.tokenizer import load_tokenizer


@dataclass(frozen=True)
class Asking:
    """A model and its settings for a sweep. source: the output of identify_model.py; settings: those of the model that
    change an answer; template: the text of its prompt template, if it has one; decoding: limit of new tokens, stop
    rule; number_format: that of `settings` with its reason, None where it is not known or none of this machine's.
    """

    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    template: str | None
    decoding: Mapping[str, Any]
    number_format: NumberFormat | None = None

    @property
    def reasoning(self) -> Reasoning:
        """How the text before the model's answer is treated."""
        return Reasoning.of(self.settings)

    @property
    def is_served(self) -> bool:
        """Whether a server runs the model, and makes the prompts."""
        return "base_url" in self.source

    @property
    def stored_dtype(self) -> str | None:
        """The number format of the stored weights, None if it is not known."""
        return self.source.get("dtype")

    @property
    def has_tokenizer(self) -> bool:
        """Whether the model has a tokenizer, here or on its server."""
        return engine_facts(self.settings["engine"]).has_model

    @property
    def runs_own_code(self) -> bool:
        """Whether code that comes with the model runs."""
        return self.settings.get("trust_remote_code", False)

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether prompts and answers have windows of their own."""
        return "answer_window" in self.source

    @property
    def ends_with_line(self) -> bool:
        """Whether answers end with their first line."""
        return self.decoding["stop"] == FIRST_LINE

    @property
    def sends_rendered_chats(self) -> bool:
        """Whether a server is sent chats as texts, which its tokenizer's chat template makes here."""
        return (self.settings.get("endpoint"), self.settings["prompt_template"]) == (COMPLETIONS_ENDPOINT, CHAT)

    def identity(self, tokenizer: str | None = None) -> dict:
        """The identity of the sweep: everything that defines an answer, except the prompt.

        tokenizer: the folder of a server model's tokenizer, which counts only for what is rendered here. Raises
        `UserError` if rendering needs the tokenizer and it has no chat template.
        """
        # Answers of servers are journalled whole; no rule ends them early.
        stops_early = self.ends_with_line and not self.is_served
        asked_with = generation_settings(self.settings, stops_early)
        template = self._chat_identity(tokenizer) if self.sends_rendered_chats else self.template
        return sweep_identity(self.source["identity"], asked_with, template, dict(self.decoding))

    def _chat_identity(self, tokenizer: str | None) -> dict:
        if not tokenizer:
            raise UserError("prompt_template is 'chat' for the endpoint 'completions': set the model's 'tokenizer'")
        return chat_identity(load_tokenizer(tokenizer))

    def manifest_fields(self) -> dict:
        """The manifest's entries on numbers: the format of the computation with its reason, and that of the stored
        weights of a GGUF file.
        """
        stored, number_format = self.source.get("weights"), self.number_format
        return {
            **({"weights": f"{stored}, read as {self.settings['dtype']}"} if stored else {}),
            **({"number_format": str(number_format)} if number_format else {}),
        }

    def source_files(self, model: str, tokenizer: str | None, digests: str | None) -> SourceFiles:
        """The checks that the model's files are those of the identity.

        tokenizer: the tokenizer's folder if it is not the model's; digests: the folder of `FileDigests`. For a server
        model the checks cover the tokenizer that renders its chats here.
        """
        known = FileDigests(digests, self.source.get("gguf") or self.source["location"])
        if not (self.sends_rendered_chats and tokenizer):
            return SourceFiles(
                lambda: check_identified(model, self.source, tokenizer, known.sha256),
                lambda: [state_with_links(file) for file in loaded_files(self.source, tokenizer)],
            )
        before = tokenizer_identity(Path(tokenizer), known.sha256)

        def check() -> None:
            if tokenizer_identity(Path(tokenizer), known.sha256) != before:
                raise UserError(
                    f"model {model}: its tokenizer {tokenizer} has changed since this job began, so its answers would "
                    "be kept as those to other prompts; run again"
                )

        return SourceFiles(check, lambda: state_with_links(Path(tokenizer)))

    def engine_settings(self, **run: Any) -> EngineSettings:
        """Settings for the engine. run: the fields that change no answer, such as device and tokenizer."""
        own = {key: value for key, value in self.settings.items() if key not in ("engine", "reasoning")}
        return EngineSettings(
            location=self.source["location"],
            revision=self.source["revision"],
            base_url=self.source.get("base_url"),
            api_key_variable=self.source.get("api_key_variable"),
            template=self.template,
            reasoning=self.reasoning,
            **own,
            **self.decoding,
            **run,
        )

    def fit(self, context_window: int | None, on_overflow: str = LEAVE_OUT) -> Fit:
        """The rule for prompts that fit. context_window: tokens; 0 or None takes the model's own window."""
        return Fit(
            context_window=context_window or self.source["context_window"],
            max_new_tokens=self.decoding["max_new_tokens"] + self.reasoning.tokens,
            on_overflow=on_overflow,
            is_shared=not self.is_encoder_decoder,
            answer_window=self.source.get("answer_window"),
        )

    def with_answers(self, responses: Iterable[SweepResponse], tokenizer: str | None) -> Iterator[SweepResponse]:
        """The responses, each with its answer after the reasoning where only the answer is scored.

        Responses of servers are cut by the stop rule. Without a tokenizer there are no tokens to count, only words.

        tokenizer: the tokenizer's folder if it is not the model's.
        """
        if not self.has_tokenizer:
            responses = (replace(one, prompt_tokens=None, response_tokens=None) for one in responses)
        if self.ends_with_line and self.is_served:
            # Older journals hold server answers that were cut before journalling, by the reasoning settings of that
            # time. They stay as they are; the missing part is unknown.
            responses = cut_at_line_end(responses, self.reasoning)
        opened = None
        if self.reasoning.is_separate and not self.is_served:
            own = load_tokenizer(tokenizer or self.source["location"], self.source["revision"], self.runs_own_code)
            opened = opens_reasoning(own, self.settings["prompt_template"], self.template, self.reasoning.tags[0])
        return with_answers(responses, self.reasoning, opened)
