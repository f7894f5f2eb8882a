"""The engine first_item: the text after the mark, in the first line that has one."""

from my_task.engines.first_item import Engine, Settings

from litm.engines.interface import EngineSettings

PROMPT = "Words:\nA1: seven\nA2: eight\nB = nine"


def answer(**keys) -> str:
    settings = Settings(engine="first_item", **keys)
    engine = Engine(
        EngineSettings(
            location="", revision=None, tokenizer=None, prompt_template="plain", template=None, max_new_tokens=30,
            stop="end_token", keys=settings,
        )
    )  # fmt: skip
    ((_, response),) = (pair for batch in engine.generate(engine.prepare([PROMPT])) for pair in batch)
    return response.text


def test_the_answer_is_the_text_after_the_first_mark():
    assert (answer(), answer(mark=" = ")) == ("seven", "nine")
