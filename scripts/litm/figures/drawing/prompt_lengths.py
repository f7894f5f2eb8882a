"""Lengths of prompts in words for titles and notes, from each model's mean tokens."""

from collections.abc import Mapping


def length_in_words(means: Mapping[str, float]) -> str:
    """~2,900 tokens, or ~2,600 to 3,100 tokens if the models' tokenizers differ by more; '' if nothing is known.

    Numbers have two significant digits.
    """
    rounded = [_rounded(mean) for mean in means.values()]
    if not rounded:
        return ""
    least, most = min(rounded), max(rounded)
    return f"~{least:,} tokens" if least == most else f"~{least:,} to {most:,} tokens"


def with_length(title: str, means: Mapping[str, float]) -> str:
    """The title of a size with the length of its prompts, unless it mentions tokens itself."""
    length = "" if "token" in title else length_in_words(means)
    return f"{title}, {length}" if length else title


def longer_than_trained(means: Mapping[str, float], training_lengths: Mapping[str, int]) -> tuple[str, ...]:
    """Models whose prompts exceed their training length, with that length in tokens."""
    return tuple(
        f"{model} ({training_lengths[model]:,})"
        for model, mean in means.items()
        if mean > training_lengths.get(model, mean)
    )


def _rounded(number: float) -> int:
    return int(float(f"{number:.1e}"))
