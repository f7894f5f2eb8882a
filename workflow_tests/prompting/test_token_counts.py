"""Token positions of the gold items: equal to those by decoding, for all tokenizers and templates, or unknown."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT
from gguf_files import write_gguf
from hypothesis import given
from hypothesis import strategies as st
from programs import run_program
from record_makers import example
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from litm.base.messages import UserError
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.prompting.prompt_format import CHAT, RAW, PromptFormat
from litm.prompting.token_counts import GoldTokens, PromptTokens, measure_prompts, most_items, token_count_row
from litm.records.examples import Example, write_examples

#: Items of a context. Spaces and line ends, letters of several bytes, and a rare one whose bytes are tokens.
TEXTS = [
    "Item 0: the héron is blue 😀😀.",
    "Item 1:  two  spaces,\nand a line",
    " Item 2: 漢字 and kana",
    "Item 3: rare 🦩🦩",
]
CORPUS = [*TEXTS[:3], "You are given items. What is blue?", "User: Assistant: <|user|> <|assistant|>"] * 9
CHATML = (
    "<s>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
#: Chat templates that show what they are given: as it is, without the white space at its ends, with today's date.
FAITHFUL = [CHATML, CHATML.replace("m.content", "m.content | trim"), "{{ strftime_now('%d') }} 😀" + CHATML]


def byte_level(trim_offsets: bool, bos: bool) -> PreTrainedTokenizerFast:
    """Byte-level BPE, as GPT-2's, GPT-NeoX's and Llama 3's; offsets with or without the spaces before words."""
    tokens = Tokenizer(BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, special_tokens=["<s>"])
    tokens.train_from_iterator(CORPUS, trainer)
    parts = [processors.ByteLevel(trim_offsets=trim_offsets)]
    if bos:
        parts.append(processors.TemplateProcessing("<s> $A", None, [("<s>", 0)]))
    tokens.post_processor = processors.Sequence(parts)
    return PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", chat_template=CHATML)


