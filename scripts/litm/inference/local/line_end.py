"""Where an answer ends: at an end token, or at the end of the first line, which is all that a scorer may read."""

from collections.abc import Sequence

import torch
from transformers import StoppingCriteria

from litm.domain.finish_reason import LENGTH, STOP


class LineEnd:
    """Tells from token ids where the first line that is not blank ends.

    For each token of the vocabulary: has_text (something other than white space), has_end (a line end), and
    closes (a line end behind text of its own); bool tensors of (vocabulary,). Special tokens count as no text.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.has_text = torch.tensor([bool(piece.strip()) for piece in pieces])
        self.has_end = torch.tensor(["\n" in piece for piece in pieces])
        self.closes = torch.tensor(["\n" in piece.lstrip() for piece in pieces])

    def find(self, ids: Sequence[int]) -> int | None:
        """How many ids it takes to the end of the first line that is not blank; None if it does not end."""
        seen_text = False
        for count, id in enumerate(ids, start=1):
            if self.closes[id] or (seen_text and self.has_end[id]):
                return count
            seen_text = seen_text or bool(self.has_text[id])
        return None


class StopAtLineEnd(StoppingCriteria):
    """Stops each sequence of a batch at the end of its first line that is not blank."""

    def __init__(self, line_end: LineEnd) -> None:
        self.line_end = line_end
        self.seen_text: torch.Tensor | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor | None, **kwargs) -> torch.Tensor:
        last = input_ids[:, -1].to("cpu")
        if self.seen_text is None:
            self.seen_text = torch.zeros(len(last), dtype=torch.bool)
        done = self.line_end.closes[last] | (self.seen_text & self.line_end.has_end[last])
        self.seen_text |= self.line_end.has_text[last]
        return done.to(input_ids.device)


def cut_answer(output: Sequence[int], end_tokens: Sequence[int], line_end: LineEnd | None) -> tuple[list[int], str]:
    """What belongs to the answer of a row that went on until its whole batch was done, and why it ended.

    An end token is not part of the answer. The reason is 'stop', or 'length' at the limit of new tokens.
    """
    ends = [index for index, id in enumerate(output) if id in end_tokens][:1]
    answer = list(output[: ends[0]] if ends else output)
    line = line_end.find(answer) if line_end else None
    if line is not None:
        return answer[:line], STOP
    return answer, STOP if ends else LENGTH
