"""Models that score texts: encoders, whose vectors are compared, and cross-encoders, which read two texts at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.models.configuration import context_window_of
from litm.models.devices import choose_device, length_sorted_batches
from litm.models.files import check_safe_weights
from litm.models.identity import DIGESTS, FileDigests, check_identified

transformers_logging.disable_progress_bar()


#: Tokens per batch, including padding, unless a retriever sets its own: small batches are faster on a CPU.
BATCH_TOKENS = {"cpu": 4096, "cuda": 65536}


@dataclass(frozen=True)
class EncoderSettings:
    """The settings that change a vector.

    location: a folder or a hub name, with its commit; pooling: 'mean' of the last layer over the text's tokens, or the
    first token ('cls'); normalize: to unit length, so that the inner product is the cosine; max_tokens: longer texts
    are cut; dtype: of the computation.
    """

    location: str
    revision: str | None
    pooling: str
    normalize: bool
    max_tokens: int
    dtype: str


class Encoder:
    """A loaded encoder."""

    def __init__(
        self,
        settings: EncoderSettings,
        device: str,
        batch_tokens: int | None = None,
        check_source: Callable[[], None] = lambda: None,
    ) -> None:
        self._check_source = check_source
        check_source()
        self.settings = settings
        self.device = choose_device(device)
        self.batch_tokens = batch_tokens or BATCH_TOKENS[self.device.type]
        check_safe_weights(settings.location, settings.revision)
        with loading(f"encoder {settings.location}"):
            self.tokenizer = AutoTokenizer.from_pretrained(
                settings.location, revision=settings.revision, trust_remote_code=False
            )
            model = AutoModel.from_pretrained(
                settings.location,
                revision=settings.revision,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=getattr(torch, settings.dtype),
            )
        if model.config.is_encoder_decoder:
            raise UserError(f"encoder {settings.location} is an encoder-decoder, only encoders can be used here")
        window = context_window_of(model.config)
        if window is not None and settings.max_tokens > window:
            raise UserError(
                f"encoder {settings.location} takes at most {window} tokens: set the retriever's 'max_tokens', "
                f"which is {settings.max_tokens}, to that or less"
            )
        self.model = model.to(self.device).eval()
        self.dimension: int = model.config.hidden_size
        #: Half-precision models store half-precision vectors.
        self.vector_dtype = "float32" if settings.dtype == "float32" else "float16"
        #: Number of texts longer than `max_tokens`, so far.
        self.cut = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of the texts, float32 (texts, dimension), in order."""
        longest = self.settings.max_tokens
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
        return sum(len(ids) > self.settings.max_tokens for ids in self._tokenize(texts))

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer(list(texts), verbose=False)["input_ids"] if texts else []

    @torch.inference_mode()
    def _encode_batch(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        width = max(len(ids) for ids in batch)
        # Padding is masked out of attention and mean, so any token works.
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in batch], device=self.device)
        lengths = torch.tensor([len(ids) for ids in batch], device=self.device)
        mask = torch.arange(width, device=self.device)[None, :] < lengths[:, None]
        try:
            hidden = self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"out of memory on {self.device} with a batch of {len(batch)} texts: set the retriever's "
                f"'batch_tokens' below {self.batch_tokens} and run again; what was encoded is kept"
            ) from error
        pooled = pool(hidden, mask, self.settings.pooling).float()
        if self.settings.normalize:
            pooled = torch.nn.functional.normalize(pooled, dim=-1)
        return pooled.cpu().numpy()


def load_encoder(
    source: Mapping, encoding: Mapping, device: str, batch_tokens: int | None, digests: str = DIGESTS
) -> Encoder:
    """The encoder in an output of identify_model.py, with the catalogue's settings.

    digests: the folder of `FileDigests`. Encoding raises `UserError` if the model's files have changed since they were
    identified.
    """
    known = FileDigests(digests, source["location"])
    settings = EncoderSettings(
        location=source["location"],
        revision=source["revision"],
        pooling=encoding["pooling"],
        normalize=encoding["normalize"],
        max_tokens=encoding["max_tokens"],
        dtype=encoding["dtype"],
    )
    return Encoder(
        settings,
        device,
        batch_tokens,
        lambda: check_identified("of the retriever", source, None, known.sha256, identified_by="identify_encoder"),
    )


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """One vector per text (texts, dimension), from hidden states (texts, tokens, dimension) and the mask of real
    tokens.
    """
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask[..., None].to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


Pair = tuple[str, str]


class CrossEncoder:
    """A loaded cross-encoder.

    source: the output of identify_model.py; max_tokens: longer pairs are cut; check_source: raises `UserError` if the
    model's files have changed since they were identified.
    """

    def __init__(
        self,
        source: Mapping,
        max_tokens: int,
        dtype: str,
        device: str,
        batch_tokens: int | None = None,
        check_source: Callable[[], None] = lambda: None,
    ) -> None:
        location, revision = source["location"], source["revision"]
        self._check_source = check_source
        check_source()
        self.device = choose_device(device)
        self.batch_tokens = batch_tokens or BATCH_TOKENS[self.device.type]
        check_safe_weights(location, revision)
        with loading(f"cross-encoder {location}"):
            self.tokenizer = AutoTokenizer.from_pretrained(location, revision=revision, trust_remote_code=False)
            model = AutoModelForSequenceClassification.from_pretrained(
                location, revision=revision, trust_remote_code=False, use_safetensors=True, dtype=getattr(torch, dtype)
            )
        if model.config.num_labels != 1:
            raise UserError(
                f"cross-encoder {location} has {model.config.num_labels} scores for a pair, a reranker has one: take a "
                "model that was made for ranking"
            )
        window = context_window_of(model.config)
        if window is not None and max_tokens > window:
            raise UserError(
                f"cross-encoder {location} takes at most {window} tokens: set the reranker's 'max_tokens', which is "
                f"{max_tokens}, to that or less"
            )
        self.max_tokens = max_tokens
        self.model = model.to(self.device).eval()

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

    @torch.inference_mode()
    def _score_batch(self, batch: dict[str, list]) -> np.ndarray:
        padded = self.tokenizer.pad(batch, return_tensors="pt").to(self.device)
        try:
            logits = self.model(**padded).logits
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"out of memory on {self.device} with a batch of {len(batch['input_ids'])} pairs: set the reranker's "
                f"'batch_tokens' below {self.batch_tokens} and run again; what was scored is kept"
            ) from error
        return logits.float().cpu().numpy()


def load_cross_encoder(source: Mapping, settings: Mapping, device: str, batch_tokens: int) -> CrossEncoder:
    """The cross-encoder in an output of identify_model.py, with the catalogue's settings."""
    known = FileDigests(DIGESTS, source["location"])

    def check_source() -> None:
        check_identified("of the reranker", source, None, known.sha256, identified_by="identify_reranker")

    return CrossEncoder(source, settings["max_tokens"], settings["dtype"], device, batch_tokens or None, check_source)
