"""Muon optimizer: momentum with matrices orthogonalised before each step (Jordan et al. 2024)."""

from collections.abc import Iterable

import torch

#: Coefficients of the quintic Newton-Schulz iteration.
_A, _B, _C = 3.4445, -4.7750, 2.0315


def orthogonalised(matrices: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """The matrices (N, rows, columns) with all singular values near 1."""
    x = matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for _ in range(steps):
        gram = x @ x.mT
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """For matrices; all matrices of one shape are updated together."""

    def __init__(self, parameters: Iterable[torch.Tensor], lr: float, momentum: float = 0.95):
        super().__init__(list(parameters), {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            shapes: dict[torch.Size, list[torch.Tensor]] = {}
            for parameter in group["params"]:
                shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in shapes.items():
                updates = []
                for parameter in parameters:
                    state = self.state[parameter]
                    assert parameter.grad is not None
                    buffer = state.setdefault("momentum", torch.zeros_like(parameter))
                    buffer.mul_(group["momentum"]).add_(parameter.grad)
                    updates.append(parameter.grad.add(buffer, alpha=group["momentum"]))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(parameters, orthogonalised(torch.stack(updates)), strict=True):
                    parameter.add_(update, alpha=-scale)
