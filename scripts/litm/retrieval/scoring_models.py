"""Models that score texts: encoders, whose vectors are compared, and cross-encoders, which read two texts at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer, PreTrainedConfig
from transformers.utils import logging as transformers_logging

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.models.configuration import context_window_of
from litm.models.devices import choose_device, length_sorted_batches
from litm.models.identity import DIGESTS, FileDigests, check_identified
from litm.models.locations import check_safe_weights

transformers_logging.disable_progress_bar()


#: Tokens per batch, including padding, unless a retriever sets its own: small batches are faster on a CPU.
BATCH_TOKENS = {"cpu": 4096, "cuda": 65536}


class _ScoringModel:
    """A loaded model with its tokenizer.

    source: the output of identify_model.py; settings: those of the catalogue, with max_tokens, to which longer texts
    are cut, and dtype, of the computation; check_source: raises `UserError` if the model's files have changed since
    they were identified.
    """

    #: What it is, and whose settings it has, for messages; what it reads, and what is done with that; its class.
    kind, owner, reads, done = "", "", "", ""
    architecture: Any = None

    def __init__(
        self,
        source: Mapping,
        settings: Mapping,
        device: str,
        batch_tokens: int | None = None,
        check_source: Callable[[], None] = lambda: None,
    ) -> None:
        location, revision = source["location"], source["revision"]
        self._check_source, self.settings = check_source, settings
        check_source()
        self.device = choose_device(device)
        self.batch_tokens = batch_tokens or BATCH_TOKENS[self.device.type]
        check_safe_weights(location, revision)
        with loading(f"{self.kind} {location}"):
            self.tokenizer = AutoTokenizer.from_pretrained(location, revision=revision, trust_remote_code=False)
            dtype = getattr(torch, settings["dtype"])
            model = self.architecture.from_pretrained(
                location, revision=revision, trust_remote_code=False, use_safetensors=True, dtype=dtype
            )
        if problem := self.problem(model.config):
            raise UserError(f"{self.kind} {location} {problem}")
        self.max_tokens: int = settings["max_tokens"]
        window = context_window_of(model.config)
        if window is not None and self.max_tokens > window:
            raise UserError(
                f"{self.kind} {location} takes at most {window} tokens: set the {self.owner}'s 'max_tokens', "
                f"which is {self.max_tokens}, to that or less"
            )
        self.model = model.to(self.device).eval()

    def problem(self, config: PreTrainedConfig) -> str | None:
        """Why a model with this configuration cannot be used; None if it can."""
        raise NotImplementedError

    @torch.inference_mode()
    def run(self, inputs: Mapping[str, torch.Tensor]) -> Any:
        """What the model makes of a batch; `UserError` if the memory is too small for it."""
        try:
            return self.model(**inputs)
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"out of memory on {self.device} with a batch of {len(inputs['input_ids'])} {self.reads}: set the "
                f"{self.owner}'s 'batch_tokens' below {self.batch_tokens} and run again; what was {self.done} is kept"
            ) from error


class Encoder(_ScoringModel):
    """A loaded encoder.

    settings: also pooling, 'mean' of the last layer over the text's tokens, or the first token ('cls'); and normalize:
    to unit length, so that the inner product is the cosine.
    """

    kind, owner, reads, done = "encoder", "retriever", "texts", "encoded"
    architecture = AutoModel
    #: Number of texts longer than `max_tokens`, so far.
    cut = 0

    def problem(self, config: PreTrainedConfig) -> str | None:
        return "is an encoder-decoder, only encoders can be used here" if config.is_encoder_decoder else None

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""
        return self.model.config.hidden_size

    @property
    def vector_dtype(self) -> str:
        """Half-precision models store half-precision vectors."""
        return "float32" if self.settings["dtype"] == "float32" else "float16"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of the texts, float32 (texts, dimension), in order."""
        longest = self.max_tokens
        encoded = self._tokenize(texts)
        if cut := sum(len(ids) > longest for ids in encoded):
            self.cut += cut
            encoded = self.tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in length_sorted_batches([len(ids) for ids in encoded], 0, self.batch_tokens):
            vectors[batch] = self._encode_batch([encoded[index] for index in batch])
        # Weights on a CPU may be read from their file whenever they are needed.
        self._check_source()
        return vectors

    def count_cut(self, texts: Sequence[str]) -> int:
        """Number of texts longer than `max_tokens`."""
        return sum(len(ids) > self.max_tokens for ids in self._tokenize(texts))

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer(list(texts), verbose=False)["input_ids"] if texts else []

    def _encode_batch(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        width = max(len(ids) for ids in batch)
        # Padding is masked out of attention and mean, so any token works.
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in batch], device=self.device)
        lengths = torch.tensor([len(ids) for ids in batch], device=self.device)
        mask = torch.arange(width, device=self.device)[None, :] < lengths[:, None]
        hidden = self.run({"input_ids": ids, "attention_mask": mask.long()}).last_hidden_state
        pooled = pool(hidden, mask, self.settings["pooling"]).float()
        if self.settings["normalize"]:
            pooled = torch.nn.functional.normalize(pooled, dim=-1)
        return pooled.cpu().numpy()


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """One vector per text (texts, dimension), from hidden states (texts, tokens, dimension) and the mask of real
    tokens.
    """
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask[..., None].to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


