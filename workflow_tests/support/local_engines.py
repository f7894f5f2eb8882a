"""Settings, prompts and answers of engines that run a model here; a model with a vocabulary of line ends."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from conftest import ROOT
from engine_settings import changed_settings, engine_settings
from suite_examples import example, questions
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from litm.engines.interface import EngineSettings, Prepared
from litm.engines.registry import load_engine
from litm.examples.task import ExampleSettings
from litm.records.responses import Response, measured_answers

#: Of the reference model.
REFERENCE = str(ROOT / "resources" / "reference_model")
SETTINGS = engine_settings("transformers", REFERENCE, dtype="float32", device="cpu", batch_tokens=4096)
NEW_TOKENS = 12
#: Of a tiny model, one prompt at a time; without its location.
TINY = changed_settings(SETTINGS, location="", max_new_tokens=NEW_TOKENS, batch_tokens=1)
CPU_ERROR = RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you")


def kv_prompts(size: int, count: int) -> list[tuple[str, str]]:
    """(prompt, value) of generated key-value questions."""
    asked = questions("kv_retrieval", size, ExampleSettings(count, 1, "ranked"))
    made = (example("kv_retrieval", question, size, f"gold_at_{n % size}") for n, question in enumerate(asked))
    return [(one.prompt, one.targets[0].answers[0]) for one in made]


def prepared(prompts: Sequence[list[int]]) -> list[Prepared]:
    """Prompts for tests of token ids."""
    return [Prepared("", ids) for ids in prompts]


def answered(engine, prompts: Sequence[Prepared], how: str = "generate") -> list[Response]:
    """An engine's answer to each prompt, exactly one each."""
    pairs = [pair for batch in getattr(engine, how)(prompts) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [response for _, response in sorted(pairs, key=lambda pair: pair[0])]


#: What an engine measures of each prompt.
measured = partial(answered, how="measure")


def nats(responses: Sequence[Response]) -> list[list[float]]:
    """The log-probabilities that were measured."""
    return [[one for one, _ in measured_answers(response.text)] for response in responses]


def answers(settings: EngineSettings, prompts: Sequence, engine: str = "transformers") -> list[Response]:
    """The answer to each prompt: contents, or lists of token ids."""
    loaded = load_engine(engine, changed_settings(settings, engine))
    are_ids = all(isinstance(prompt, list) and isinstance(prompt[0], int) for prompt in prompts)
    return answered(loaded, prepared(prompts) if are_ids else loaded.prepare(prompts))


#: A vocabulary that is rich in line ends.
PIECES = [" ", "\n", " \n", "a", " b", "c\n", "\nd", "e\nf", "\n\n"]


def save_babbler(folder: Path, pieces: Sequence[str] = PIECES, end: int | None = None, seed: int = 0) -> None:
    """A model folder with random weights and this vocabulary. end: the number of the piece that ends an answer."""
    words = Tokenizer(WordLevel({piece: id for id, piece in enumerate(pieces)}, unk_token=pieces[0]))
    words.pre_tokenizer = pre_tokenizers.Sequence([Split("|", "removed"), Split("<", "isolated")])
    words.decoder = Fuse()
    ends = {} if end is None else {"eos_token": pieces[end]}
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token=pieces[end or 0], **ends).save_pretrained(folder)
    torch.manual_seed(seed)
    shape = LlamaConfig(
        vocab_size=len(pieces), hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=256, initializer_range=1.0, bos_token_id=None, eos_token_id=end, pad_token_id=end or 0,
    )  # fmt: skip
    LlamaForCausalLM(shape).save_pretrained(folder)


def babble(count: int) -> list[str]:
    """Prompts of different lengths in the words of `PIECES`."""
    return ["|".join(PIECES[(n * k) % len(PIECES)] for k in range(1, 4 + n % 5)) for n in range(1, count)]
