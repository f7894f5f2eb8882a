"""An engine that answers each prompt with itself, and a sweep that it can be asked."""

from record_makers import example

from litm.inference.engine import Prepared
from litm.inference.setup import Fit
from litm.records import Example, Response

IDENTITY = {"model": "m"}


class EchoEngine:
    """Answers each prompt with itself, two a batch; one token a character."""

    computed_tokens: int | None = None
    is_loading = False

    def __init__(self):
        self.asked: list[str] = []
        self.dies_after = 99
        self.forgets: tuple[str, ...] = ()

    def prepare(self, contents):
        return [Prepared(text, [ord(character) for character in text]) for text in contents]

    def generate(self, prompts):
        for start in range(0, len(prompts), 2):
            batch = []
            for index in range(start, min(start + 2, len(prompts))):
                text = prompts[index].content
                if len(self.asked) == self.dies_after:
                    raise RuntimeError("killed")
                if text in self.forgets:
                    continue
                self.asked.append(text)
                batch.append((index, Response(text.upper(), "stop", len(text), 1, "echo 1.0")))
            yield batch


def examples(*prompts: str, size: int = 4) -> list[Example]:
    return [example(id=f"q{n}", size=size, prompt=text) for n, text in enumerate(prompts)]


FIT = Fit(context_window=20, max_new_tokens=5)
