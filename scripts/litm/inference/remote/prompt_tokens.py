"""Token ids of prompts for a server's model, as far as its tokenizer is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from litm.domain.example import Content
from litm.inference.engine import CHAT_ENDPOINT, Provider
from litm.prompting.chat import as_messages
from litm.prompting.formats import CHAT
from litm.prompting.render import encode_prompts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: The field of a request that changes what a chat template writes.
TEMPLATE_ARGUMENTS = "chat_template_kwargs"


@dataclass(frozen=True)
class ServedPrompts:
    """A server's tokenization of prompts. tokenizer: its model's; the other fields are as in `EngineSettings`."""

    tokenizer: "PreTrainedTokenizerBase"
    provider: Provider
    endpoint: str
    prompt_template: str
    template: str | None
    request: Mapping[str, Any]

    @property
    def are_exact(self) -> bool:
        """Whether `ids` are all tokens that the model reads, and not only those of the messages' texts."""
        if self.endpoint != CHAT_ENDPOINT:
            return True
        is_known = self.provider.template_is_public and bool(self.tokenizer.chat_template)
        return is_known and TEMPLATE_ARGUMENTS not in self.request

    def ids(self, contents: Sequence[Content]) -> list[list[int]]:
        """The token ids of each prompt as the model reads it, or of the messages' texts if the chat template is
        unknown.
        """
        if self.endpoint != CHAT_ENDPOINT:
            return encode_prompts(self.tokenizer, self.prompt_template, self.template, contents)
        if self.are_exact:
            return encode_prompts(self.tokenizer, CHAT, None, contents)
        return [self._text_ids(content) for content in contents]

    def _text_ids(self, content: Content) -> list[int]:
        text = "".join(message["content"] for message in as_messages(content))
        return cast(list[int], self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
