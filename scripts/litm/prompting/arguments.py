"""Options of programs that render and tokenize prompts in a model's format."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litm.base.records import read_json
from litm.prompting.reasoning import Reasoning
from litm.prompting.render import read_prompt_template
from litm.prompting.tokenizer import model_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class PromptFormat:
    """A tokenizer and the format of prompts: `name` is raw, chat or a template's, whose text is `template`."""

    tokenizer: "PreTrainedTokenizerBase"
    name: str
    template: str | None


@dataclass(frozen=True)
class FormatOptions:
    """Options that name a tokenizer and the format of prompts.

    prompt_template: raw, chat, or the name of a template
    tokenizer: a tokenizer file or a model folder
    source: output of identify_model.py; instead of --tokenizer
    reasoning: JSON: how the tokenizer is used
    template: the file of a named template
    """

    prompt_template: str
    tokenizer: str | None = None
    source: str | None = None
    reasoning: dict | None = None
    template: str | None = None

    def read(self) -> PromptFormat:
        """The format; errors as in `model_tokenizer` and `read_prompt_template`."""
        source = read_json(self.source) if self.source else {"location": self.tokenizer, "revision": None}
        settings = self.reasoning or {}
        own_code, place = settings.get("trust_remote_code", False), (str(source["location"]), source["revision"])
        tokenizer = model_tokenizer(*place, self.prompt_template, Reasoning.of(settings), own_code)
        template = read_prompt_template(self.template) if self.template else None
        return PromptFormat(tokenizer, self.prompt_template, template)
