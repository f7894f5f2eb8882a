"""Vocabulary of the reference model: pieces fitted to the tasks' texts, so that distinctions are single tokens.

There are no merges: a regular expression cuts a text, and each piece is a token if the vocabulary has it, and otherwise
its bytes are. Two hexadecimal digits, a syllable of a made-up name, a year, a document's number: the same thing is the
same token everywhere.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

END, PADDING = "<|endoftext|>", "<|pad|>"
#: Occurrences in the sample below which a piece is written in bytes.
SEEN = 3

_CONSONANTS, _VOWELS = "[b-df-hj-np-tv-z]", "[aeiou]"


def piece_pattern(words: Iterable[str]) -> str:
    """The regular expression that cuts texts; words: capitalised words to keep whole, which are no made-up names."""
    whole = "|".join(sorted(set(words), key=lambda word: (-len(word), word)))
    return "|".join(
        (
            # Two digits of a UUID: only hexadecimal digits follow up to a quotation mark.
            r'-?[0-9a-f]{2}(?=[0-9a-f-]{0,36}")',
            r" ?\[[0-9]+\]\(Title:",
            # The letters of a code such as TRK-5938.
            r" ?[A-Z](?=[A-Z]*-[0-9])",
            r" [0-9]{4}(?![0-9])",
            r",[0-9](?=[0-9]{2})",
            r" ?[0-9]{1,2}",
            rf" ?(?:{whole})(?![a-z])",
            # Syllables of made-up names: Te|ngre|lm, Ble|sto|tek.
            rf" ?[A-Z]{_CONSONANTS}*{_VOWELS}+",
            rf"(?<=[A-Za-z]){_CONSONANTS}+{_VOWELS}?{_CONSONANTS}?(?![a-z])",
            rf"(?<=[A-Za-z]){_CONSONANTS}+(?![a-z])",
            rf"(?<=[A-Za-z]){_CONSONANTS}+{_VOWELS}+",
            r" ?[A-Za-z]+",
            r'": "|",\n "|"\}|\{"| "|"',
            r"\n+",
            r"[^\sA-Za-z0-9\"\[\]\n]",
            r"\s|.",
        )
    )


def count_pieces(texts: Iterable[str], words: Iterable[str]) -> Counter[str]:
    """The count of each piece in the texts, written in the characters that stand for bytes."""
    cutter = _pre_tokenizer(piece_pattern(words))
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(piece for piece, _ in cutter.pre_tokenize_str(text))
    return counts


def build_tokenizer(texts: Iterable[str], words: Sequence[str]) -> PreTrainedTokenizerFast:
    """The tokenizer with the bytes and the texts' pieces as its vocabulary, in alphabetical order."""
    pieces = {piece for piece, count in count_pieces(texts, words).items() if count >= SEEN}
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [END, PADDING, *alphabet, *sorted(pieces - set(alphabet))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], ignore_merges=True))
    tokenizer.pre_tokenizer = _pre_tokenizer(piece_pattern(words))
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PADDING,
        padding_side="left",
        model_max_length=8192,
        clean_up_tokenization_spaces=False,
    )


def _pre_tokenizer(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
