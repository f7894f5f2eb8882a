"""First-line stop rule on token ids: an answer ends at an end token, or after its first line if only that is scored."""

from collections.abc import Sequence

import torch
from transformers import StoppingCriteria

from litm.domain.finish_reason import LENGTH, STOP


class LineEnd:
    """Finds the end of the first non-blank line in token ids.

    Bool tensors of (vocabulary,): has_text (the token has something other than white space), has_end (a line end),
    closes (a line end after its own text). Special tokens count as no text.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.has_text = torch.tensor([bool(piece.strip()) for piece in pieces])
        self.has_end = torch.tensor(["\n" in piece for piece in pieces])
        self.closes = torch.tensor(["\n" in piece.lstrip() for piece in pieces])

    def find(self, ids: Sequence[int]) -> int | None:
        """Number of ids up to the end of the first non-blank line; None if it does not end."""
        seen_text = False
        for count, id in enumerate(ids, start=1):
            if self.closes[id] or (seen_text and self.has_end[id]):
                return count
            seen_text = seen_text or bool(self.has_text[id])
        return None


class StopAtLineEnd(StoppingCriteria):
    """Stops each sequence of a batch at the end of its first non-blank line."""

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
    """The answer in a row that ran until its whole batch was done, and its finish reason.

    End tokens are not part of the answer. The reason is 'stop', or 'length' at the limit of new tokens.
    """
    ends = [index for index, id in enumerate(output) if id in end_tokens][:1]
    answer = list(output[: ends[0]] if ends else output)
    line = line_end.find(answer) if line_end else None
    if line is not None:
        return answer[:line], STOP
    return answer, STOP if ends else LENGTH
