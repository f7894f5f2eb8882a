"""The device that a model runs on."""

import os

import torch

from litm.errors import UserError
from litm.gpu_picker import VISIBLE, claim_gpus


def device_name(device: torch.device) -> str:
    """The name of the GPU, or the kind of another device."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def choose_device(name: str, gpus: int = 1) -> torch.device:
    """The device of that name, for 'auto' a GPU if there is one; `UserError` for one that is not there.

    Of 'auto' and 'cuda' this process sees only `gpus` that no other job uses from then on; it waits for them. That
    must come before anything is put on a GPU, when what a process sees of them is fixed.
    """
    if name in ("auto", "cuda") and (taken := claim_gpus(gpus, torch.cuda.device_count())):
        os.environ[VISIBLE] = taken
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise UserError(
                f"device {name} is not there: torch sees {count} CUDA device(s); set 'device' to auto or cpu"
            )
    return device
