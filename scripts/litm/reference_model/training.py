"""Training: a step depends only on the recipe, its number and the weights, so a stopped run resumes unchanged."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

import torch
from tokenizers import Encoding
from torch.nn import functional
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from litm.reference_model.lessons import Lesson, Query, Teacher
from litm.reference_model.network import (
    ANSWER,
    DOCUMENT,
    HINTED_LAYER,
    NAME,
    QUESTION,
    ROLES,
    Muon,
    attention_scaling,
    initialise,
    make_network,
    recorded,
)
from litm.reference_model.recipe import Recipe, rate_factor

#: Tokens of a context, drawn at random, that get a hint about their document.
_DOCUMENT_HINTS = 96


@dataclass(frozen=True, slots=True)
class Hint:
    """A place where a head should attend: from one token of a sequence to another.

    Roles: a document's tokens attend to its number; the word after a name in a query attends to the end of that name in
    the context; the end of a query attends to that word; the token before each answer token attends to that token in
    the context.
    """

    role: str
    sequence: int
    row: int
    column: int


@dataclass(frozen=True)
class Batch:
    """B lessons of T tokens. All tensors (B, T), but mask (B, 1, T, T), True where a token is seen.

    labels: the next token; weights: of its loss, 0 for no loss; answers: number of the answer that the label belongs
    to, from 1, else 0; decides: whether the label is the first token that distinguishes this answer from others.
    """

    task: str
    size: int
    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    labels: torch.Tensor
    answers: torch.Tensor
    decides: torch.Tensor
    hints: tuple[Hint, ...]


@dataclass
class _Sequence:
    """Facts about each token, see `Batch`; groups: 0 in the context, then the number of the query."""

    tokens: list[int]
    positions: list[int]
    labels: list[int]
    answers: list[int]
    decides: list[int]
    groups: list[int]

    @classmethod
    def of_context(cls, tokens: Sequence[int]) -> "_Sequence":
        nothing = [0] * len(tokens)
        return cls(list(tokens), list(range(len(tokens))), *(list(nothing) for _ in range(4)))

    def add_query(self, start: int, prompt: Sequence[int], answer: Sequence[int], end: int, deciding: int) -> None:
        """Add a query at position `start`; `end` follows the answer, whose token `deciding` decides."""
        silent, group, spoken = len(prompt) - 1, self.groups[-1] + 1, len(answer) + 1
        self.tokens += [*prompt, *answer]
        self.positions += range(start, start + silent + spoken)
        self.labels += [0] * silent + [*answer, end]
        self.answers += [0] * silent + [group] * spoken
        self.decides += [0] * silent + [int(index == deciding) for index in range(spoken)]
        self.groups += [group] * (silent + spoken)


def pack(lessons: Sequence[Lesson], tokenizer: PreTrainedTokenizerFast, rng: Random) -> Batch:
    """One sequence per lesson, padded on the right; all lessons have one task and size. `rng` draws hints."""
    hints: list[Hint] = []
    sequences = [_pack_lesson(lesson, number, tokenizer, hints, rng) for number, lesson in enumerate(lessons)]
    tokens = _padded((one.tokens for one in sequences), tokenizer.pad_token_id)
    groups = _padded((one.groups for one in sequences), 0)
    length = tokens.shape[1]
    seen = (groups[:, :, None] == groups[:, None, :]) | (groups[:, None, :] == 0)
    return Batch(
        lessons[0].task,
        lessons[0].size,
        tokens,
        _padded((one.positions for one in sequences), 0),
        (seen & torch.ones(length, length, dtype=torch.bool).tril())[:, None],
        _padded((one.labels for one in sequences), 0),
        _padded((one.answers for one in sequences), 0),
        _padded((one.decides for one in sequences), 0).bool(),
        tuple(hints),
    )


def _padded(rows: Iterable[list[int]], filler: int) -> torch.Tensor:
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=filler)


def _pack_lesson(
    lesson: Lesson, number: int, tokenizer: PreTrainedTokenizerFast, hints: list[Hint], rng: Random
) -> _Sequence:
    texts = [text for query in lesson.queries for text in (query.prompt, f" {query.answer}")]
    context, *encoded = tokenizer.backend_tokenizer.encode_batch([lesson.context, *texts])
    sequence = _Sequence.of_context(context.ids)
    hints += _document_hints(lesson, number, context, rng)
    for query, prompt, answer in zip(lesson.queries, encoded[::2], encoded[1::2], strict=True):
        hints += _query_hints(query, number, len(sequence.tokens), context, prompt, answer)
        # All values of a JSON object begin with a quotation mark.
        deciding = int(query.answer.startswith('"'))
        sequence.add_query(len(context.ids), prompt.ids, answer.ids, tokenizer.eos_token_id, deciding)
    return sequence


def _document_hints(lesson: Lesson, number: int, context: Encoding, rng: Random) -> Iterator[Hint]:
    for start, end in lesson.documents:
        # "Document" is one token, the number and the text up to the title another; with more tokens, the first would
        # not distinguish documents.
        label = _token_at(context, start) + 1
        assert lesson.context[slice(*context.offsets[label])].endswith("(Title:")
        rows = range(label + 1, _token_at(context, end - 1) + 1)
        drawn = rng.sample(rows, min(len(rows), _DOCUMENT_HINTS // len(lesson.documents)))
        yield from (Hint(DOCUMENT, number, row, label) for row in drawn)


def _query_hints(
    query: Query, number: int, offset: int, context: Encoding, prompt: Encoding, answer: Encoding
) -> list[Hint]:
    """offset: the first token of the query in its sequence."""
    cue, end = offset + _token_at(prompt, query.cue), offset + len(prompt.ids) - 1
    source = _token_at(context, query.source)
    return [
        Hint(NAME, number, cue, _token_at(context, query.match)),
        Hint(QUESTION, number, end, cue),
        *(Hint(ANSWER, number, end + index, source + index) for index in range(len(answer.ids))),
    ]


def _token_at(encoding: Encoding, place: int) -> int:
    """The token that contains the character at this offset."""
    token = encoding.char_to_token(place)
    assert token is not None
    return token


def answer_logits(network: LlamaForCausalLM, batch: Batch) -> torch.Tensor:
    """The logits (N, vocabulary) before each answer token, in the order of the batch."""
    mask = torch.zeros(batch.mask.shape).masked_fill(~batch.mask, float("-inf"))
    hidden = network.model(
        input_ids=batch.tokens, position_ids=batch.positions, attention_mask=mask, use_cache=False
    ).last_hidden_state
    return network.lm_head(hidden[batch.answers > 0]).float()


def answer_loss(logits: torch.Tensor, batch: Batch, deciding: float) -> torch.Tensor:
    """Mean cross-entropy of answer tokens, with weight `deciding` for the deciding ones."""
    spoken = batch.answers > 0
    losses = functional.cross_entropy(logits, batch.labels[spoken], reduction="none")
    weights = 1 + (deciding - 1) * batch.decides[spoken]
    return (losses * weights).sum() / weights.sum()


def hint_losses(hints: Iterable[Hint], mask: torch.Tensor, scaling: float) -> dict[str, torch.Tensor]:
    """By role, the mean negative log attention to the hinted token in the last forward pass."""
    hints = list(hints)
    by_role = {role: [hint for hint in hints if hint.role == role] for role in ROLES}
    return {role: _hint_loss(role, of_role, mask, scaling) for role, of_role in by_role.items() if of_role}


def _hint_loss(role: str, hints: list[Hint], mask: torch.Tensor, scaling: float) -> torch.Tensor:
    query, key = (tensor[:, -1] for tensor in recorded[HINTED_LAYER[role]])
    losses = []
    for sequence in sorted({hint.sequence for hint in hints}):
        rows = [hint.row for hint in hints if hint.sequence == sequence]
        columns = torch.tensor([hint.column for hint in hints if hint.sequence == sequence])
        scores = (query[sequence, rows] @ key[sequence].T).float() * scaling
        scores = scores.masked_fill(~mask[sequence, 0, rows], float("-inf"))
        losses.append(functional.cross_entropy(scores, columns, reduction="none"))
    return torch.cat(losses).mean()


#: Largest gradient norm for parameters that are not matrices; Muon uses only directions.
_CLIP = 1.0
#: Lessons per batch, at most.
_LESSONS = 48


@dataclass(frozen=True)
class Report:
    """The task and the measures of one step.

    exact: fraction of answers with every token right, each given the right ones before it; deciding: the same for the
    deciding tokens alone; hints: losses of the hints, by role.
    """

    step: int
    tokens: int
    task: str
    size: int
    loss: float
    exact: float
    deciding: float
    hints: dict[str, float]


class Trainer:
    """A network in training. Weights are kept in single precision and used in bfloat16."""

    def __init__(self, recipe: Recipe, tokenizer: PreTrainedTokenizerFast, teacher: Teacher) -> None:
        self.recipe, self.tokenizer, self.teacher = recipe, tokenizer, teacher
        self.master = make_network(recipe.shape, tokenizer)
        initialise(self.master, torch.Generator().manual_seed(recipe.seed))
        self.network = _in_bfloat16(self.master)
        matrices, others = _matrices_and_others(self.master)
        self.muon = Muon(matrices, recipe.rates.matrices)
        self.adam = torch.optim.AdamW(others, recipe.rates.others, betas=(0.9, 0.95), weight_decay=0.0)
        self.others = others
        self.reports: list[Report] = []

    @property
    def step(self) -> int:
        """The number of finished steps."""
        return len(self.reports)

    def state(self) -> dict[str, Any]:
        """The state that `resume` needs."""
        return {
            "weights": self.master.state_dict(),
            "muon": self.muon.state_dict(),
            "adam": self.adam.state_dict(),
            "reports": [asdict(report) for report in self.reports],
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Resume from a `state` of a training by the same recipe, or one that differs only in later steps."""
        self.master.load_state_dict(state["weights"])
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])
        self.reports = [Report(**report) for report in state["reports"]]
        _copy_weights(self.master, self.network)

    def train(self) -> Iterator[Report]:
        """The remaining steps, one report each."""
        while self.step < self.recipe.steps:
            report = self._take_step(self._make_batch())
            self.reports.append(report)
            yield report

    def _make_batch(self) -> Batch:
        rng = Random(f"{self.recipe.seed}/reference_model/{self.step}")
        courses = list(self.recipe.stage_at(self.step).courses.items())
        ((task, course),) = rng.choices(courses, [course.share for _, course in courses])
        size = rng.randint(*course.sizes)
        first = self.teacher.lesson(task, size, course.queries, rng)
        more = range(self._room_beside(first))
        lessons = [first, *(self.teacher.lesson(task, size, course.queries, rng) for _ in more)]
        return pack(lessons, self.tokenizer, rng)

    def _room_beside(self, first: Lesson) -> int:
        """The number of further lessons like the first one that fit into its batch."""
        texts = [first.context, *(query.prompt + query.answer for query in first.queries)]
        tokens = sum(len(encoding.ids) for encoding in self.tokenizer.backend_tokenizer.encode_batch(texts))
        return min(_LESSONS, max(1, self.recipe.batch_tokens // tokens)) - 1

    def _take_step(self, batch: Batch) -> Report:
        factor = rate_factor(self.recipe, self.step)
        for optimizer, rate in ((self.muon, self.recipe.rates.matrices), (self.adam, self.recipe.rates.others)):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
        logits = answer_logits(self.network, batch)
        loss = answer_loss(logits, batch, self.recipe.deciding)
        hints = hint_losses(batch.hints, batch.mask, attention_scaling(self.network)) if self.recipe.hints else {}
        (loss + self.recipe.hints * sum(hints.values())).backward()
        _move_gradients(self.network, self.master)
        torch.nn.utils.clip_grad_norm_(self.others, _CLIP)
        self.muon.step()
        self.adam.step()
        self.master.zero_grad()
        _copy_weights(self.master, self.network)
        exact, deciding = measure(logits.detach(), batch)
        by_role = {role: value.item() for role, value in hints.items()}
        return Report(self.step, batch.tokens.numel(), batch.task, batch.size, loss.item(), exact, deciding, by_role)


def measure(logits: torch.Tensor, batch: Batch) -> tuple[float, float]:
    """(fraction of answers with all tokens right, fraction of deciding tokens that are right)."""
    spoken = batch.answers > 0
    right = logits.argmax(-1) == batch.labels[spoken]
    # Answers are numbered within each sequence: offsets make the numbers distinct over the batch.
    sequences = torch.arange(len(spoken))[:, None] * (int(batch.answers.max()) + 1)
    numbers = torch.unique((batch.answers + sequences)[spoken], return_inverse=True)[1]
    wrong = torch.zeros(int(numbers.max()) + 1).index_add_(0, numbers, (~right).float())
    return (wrong == 0).float().mean().item(), right[batch.decides[spoken]].float().mean().item()


def _matrices_and_others(network: LlamaForCausalLM) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    named = [(name, parameter) for name, parameter in network.named_parameters()]
    is_matrix = [parameter.ndim == 2 and "embed_tokens" not in name for name, parameter in named]
    return (
        [parameter for (_, parameter), matrix in zip(named, is_matrix, strict=True) if matrix],
        [parameter for (_, parameter), matrix in zip(named, is_matrix, strict=True) if not matrix],
    )


def _in_bfloat16(master: LlamaForCausalLM) -> LlamaForCausalLM:
    network = deepcopy(master).bfloat16()
    network.tie_weights()
    return network


@torch.no_grad()
def _copy_weights(source: LlamaForCausalLM, target: LlamaForCausalLM) -> None:
    for one, other in zip(source.parameters(), target.parameters(), strict=True):
        other.copy_(one)


def _move_gradients(source: LlamaForCausalLM, target: LlamaForCausalLM) -> None:
    for one, other in zip(source.parameters(), target.parameters(), strict=True):
        assert one.grad is not None
        other.grad, one.grad = one.grad.float(), None


def recent(reports: Sequence[Report]) -> str:
    """One line on some steps: means of loss and accuracy per task, then of the hints."""
    parts = []
    for task in sorted({report.task for report in reports}):
        of_task = [report for report in reports if report.task == task]
        loss, exact, deciding = (
            sum(getattr(report, field) for report in of_task) / len(of_task) for field in ("loss", "exact", "deciding")
        )
        parts.append(f"{task} loss {loss:.2f}, exact {exact:.2f}, deciding {deciding:.2f}")
    for role in ROLES:
        values = [report.hints[role] for report in reports if role in report.hints]
        parts += [f"{role} {sum(values) / len(values):.2f}"] if values else []
    return "; ".join(parts)
