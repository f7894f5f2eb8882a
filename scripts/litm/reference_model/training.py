"""Training: a step depends only on the recipe, its number and the weights, so a stopped run resumes unchanged."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from litm.reference_model.initial import initialise
from litm.reference_model.lessons import Lesson, Teacher
from litm.reference_model.muon import Muon
from litm.reference_model.network import answer_logits, answer_loss, attention_scaling, hint_losses, make_network
from litm.reference_model.packing import ROLES, Batch, pack
from litm.reference_model.recipe import Recipe, rate_factor

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
        courses = self.recipe.stage_at(self.step).courses
        (course,) = rng.choices(courses, [course.share for course in courses])
        size = rng.randint(course.smallest, course.largest)
        first = self.teacher.lesson(course, size, rng)
        lessons = [first, *(self.teacher.lesson(course, size, rng) for _ in range(self._room_beside(first)))]
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
