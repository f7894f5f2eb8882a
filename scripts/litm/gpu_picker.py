"""Which GPUs of a machine a job takes, where nothing else assigns them: a lock on a file for each.

Snakemake counts the GPUs of local jobs but does not say which is whose; SLURM does, and is left alone.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from litm.cli import note
from litm.errors import UserError

VISIBLE = "CUDA_VISIBLE_DEVICES"
SECONDS_BETWEEN_TRIES = 1.0
#: Held until the process ends, and given back by the system however it ends.
_held: list[BinaryIO] = []


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
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def lock_file(name: str) -> Path:
    """The file that stands for a GPU, by its number or its UUID."""
    safe = name.replace("/", "_")
    return Path(tempfile.gettempdir()) / f"litm-gpu-{os.getuid()}-{safe}.lock"
