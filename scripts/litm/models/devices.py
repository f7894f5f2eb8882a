"""The device that a model runs on, and which GPUs of a machine a job takes where nothing else assigns them.

Snakemake counts the GPUs of local jobs but does not say which is whose, so a job locks a file for each GPU that it
takes. SLURM does say it, and is left alone.
"""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from litm.base.errors import UserError
from litm.base.locks import lock
from litm.base.messages import note

if TYPE_CHECKING:
    import torch

VISIBLE = "CUDA_VISIBLE_DEVICES"
SECONDS_BETWEEN_TRIES = 1.0
#: Open until the process ends: a file that is closed is no longer locked.
_held: list[BinaryIO] = []


def device_name(device: "torch.device") -> str:
    """The name of the GPU, or the kind of another device."""
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def choose_device(name: str, gpus: int = 1) -> "torch.device":
    """The device of that name, for 'auto' a GPU if there is one; `UserError` for one that is not there.

    Of 'auto' and 'cuda' this process sees only `gpus` that no other job uses from then on; it waits for them. That
    must come before anything is put on a GPU, when what a process sees of them is fixed.
    """
    import torch

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


def claim_gpus(count: int, present: int, environment: Mapping[str, str] = os.environ) -> str | None:
    """Wait until `count` GPUs are free of other jobs of this user, and take them; the value that `VISIBLE` must have.

    present: how many GPUs the process sees. None where SLURM has assigned them or there are none. Raises `UserError`
    if there are fewer than wanted.
    """
    if "SLURM_JOB_ID" in environment or not present or not count:
        return None
    names = [name for name in environment.get(VISIBLE, "").split(",") if name] or [str(n) for n in range(present)]
    if count > len(names):
        raise UserError(f"{count} GPUs are wanted and {len(names)} are here: set the model's 'gpus' to at most that")
    waited = False
    while len(taken := lock_free(names, count)) < count:
        if not waited:
            note(f"waiting for {count} of {len(names)} GPUs: others of your jobs are using them")
            waited = True
        time.sleep(SECONDS_BETWEEN_TRIES)
    return ",".join(taken)


def lock_free(names: Sequence[str], count: int) -> list[str]:
    """Lock the first `count` GPUs that no other process has locked, or none if they are fewer; the names of those."""
    files: dict[str, BinaryIO] = {}
    for name in names:
        if len(files) < count and (file := _locked(name)):
            files[name] = file
    if len(files) < count:
        # Two jobs that each keep one and wait for another would wait for ever.
        for file in files.values():
            file.close()
        return []
    _held.extend(files.values())
    return list(files)


def _locked(name: str) -> BinaryIO | None:
    file = lock_file(name).open("ab")
    if lock(file):
        return file
    file.close()
    return None


def lock_file(name: str) -> Path:
    """The file that stands for a GPU, by its number or its UUID."""
    safe = name.replace("/", "_")
    return Path(tempfile.gettempdir()) / f"litm-gpu-{os.getuid()}-{safe}.lock"