def sentencepiece_like() -> PreTrainedTokenizerFast:
    """BPE with spaces as characters and bytes for what it does not know, as Llama 2's; with a BOS and a normalizer."""
    tokens = Tokenizer(BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    normal = [normalizers.NFC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    decoded = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokens.normalizer, tokens.decoder = normalizers.Sequence(normal), decoders.Sequence(decoded)
    special = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    known = [text.translate({ord(letter): None for letter in "漢😀"}) for text in CORPUS]
    tokens.train_from_iterator(known, trainers.BpeTrainer(vocab_size=420, special_tokens=special))
    tokens.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", chat_template=CHATML)


TOKENIZERS = {
    "byte level": byte_level(trim_offsets=False, bos=False),
    "byte level, trimmed": byte_level(trim_offsets=True, bos=False),
    "byte level, trimmed, BOS": byte_level(trim_offsets=True, bos=True),
    "spaces as characters, BOS": sentencepiece_like(),
}


def fresh(name: str, chat_template: str = CHATML) -> PreTrainedTokenizerFast:
    tokenizer = TOKENIZERS[name]
    tokenizer.chat_template = chat_template
    return tokenizer


def items_example(position: int | None, size: int = 4) -> Example:
    """A prompt of `TEXTS`, and one of them as the gold item, which is shown also elsewhere as a part of others."""
    head, separator = "You are given items.\n\n", "\n"
    texts = TEXTS[:size]
    prompt = head + separator.join(texts) + "\n\nWhat is blue? "
    span = None
    if position is not None:
        start = len(head) + sum(len(text) + len(separator) for text in texts[:position])
        span = [start, start + len(texts[position])]
        assert prompt[slice(*span)] == TEXTS[position]
    target = {"name": "gold", "position": position, "depth": None, "span": span, "answers": ["x"]}
    return example(size=size, placement="p", prompt=prompt, targets=[target])


def conversation(position: int, size: int = 12) -> list[Example]:
    task = load_task("conversation_memory")
    template = read_template(ROOT / "resources" / "prompts" / "conversation_memory.txt")
    questions = task.questions(size, ExampleSettings(1, 1, "ranked"), None)
    return [make_example(q, size, f"gold_at_{position}", template, task) for q in questions]


def measure(tokenizer, prompt_template: str, template: str | None, example: Example) -> PromptTokens:
    ((same, measured),) = measure_prompts(PromptFormat(tokenizer, prompt_template, template), [example])
    assert same is example
    return measured


def ids_of(tokenizer, prompt_template: str, template: str | None, example: Example) -> list[int]:
    (ids,) = PromptFormat(tokenizer, prompt_template, template).encode([example.content(prompt_template == CHAT)])
    return ids


def assert_exactly(tokenizer, ids: list[int], gold: GoldTokens | None, text: str) -> None:
    """Decoding the tokens gives the text, and no token less does; a token more at an end has nothing of it."""
    assert gold is not None
    wanted = text.strip()

    def decode(first: int, last: int) -> str:
        return tokenizer.decode(ids[first : last + 1], clean_up_tokenization_spaces=False)

    shown = decode(gold.first, gold.last)
    assert wanted in shown and len(shown) <= len(wanted) + 3
    assert wanted not in decode(gold.first + 1, gold.last)
    assert wanted not in decode(gold.first, gold.last - 1)


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize(
    ("prompt_template", "template"),
    [(RAW, None), ("named", "😀 Say:  {prompt}\nNow:"), *((CHAT, chat) for chat in FAITHFUL)],
)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_tokens_of_a_gold_item_decode_to_its_text(name, prompt_template, template, position):
    tokenizer = fresh(name, template if prompt_template == CHAT else CHATML)
    template = None if prompt_template == CHAT else template
    example = items_example(position)
    measured = measure(tokenizer, prompt_template, template, example)
    ids = ids_of(tokenizer, prompt_template, template, example)
    assert (measured.count, measured.unknown) == (len(ids), 0)
    assert_exactly(tokenizer, ids, measured.golds[0], TEXTS[position])


@pytest.mark.parametrize("chat_template", FAITHFUL)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_in_a_conversation_the_gold_item_is_the_messages_it_consists_of(name, chat_template):
    tokenizer = fresh(name, chat_template)
    for position in (0, 5, 11):
        (example,) = conversation(position)
        (gold,) = measure(tokenizer, CHAT, None, example).golds
        user, assistant = (message["content"] for message in example.messages[2 * position : 2 * position + 2])
        ids = ids_of(tokenizer, CHAT, None, example)
        whole = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        between = whole[whole.index(user) + len(user) : whole.index(assistant)]
        assert "<|assistant|>" in between
        assert_exactly(tokenizer, ids, gold, user + between + assistant)
        transcript = measure(tokenizer, RAW, None, example)
        start, end = example.targets[0].span
        ids = ids_of(tokenizer, RAW, None, example)
        assert_exactly(tokenizer, ids, transcript.golds[0], example.prompt[start:end])


def test_messages_that_are_said_twice_do_not_mislead():
    tokenizer = fresh("byte level, trimmed")
    contents = ["Yes.", "user", "The code is 7.", "Yes.", "Yes.", "user", "Which code?"]
    lines = [f"{'AU'[n % 2 == 0]}: {content}" for n, content in enumerate(contents)]
    start = len("\n".join(lines[:4])) + 1
    target = {"span": [start, start + len("\n".join(lines[4:6]))]}
    messages = [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]
    asked = example(prompt="\n".join(lines), messages=messages, targets=[target])
    (gold,) = measure(tokenizer, CHAT, None, asked).golds
    shown = tokenizer.decode(ids_of(tokenizer, CHAT, None, asked)[gold.first : gold.last + 1])
    assert shown == "Yes.<|end|>\n<|assistant|>\nuser"


@pytest.mark.parametrize(
    "chat_template",
    [
        CHATML.replace("m.content", "m.content | tojson"),
        CHATML.replace("m.content", "m.content | upper"),
        CHATML.replace("m.content", "m.content | replace('\\n', ' ')"),
        CHATML + "{{ messages[0].content }}",
        "{% for m in messages | reverse %}<{{ m.role }}>{{ m.content }}{% endfor %}",
        CHATML + "{% if '__' in messages[0].content %}{{ raise_exception('no') }}{% endif %}",
        CHATML + "{% if 'blue' in messages[0].content %}!{% endif %}",
        "{% if 'blue' in messages[0].content %}!{% else %}?{% endif %}" + CHATML,
        CHATML.replace("<|end|>", "{% if 'blue' in m.content %}!{% else %}?{% endif %}"),
    ],
    ids=["escaped", "changed", "joined", "repeated", "reversed", "refused", "end", "start", "gap"],
)
def test_a_chat_template_that_changes_its_messages_leaves_the_place_unknown(chat_template):
    tokenizer = fresh("byte level", chat_template)
    turns = [{"role": "user", "content": "It is blue. É\n"}, {"role": "assistant", "content": "é\ny"}]
    asked = example(prompt="U: It is blue. É\n\nA: é\ny", messages=turns, targets=[{"span": [0, 14]}])
    measured = measure(tokenizer, CHAT, None, asked)
    assert (measured.golds, measured.unknown) == ((None,), 1)
    assert measured.count == len(ids_of(tokenizer, CHAT, None, asked))


def test_a_template_that_drops_white_space_before_its_own_is_followed():
    tokenizer = fresh("byte level", CHATML.replace("m.content }}<|end|>", "m.content | trim }}\n"))
    (target,) = items_example(3).targets
    span = [at + 1 for at in target.span]
    asked = example(prompt=" " + items_example(3).prompt + "\n\n", targets=[{"span": span}])
    (gold,) = measure(tokenizer, CHAT, None, asked).golds
    assert_exactly(tokenizer, ids_of(tokenizer, CHAT, None, asked), gold, TEXTS[3])


def test_messages_that_are_not_those_of_the_prompt_and_a_tokenizer_without_characters_leave_the_place_unknown():
    asked = replace(items_example(1), messages=[{"role": "user", "content": "Something else."}])
    assert measure(fresh("byte level"), CHAT, None, asked).golds == (None,)
    measured = measure(ByT5Tokenizer(), RAW, None, items_example(0))
    assert (measured.golds, measured.unknown) == ((None,), 1)
    assert measured.count == len(items_example(0).prompt.encode()) + 1


@pytest.mark.parametrize("prompt_template", [RAW, CHAT])
def test_without_a_gold_item_there_is_no_place_and_nothing_unknown(prompt_template):
    measured = measure(fresh("byte level"), prompt_template, None, items_example(None))
    assert (measured.golds, measured.unknown) == ((None,), 0)


def test_a_row_has_the_lengths_and_the_mean_place_of_the_gold_items_from_the_first_to_the_last():
    one = PromptTokens(101, (GoldTokens(40, 60),), 0)
    row = token_count_row("m", "e", 4, "gold_at_1", [one, PromptTokens(201, (GoldTokens(20, 20),), 0)])
    assert [row[f"tokens_{name}"] for name in ("mean", "min", "max")] == [151, 101, 201]
    assert (row["n"], row["n_gold_located"]) == (2, 2)
    several = PromptTokens(101, (GoldTokens(10, 12), GoldTokens(50, 51), GoldTokens(80, 90)), 0)
    rows = row, token_count_row("m", "e", 4, "p", [several])
    places = [[row[f"gold_{name}"] for name in ("first_token", "last_token", "depth_tokens")] for row in rows]
    assert places == [[30, 40, pytest.approx((0.5 + 0.1) / 2)], [10, 90, 0.5]]


def test_prompts_with_a_gold_item_of_unknown_place_are_counted_and_left_out():
    known = PromptTokens(101, (GoldTokens(40, 60), GoldTokens(70, 80)), 0)
    row = token_count_row("m", "e", 4, "p", [known, replace(known, golds=(GoldTokens(0, 1), None), unknown=1)])
    assert (row["n"], row["n_gold_located"], row["gold_first_token"]) == (2, 1, 40)
    none = token_count_row("m", "e", 0, "no_gold", [PromptTokens(101, (None,), 0)])
    assert (none["n_gold_located"], none["gold_first_token"], none["gold_depth_tokens"]) == (0, None, None)


def count_tokens(folder: Path, *options: object) -> subprocess.CompletedProcess:
    outputs = ["--output", folder / "tokens.csv", "--positions", folder / "positions.parquet"]
    examples = ["--examples", *sorted(folder.glob("*.jsonl.gz"))]
    return run_program("count_tokens", "--model", "m", "--experiment", "e", *options, *examples, *outputs)


def test_the_program_writes_a_row_a_cell_and_a_row_a_prompt_and_target(tmp_path):
    needles = [f"gold_at_{at}" for at in ("0_5_9", "2_3_4")]
    task, template = load_task("multi_needle"), read_template(ROOT / "resources" / "prompts" / "multi_needle.txt")
    questions = list(task.questions(10, ExampleSettings(3, 1, "ranked"), None))
    cells = [[make_example(q, 10, p, template, task) for q in questions] for p in needles]
    cells.append([replace(items_example(None, size=0), placement="no_gold")])
    for number, cell in enumerate(cells):
        write_examples(tmp_path / f"{number}.jsonl.gz", cell)
    tokenizer = str(ROOT / "resources" / "reference_model")
    done = count_tokens(tmp_path, "--tokenizer", tokenizer, "--prompt-template", RAW)
    assert (done.returncode, done.stderr) == (0, "")

    table = pd.read_csv(tmp_path / "tokens.csv")
    assert list(table["n"]) == [3, 3, 1] and not table["n_special_tokens"].any()
    assert list(table["n_gold_located"]) == [3, 3, 0]
    assert table.loc[2, ["gold_first_token", "gold_last_token", "gold_depth_tokens"]].isna().all()
    assert table.loc[0, "gold_first_token"] < table.loc[1, "gold_first_token"]
    positions = pd.read_parquet(tmp_path / "positions.parquet")
    assert list(positions["target"]) == [t.name for cell in cells for e in cell for t in e.targets]
    assert list(positions["position"])[:3] == [0, 5, 9] and positions["position"].isna().sum() == 1
    assert positions["first_token"].dtype == "Int64" and positions["last_token"].isna().sum() == 1
    of_prompt = positions.dropna().groupby(["placement", "id"])
    ends = {"first_token": of_prompt["first_token"].min(), "last_token": of_prompt["last_token"].max()}
    for column, values in ends.items():
        means = values.groupby("placement").mean()
        assert list(table[f"gold_{column}"])[:2] == pytest.approx(list(means), abs=1e-6)


def test_the_program_says_how_many_gold_items_have_no_known_place(tmp_path):
    fresh("byte level", CHATML.replace("m.content", "m.content | upper")).save_pretrained(tmp_path / "tokenizer")
    write_examples(tmp_path / "examples.jsonl.gz", [items_example(0), items_example(1)])
    done = count_tokens(tmp_path, "--tokenizer", tmp_path / "tokenizer", "--prompt-template", CHAT)
    expected = "m/e: the token positions of 2 gold items are unknown (tokenizer or chat template change their text)\n"
    assert (done.returncode, done.stderr) == (0, expected)
    assert pd.read_csv(tmp_path / "tokens.csv")["n_gold_located"].tolist() == [0]
    assert pd.read_parquet(tmp_path / "positions.parquet")["first_token"].isna().tolist() == [True, True]


def test_special_tokens_in_questions_and_documents_are_counted_and_those_of_templates_are_not(tmp_path):
    tokenizer = fresh("byte level", CHATML)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|end|>", "<|end|>s"]})
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    prompts = ["plain < |end|>", "an <|end|> and <|end|>", "<|end|>s"]
    examples = [example(id=str(n), prompt=prompt) for n, prompt in enumerate(prompts)]
    write_examples(tmp_path / "examples.jsonl.gz", examples)
    done = count_tokens(tmp_path, "--tokenizer", tmp_path / "tokenizer", "--prompt-template", CHAT)
    assert done.returncode == 0 and done.stderr == (
        "m/e: in 2 prompts the question or documents have texts that the tokenizer reads as special tokens (<|end|> 2 "
        "times, <|end|>s 1 times); the model is given the tokens, not the texts: see n_special_tokens in "
        "results/tables/token_counts.csv\n"
    )
    assert pd.read_csv(tmp_path / "tokens.csv")["n_special_tokens"].tolist() == [2]
    measured = [dict(tokens.special) for _, tokens in measure_prompts(PromptFormat(tokenizer, CHAT), examples)]
    assert measured == [{}, {"<|end|>": 2}, {"<|end|>s": 1}]


def test_tokens_are_counted_with_the_tokenizer_and_chat_template_in_a_gguf_file(tmp_path):
    write_gguf(tmp_path / "tiny.gguf")
    write_examples(tmp_path / "e.jsonl.gz", [example(prompt="ab a")])
    done = count_tokens(tmp_path, "--tokenizer", tmp_path / "tiny.gguf", "--prompt-template", CHAT)
    assert done.returncode == 0, done.stderr
    # "ab" is one token, and so is the space; the template adds three around them.
    assert pd.read_csv(tmp_path / "tokens.csv")["tokens_mean"].item() == 6
    write_gguf(tmp_path / "without.gguf", has_tokenizer=False)
    done = count_tokens(tmp_path, "--tokenizer", tmp_path / "without.gguf", "--prompt-template", CHAT)
    assert done.returncode == 1 and "without.gguf" in done.stderr and "Traceback" not in done.stderr


def test_without_a_chat_template_the_tokens_are_those_of_the_messages_texts_and_it_is_said(tmp_path):
    tokenizer = fresh("byte level", None)
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    examples = [items_example(0), items_example(1)]
    write_examples(tmp_path / "examples.jsonl.gz", examples)
    done = count_tokens(tmp_path, "--tokenizer", tmp_path / "tokenizer", "--prompt-template", CHAT)
    said = f"{tmp_path / 'tokenizer'} has no chat template: tokens are those of the messages' texts alone\n"
    assert (done.returncode, done.stderr) == (0, said)
    counts = [len(tokenizer(one.prompt, add_special_tokens=False)["input_ids"]) for one in examples]
    assert pd.read_csv(tmp_path / "tokens.csv")["tokens_mean"].item() == pytest.approx(sum(counts) / 2)
    assert pd.read_csv(tmp_path / "tokens.csv")["n_gold_located"].item() == 2


@given(st.integers(1, 50), st.integers(0, 200), st.integers(0, 100_000))
def test_the_most_items_that_fit_are_found(each, rest, limit):
    def tokens_of(items: int) -> int:
        return rest + each * items

    if tokens_of(2) > limit:
        with pytest.raises(UserError, match=f"a prompt of 2 items has {tokens_of(2)} tokens already"):
            most_items(limit, tokens_of, fewest=2)
    else:
        found = most_items(limit, tokens_of, fewest=2)
        assert tokens_of(found) <= limit < tokens_of(found + 1)
