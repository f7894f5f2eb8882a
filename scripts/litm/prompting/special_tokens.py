"""Texts in questions and documents that a tokenizer reads as special tokens, such as `<|endoftext|>`.

They are left unchanged, as in other evaluations: `transformers` reads them as special tokens unless told otherwise
(`split_special_tokens`), and so do servers. Those of a chat template must be read that way, and replacing the others
would change prompts. They are counted.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING

from litm.prompting.chat import as_messages
from litm.records import Content

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def special_token_pattern(tokenizer: "PreTrainedTokenizerBase") -> re.Pattern[str] | None:
    """A pattern for the texts of special tokens, longest first; None for a tokenizer without any."""
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    texts = sorted({*added, *tokenizer.all_special_tokens} - {""}, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, texts))) if texts else None


def special_tokens_in(pattern: re.Pattern[str] | None, content: Content) -> Counter[str]:
    """Occurrences of each special token's text in a prompt or in chat messages, before any template."""
    if pattern is None:
        return Counter()
    return Counter(token for message in as_messages(content) for token in pattern.findall(message["content"]))
