"""The engine first_item: no model; the answer is the first line of the context, as of a model that reads no further.

It is named like this module. Rules read `ENGINE` at each start, so slow packages are imported within functions.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated

from litm.base.schema import Answer, NotNegative, Run
from litm.engines.interface import EngineFacts, EngineSettings, Prepared
from litm.engines.local_models import LocalModel
from litm.prompting.prompt_format import as_messages
from litm.records.examples import Content
from litm.records.responses import STOP, Response

#: version: part of the key of an answer, as there is no model: raise it when the answers change.
ENGINE = EngineFacts(about="no model: the first line of the context that has a colon", version=1)


class Settings(LocalModel):
    """Keys of `engine: first_item`, which has no model."""

    mark: Annotated[str, Answer("as written, left out if it is `: `", is_sparse=True)] = ": "
    """The text before the answer in its line."""
    pause: Annotated[NotNegative, Run("the speed")] = 0
    """Seconds before the answers, to see how a slow model behaves."""


class Engine:
    """See `litm.engines.interface.Engine`."""

    def __init__(self, settings: EngineSettings[Settings]) -> None:
        self.mark, self.pause = settings.keys.mark, settings.keys.pause
        self.computed_tokens = 0
        self.is_loading = False

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt with the numbers of its words as token ids."""
        return [Prepared(content, range(len(_text(content).split()))) for content in contents]

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, in one batch."""
        time.sleep(self.pause)
        yield [(index, self._response(prompt)) for index, prompt in enumerate(prompts)]

    def _response(self, prompt: Prepared) -> Response:
        line = next(line for line in _text(prompt.content).splitlines() if self.mark in line)
        answer, tokens = line.partition(self.mark)[2], prompt.tokens or 0
        self.computed_tokens += tokens
        return Response(answer, STOP, tokens, len(answer.split()), made_with=f"first_item {ENGINE.version}")


def _text(content: Content) -> str:
    return "\n".join(message["content"] for message in as_messages(content))