Pair = tuple[str, str]


class CrossEncoder(_ScoringModel):
    """A loaded cross-encoder."""

    kind, owner, reads, done = "cross-encoder", "reranker", "pairs", "scored"
    architecture = AutoModelForSequenceClassification

    def problem(self, config: PreTrainedConfig) -> str | None:
        if config.num_labels == 1:
            return None
        return f"has {config.num_labels} scores for a pair, a reranker has one: take a model that was made for ranking"

    def score(self, pairs: Sequence[Pair]) -> np.ndarray:
        """The score of each (question, document) pair, float32 (pairs, 1), higher for a better document.

        Scores are raw outputs; sentence-transformers may apply a sigmoid, which keeps the order.
        """
        encoded = self._tokenize(pairs, truncation="longest_first", max_length=self.max_tokens)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        scores = np.empty((len(pairs), 1), dtype=np.float32)
        for batch in length_sorted_batches(lengths, 0, self.batch_tokens):
            scores[batch] = self._score_batch({name: [values[i] for i in batch] for name, values in encoded.items()})
        # Weights on a CPU may be read from their file whenever they are needed.
        self._check_source()
        return scores

    def count_cut(self, pairs: Sequence[Pair]) -> int:
        """Number of pairs longer than `max_tokens`."""
        return sum(len(ids) > self.max_tokens for ids in self._tokenize(pairs)["input_ids"])

    def _tokenize(self, pairs: Sequence[Pair], **options: object) -> Mapping[str, list]:
        return self.tokenizer([a for a, _ in pairs], [b for _, b in pairs], verbose=False, **options)

    def _score_batch(self, batch: dict[str, list]) -> np.ndarray:
        return self.run(self.tokenizer.pad(batch, return_tensors="pt").to(self.device)).logits.float().cpu().numpy()


def load_encoder(
    source: Mapping, encoding: Mapping, device: str, batch_tokens: int | None, digests: str = DIGESTS
) -> Encoder:
    """The encoder in an output of identify_model.py, with the settings of the catalogue; digests: see `FileDigests`."""
    return Encoder(source, encoding, device, batch_tokens, _unchanged(source, "retriever", "encoder", digests))


def load_cross_encoder(source: Mapping, settings: Mapping, device: str, batch_tokens: int) -> CrossEncoder:
    """The cross-encoder in an output of identify_model.py, with the catalogue's settings."""
    return CrossEncoder(source, settings, device, batch_tokens, _unchanged(source, "reranker", "reranker", DIGESTS))


def _unchanged(source: Mapping, owner: str, rule: str, digests: str) -> Callable[[], None]:
    files = FileDigests(digests, source["location"])
    return lambda: check_identified(f"of the {owner}", source, None, files.sha256, identified_by=f"identify_{rule}")
