"""The engine fake: no model; answers are made up so that a curve has the shape of a U, to show what a check looks like.

A seeded rule finds the answer in the prompt and gives it with a chance that is high at the beginning of the context,
lower at its end and lowest in its middle; otherwise it gives what another item says. It reads key-value pairs and the
made-up gazetteer alone. The prompt alone decides, and nothing can be learnt from these answers about any model.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from litm.base.groups import in_batches
from litm.engines.interface import EngineFacts, EngineSettings, Prepared
from litm.engines.local_models import LocalModel
from litm.prompting.prompt_format import as_messages
from litm.records.examples import Content
from litm.records.responses import LENGTH, STOP, Response

#: version: raise it when the answers change.
ENGINE = EngineFacts(
    about="no model: made-up answers with a curve like a U, to show what a check looks like", version=1
)
#: Chance of a right answer at the beginning, in the middle and at the end of the context, and without other items.
FIRST, MIDDLE, LAST, ALONE = 0.96, 0.42, 0.84, 0.98
#: Part of all prompts that is answered otherwise for another seed.
SEED = "made up 1"
#: Questions, as regular expressions for what is asked for, and for all items with what each says.
KEY, PAIR = re.compile(r'^Key: "([^"\n]+)"$', re.MULTILINE), re.compile(r'"([^"\n]+)": "([^"\n]+)"')
OFFICE, ENTRY = re.compile(r"^Question: who is (.+?)\??$", re.MULTILINE), re.compile(r"(The [^.\n]+?) is ([^.\n]+)\.")
#: The answer where the context does not tell it.
NOT_FOUND = "I do not know."
#: Prompts answered at a time.
BATCH = 64


class Settings(LocalModel):
    """Keys of `engine: fake`, which has no model."""


class Engine:
    """Answers with what an item says. See `litm.engines.interface.Engine`."""

    def __init__(self, settings: EngineSettings[Settings]) -> None:
        self.settings = settings
        self.computed_tokens = 0
        self.is_loading = False

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt with the numbers of its words as token ids."""
        return [Prepared(content, range(len(text_of(content).split()))) for content in contents]

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts in their order, `BATCH` at a time."""
        for some in in_batches(enumerate(prompts), BATCH):
            yield [(index, self._response(prompt)) for index, prompt in some]

    def _response(self, prompt: Prepared) -> Response:
        n_words = prompt.tokens or 0
        self.computed_tokens += n_words
        answer = made_up_answer(text_of(prompt.content)).split()
        shown = answer[: self.settings.max_new_tokens]
        return Response(
            text=" ".join(shown),
            finish_reason=STOP if shown == answer else LENGTH,
            prompt_tokens=n_words,
            response_tokens=len(shown),
            made_with=f"fake {ENGINE.version}",
        )


def text_of(content: Content) -> str:
    """The text of a prompt, or of a conversation's messages."""
    return "\n".join(message["content"] for message in as_messages(content))


def made_up_answer(prompt: str) -> str:
    """What the asked item of a prompt says, or another item, as the prompt's hash and the item's place decide."""
    asked, items = _asked_and_items(prompt)
    places = [place for place, (name, _) in enumerate(items) if name.casefold() == asked.casefold()]
    if not places:
        return NOT_FOUND
    number = int.from_bytes(sha256(f"{SEED}\n{prompt}".encode()).digest()[:8]) / 2**64
    others = [*items[: places[0]], *items[places[0] + 1 :]]
    chance = chance_at(places[0] / len(others)) if others else ALONE
    if number < chance:
        return items[places[0]][1]
    if not others:
        return NOT_FOUND
    return others[int((number - chance) / (1 - chance) * len(others))][1]


def chance_at(depth: float) -> float:
    """The chance of a right answer at a place, from 0 for the first to 1 for the last."""
    end = FIRST if depth < 0.5 else LAST
    return MIDDLE + (end - MIDDLE) * abs(2 * depth - 1) ** 1.5


def _asked_and_items(prompt: str) -> tuple[str, list[tuple[str, str]]]:
    """What a prompt asks for, "" if that is not known, and its items: name, and what is said of it."""
    for question, item in ((KEY, PAIR), (OFFICE, ENTRY)):
        if asked := question.findall(prompt):
            return asked[-1], item.findall(prompt)
    return "", []
