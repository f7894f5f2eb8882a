"""The engine dummy: no model; the answer is some words of the prompt, chosen by its hash, to try a config in seconds.

Tokens are words. Nothing heavy is imported, and the answer depends on the prompt and the limit of new tokens alone.
"""

import hashlib
from collections.abc import Iterator, Sequence

from litm.base.groups import in_batches
from litm.engines.interface import EngineFacts, EngineSettings, Prepared
from litm.engines.local_models import LocalModel
from litm.prompting.prompt_format import PROMPT_FIELD, as_messages
from litm.records.examples import Content
from litm.records.responses import LENGTH, STOP, Response

#: version: raise it when the answers change.
ENGINE = EngineFacts(about="no model: words of the prompt, chosen by its hash, to try a config in seconds", version=1)
#: Words: length of the longest answer; a lower limit of new tokens cuts some answers.
LONGEST = 20
#: Prompts answered at a time.
BATCH = 64


class Settings(LocalModel):
    """Keys of `engine: dummy`, which has no model."""


class Engine:
    """Answers with words of the prompt. See `litm.engines.interface.Engine`."""

    def __init__(self, settings: EngineSettings[Settings]) -> None:
        self.settings = settings
        self.computed_tokens = 0
        self.is_loading = False

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt with the numbers of its words as token ids."""
        return [Prepared(content, range(len(self._words(content)))) for content in contents]

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts in their order, `BATCH` at a time."""
        for some in in_batches(enumerate(prompts), BATCH):
            yield [(index, self._response(prompt)) for index, prompt in some]

    def _response(self, prompt: Prepared) -> Response:
        words = self._words(prompt.content)
        self.computed_tokens += len(words)
        answer = answer_words(words)
        shown = answer[: self.settings.max_new_tokens]
        return Response(
            text=" ".join(shown),
            finish_reason=STOP if shown == answer else LENGTH,
            prompt_tokens=len(words),
            response_tokens=len(shown),
            made_with=f"dummy {ENGINE.version}",
        )

    def _words(self, content: Content) -> list[str]:
        """The words of a prompt in the model's template, or of a conversation's messages."""
        text = "\n".join(message["content"] for message in as_messages(content))
        template = self.settings.template
        return (text if template is None else template.replace(PROMPT_FIELD, text)).split()


def answer_words(words: Sequence[str]) -> Sequence[str]:
    """1 to `LONGEST` successive words; the SHA-256 of all words decides how many and which."""
    number = int.from_bytes(hashlib.sha256(" ".join(words).encode()).digest())
    number, wanted = divmod(number, LONGEST)
    start = number % max(1, len(words))
    return words[start : start + 1 + wanted]
