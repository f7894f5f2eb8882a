"""What a model's prompt format puts around a prompt, found with a prompt that no template has."""

from typing import TYPE_CHECKING, cast

from litm.prompting.render import encode_prompts, render_prompts
from litm.prompting.tokenizer import added_beginning

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: A word that no template has.
PROBE = "qz0zq"


def prompt_frame(tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None) -> dict:
    """{prompt_template, before, after, strips, special} of a single prompt.

    Arguments and errors as in `render_prompts`. before, after: the text around the prompt; strips: whether spaces
    and line ends around it are dropped; special: the token that the tokenizer itself puts before the text, '' for none.
    """
    text, spaced = (
        render_prompts(tokenizer, prompt_template, template, [prompt])[0] for prompt in (PROBE, f"\n {PROBE} \n")
    )
    before, _, after = text.partition(PROBE)
    first = encode_prompts(tokenizer, prompt_template, template, [PROBE])[0][0]
    beginning = cast(str, tokenizer.decode([first])) if first == added_beginning(tokenizer) else ""
    return {
        "prompt_template": prompt_template,
        "before": before,
        "after": after,
        "strips": f"\n {PROBE} \n" not in spaced,
        "special": "" if text.startswith(beginning) else beginning,
    }
