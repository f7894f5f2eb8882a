"""Cross-encoders: a score for each pair of question and document, by any sequence classifier with one output
(sentence-transformers' CrossEncoder; Nogueira & Cho 2019).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.models.batches import length_sorted_batches
from litm.models.context_window import context_window_of
from litm.models.devices import choose_device
from litm.models.file_digests import DIGESTS, FileDigests
from litm.models.identity import check_identified
from litm.models.weights import check_safe_weights
from litm.retrieval.encoder import BATCH_TOKENS

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
