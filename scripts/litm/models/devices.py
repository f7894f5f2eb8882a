"""Devices: the device that a model runs on, and the GPUs that a local job takes.

Snakemake counts the GPUs of local jobs but does not assign them, so a job locks a file for each GPU that it takes.
SLURM assigns GPUs itself.
"""

import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, BinaryIO

from litm.base.messages import UserError, note
from litm.base.store import lock

if TYPE_CHECKING:
    import torch

VISIBLE = "CUDA_VISIBLE_DEVICES"
#: Its values that hide all GPUs.
HIDING = ("", "-1", "NoDevFiles")
SECONDS_BETWEEN_TRIES = 1.0
#: Files kept open until the process ends: closing a file unlocks it.
_held: list[BinaryIO] = []


def device_name(device: "torch.device") -> str:
    """The name of the GPU, or the kind of another device."""
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def has_gpu(devices: Path = Path("/dev")) -> bool:
    """Whether this machine has a GPU of NVIDIA or AMD, by its device files, that is not hidden and that torch can use.

    torch is not imported; where it is not installed, as in an environment with Snakemake alone, it can use GPUs. Under
    Windows (WSL) any GPU has the file dxg, and those of NVIDIA come with nvidia-smi.
    """
    if os.environ.get(VISIBLE) in HIDING or _torch_is_for_processors():
        return False
    if (devices / "dxg").exists():
        return which("nvidia-smi") is not None
    return any(devices.glob("nvidia[0-9]*")) or (devices / "kfd").exists()


@cache
def _torch_is_for_processors() -> bool:
    """Whether the installed torch is a build without CUDA and ROCm, by its version file."""
    spec = find_spec("torch")
    version = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if version is None or not version.is_file():
        return False
    kinds = re.findall(r"^(?:cuda|hip)\b.*= *(.+)$", version.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(kinds) and set(kinds) == {"None"}


def choose_device(name: str, gpus: int = 1) -> "torch.device":
    """The device of that name, for 'auto' a GPU if there is one; `UserError` if it does not exist.

    For 'auto' and 'cuda' this process waits for `gpus` GPUs that no other job uses, and sees only those from then on.
    This must come before anything is put on a GPU, which fixes the visible ones.
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
    """Wait for `count` GPUs that no other job of this user uses, and take them; returns the value for `VISIBLE`.

    present: number of GPUs that the process sees. None if SLURM has assigned them or there are none. Raises `UserError`
    if there are fewer than `count`.
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
    """Lock the first `count` GPUs that no other process has locked, or none if fewer are free; returns their names."""
    files: dict[str, BinaryIO] = {}
    for name in names:
        if len(files) < count and (file := _locked(name)):
            files[name] = file
    if len(files) < count:
        # Released: two jobs that each hold one GPU and wait for another would wait for ever.
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
