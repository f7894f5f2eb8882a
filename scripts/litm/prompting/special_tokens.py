"""Texts of questions and documents that a tokenizer reads as its special tokens, such as `<|endoftext|>`.

They stay as they are, as with others who evaluate models: `transformers` reads them so unless told otherwise
(`split_special_tokens`), and so do servers. Those of a chat template must be read so, and other texts would be other
prompts. But they are counted.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING

from litm.domain.example import Content
from litm.prompting.chat import as_messages

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def special_token_pattern(tokenizer: "PreTrainedTokenizerBase") -> re.Pattern[str] | None:
    """What finds the texts of the special tokens, the longest first; None for a tokenizer without any."""
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    texts = sorted({*added, *tokenizer.all_special_tokens} - {""}, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, texts))) if texts else None


def special_tokens_in(pattern: re.Pattern[str] | None, content: Content) -> Counter[str]:
    """How often a prompt, or the messages of a chat, have the text of each special token, before any template."""
    if pattern is None:
        return Counter()
    return Counter(token for message in as_messages(content) for token in pattern.findall(message["content"]))
