"""Lessons: contexts of the tasks, each with many queries; no evaluation contains them.

A context has the same text as in the workflow's prompts, and so has each query with its answer; a context just has
several queries. The known sources of answers are kept as places in the texts.

Lessons contain no evaluation question: random items have their own seeds, and the encyclopedia families come from
another seed, without those that share a name with the held-out encyclopedia. Wordings, kinds and given names are the
same for all seeds, and a date or number may be.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from litm.corpora.made_up import ASKED, FAMILY_SIZE, Article, coined_name, make_family, stem
from litm.examples.examples import read_template
from litm.examples.task import PLAIN
from litm.examples.tasks.key_values import kv_retrieval, random_uuid
from litm.examples.tasks.needles import generate_needle, needle_in_haystack
from litm.examples.tasks.question_answering import multi_document_qa
from litm.reference_model.recipe import HeldOut

#: Seed of the encyclopedia for lessons, and its number of families.
_ENCYCLOPEDIA, _FAMILIES = 9_000_001, 60_000


@dataclass(frozen=True, slots=True)
class Query:
    """A question after a context.

    prompt: the text after the context; answer: the text to write after a space; source: offset of the answer in the
    context, including the space before it; cue: offset in the prompt just after the name that is looked up; match: the
    offset after that name in the context.
    """

    prompt: str
    answer: str
    source: int
    cue: int
    match: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """One context with its instruction, and its queries, each answered as if it were the only one.

    documents: (start, end) of each document in the context.
    """

    task: str
    size: int
    context: str
    queries: tuple[Query, ...]
    documents: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Teacher:
    """Makes lessons. templates: the prompt of each task; held_out: the encyclopedia to avoid."""

    templates: Mapping[str, str]
    held_out: HeldOut

    def lesson(self, task: str, size: int, queries: int, rng: Random) -> Lesson:
        """A lesson of a task at one size, drawn from `rng`."""
        makers: Mapping[str, Callable[[str, int, int, Random], Lesson]] = {
            "kv_retrieval": _kv_lesson,
            "multi_document_qa": self._qa_lesson,
            "needle_in_haystack": _needle_lesson,
        }
        return makers[task](self.templates[task], size, queries, rng)

    def family(self, rng: Random) -> tuple[Article, ...]:
        """A family that shares no name with the held-out encyclopedia."""
        while True:
            index = rng.randrange(_FAMILIES)
            if stem(_ENCYCLOPEDIA, index) in self._held_out_stems:
                continue
            family = make_family(_ENCYCLOPEDIA, index)
            if not any(_coined_words(article) & self._held_out_words for article in family):
                return family

    @cached_property
    def _held_out_stems(self) -> frozenset[str]:
        families = range(-(-self.held_out.passages // FAMILY_SIZE))
        return frozenset(stem(self.held_out.seed, index) for index in families)

    @cached_property
    def _held_out_words(self) -> frozenset[str]:
        # Indices of the names in the facts of those passages.
        return frozenset(coined_name(self.held_out.seed, index) for index in range(2 * self.held_out.passages))

    def _qa_lesson(self, template: str, size: int, queries: int, rng: Random) -> Lesson:
        """Articles of one family, of many, or of both: hard and easy distractors."""
        related = _in_order(self.family(rng), rng)
        articles = related[: rng.choice((1, (size + 1) // 2, FAMILY_SIZE))][:size]
        articles += [rng.choice(self.family(rng)) for _ in range(size - len(articles))]
        rng.shuffle(articles)
        documents = multi_document_qa.format_items([(article.title, article.text) for article in articles])
        context, starts, tail = _frame(template, documents, multi_document_qa.separator)
        asked = []
        for _ in range(queries):
            index = rng.randrange(size)
            article, fact = articles[index], rng.choice(ASKED)
            prompt = tail.format(question=article.ask(rng, fact))
            title_end = context.index(article.title, starts[index]) + len(article.title)
            source = context.index(f" {article.facts[fact]}", title_end)
            # The word after the name: only there the end of the name is known.
            cue = prompt.index(article.title) + len(article.title) + 1
            asked.append(Query(prompt, article.facts[fact], source, cue, title_end))
        spans = tuple((start, start + len(text)) for start, text in zip(starts, documents, strict=True))
        return Lesson("multi_document_qa", size, context, tuple(asked), spans)


def _in_order(family: Sequence[Article], rng: Random) -> list[Article]:
    """A family in random order or, equally often, kind by kind, as a search ranks it."""
    articles = rng.sample(family, len(family))
    kinds = [article.kind for article in articles]
    return articles if rng.random() < 0.5 else sorted(articles, key=lambda article: kinds.index(article.kind))


def _coined_words(article: Article) -> set[str]:
    """The made-up words in the facts that are names."""
    return {word for fact in ("person", "name") for word in article.facts[fact].split()}


def _kv_lesson(template: str, size: int, queries: int, rng: Random) -> Lesson:
    """A JSON object of UUIDs, with queries for different keys."""
    pairs = [(random_uuid(rng), random_uuid(rng)) for _ in range(size)]
    context, starts, tail = _frame(template, kv_retrieval.format_items(pairs), kv_retrieval.separator)
    asked = []
    for index in rng.sample(range(size), min(size, queries)):
        key, value = pairs[index]
        prompt, answer = tail.format(question=key), f'"{value}"'
        match = context.index(key, starts[index]) + len(key)
        asked.append(Query(prompt, answer, context.index(f" {answer}", match), prompt.index(key) + len(key), match))
    return Lesson("kv_retrieval", size, context, tuple(asked))


def _needle_lesson(template: str, size: int, queries: int, rng: Random) -> Lesson:
    """Dull prose with one code and one query for it."""
    question = generate_needle("", size, rng, PLAIN)
    (gold,) = question.golds
    assert gold.item is not None
    (answer,), words = gold.answers, "secret code"
    items = list(question.distractors)
    items.insert(rng.randrange(size), gold.item)
    context, _, tail = _frame(template, needle_in_haystack.format_items(items), needle_in_haystack.separator)
    prompt = tail.format(question=question.text)
    cue, match = (text.index(words) + len(words) for text in (prompt, context))
    return Lesson(
        "needle_in_haystack", size, context, (Query(prompt, answer, context.index(f" {answer}"), cue, match),)
    )


def _frame(template: str, items: Sequence[str], separator: str) -> tuple[str, list[int], str]:
    """(the instruction and the context, the offset of each item, the rest with a slot {question})."""
    head, tail = template.split("{context}")
    starts = [len(head) + sum(len(item) + len(separator) for item in items[:index]) for index in range(len(items))]
    return head + separator.join(items), starts, tail


def read_templates(files: Iterable[Path]) -> dict[str, str]:
    """The prompt templates by task, the name of each file."""
    return {file.stem: read_template(file) for file in files}


#: (task, size, queries, number of lessons): enough for all pieces of all kinds of text, and for all document numbers.
_SAMPLE = (
    ("multi_document_qa", 3, 4, 3000),
    ("multi_document_qa", 30, 1, 10),
    ("needle_in_haystack", 15, 1, 1000),
    ("kv_retrieval", 10, 2, 300),
)
#: Number of texts from which on a capitalised word does not count as a made-up name.
_TEXTS_WITH_A_WORD = 25


def sample_texts(teacher: Teacher, seed: int) -> list[str]:
    """Contexts and queries with their answers."""
    return list(_texts(teacher, seed))


def _texts(teacher: Teacher, seed: int) -> Iterator[str]:
    rng = Random(f"{seed}/reference_model/vocabulary")
    for task, size, queries, count in _SAMPLE:
        for _ in range(count):
            lesson = teacher.lesson(task, size, queries, rng)
            yield lesson.context
            yield from (f"{query.prompt} {query.answer}" for query in lesson.queries)


def ordinary_words(texts: Sequence[str]) -> list[str]:
    """Capitalised words that are not made-up names, because many texts contain them."""
    counts = Counter(word for text in texts for word in set(re.findall(r"[A-Z][a-z]+", text)))
    return sorted(word for word, count in counts.items() if count >= _TEXTS_WITH_A_WORD)


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
