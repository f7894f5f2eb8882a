"""Devices: what a model runs on, in which number format, in which batches, and the GPUs that a local job takes.

Snakemake counts the GPUs of local jobs but does not assign them, so a job locks a file for each GPU that it takes.
SLURM assigns GPUs itself.
"""

import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from litm.base.messages import UserError, note
from litm.base.store import lock

if TYPE_CHECKING:
    import torch

VISIBLE = "CUDA_VISIBLE_DEVICES"
#: Its values that hide all GPUs.
HIDING = ("", "-1", "NoDevFiles")
SECONDS_BETWEEN_TRIES = 1.0
#: Files kept open until the process ends: closing a file unlocks it.
_held: list[ExitStack] = []


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

    # PyTorch prefers cuDNN's attention on GPUs of compute capability 9.0 and 10.0. It makes a plan
    # for each new length of the keys, so for each new token.
    torch.backends.cuda.enable_cudnn_sdp(False)
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
    if not (taken := lock_free(names, count)):
        note(f"waiting for {count} of {len(names)} GPUs: others of your jobs are using them")
    while not taken:
        time.sleep(SECONDS_BETWEEN_TRIES)
        taken = lock_free(names, count)
    return ",".join(taken)


def lock_free(names: Sequence[str], count: int) -> list[str]:
    """Lock the first `count` GPUs that no other process has locked, or none if fewer are free; returns their names.

    names: numbers or UUIDs. Each GPU has a lock file of its name.
    """
    taken: list[str] = []
    # Released at the end: two jobs that each hold one GPU and wait for another would wait for ever.
    with ExitStack() as files:
        for name in names:
            path = Path(tempfile.gettempdir()) / f"litm-gpu-{os.getuid()}-{name.replace('/', '_')}.lock"
            if lock(files.enter_context(path.open("ab"))):
                taken.append(name)
            if len(taken) == count:
                _held.append(files.pop_all())
                return taken
    return []


#: The value of `dtype` that leaves the choice to the device.
AUTO = "auto"
FLOAT32, BFLOAT16, FLOAT16 = "float32", "bfloat16", "float16"
#: Flags of processors whose matrix products have instructions for a format, with their names in words.
FLAGS = {
    BFLOAT16: {"amx_bf16": "AMX", "avx512_bf16": "AVX512_BF16", "bf16": "BF16", "FEAT_BF16": "FEAT_BF16"},
    FLOAT16: {"amx_fp16": "AMX_FP16", "avx512_fp16": "AVX512_FP16", "asimdhp": "ASIMDHP", "FEAT_FP16": "FEAT_FP16"},
}
#: Values of oneDNN's own limit, the environment variable of either name, that leave out the instructions for bfloat16;
#: the last two leave out only those for float16.
ISA_LIMITS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
BELOW_BFLOAT16 = ("SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2", "AVX512_CORE", "AVX512_CORE_VNNI")
BELOW_FLOAT16 = (*BELOW_BFLOAT16, "AVX512_CORE_BF16", "AVX10_1_256")
#: The least compute capability of a GPU with instructions for a format (NVIDIA, CUDA C++ Programming Guide).
CAPABILITIES = {BFLOAT16: (8, 0), FLOAT16: (5, 3)}
#: How many times slower than in float32 a device computes in a format that it lacks: measured for products of bfloat16
#: on an EPYC with AVX2 (8.6 times), and 8 by the specification of a T4.
EMULATED_SLOWDOWN = 8


@dataclass(frozen=True)
class Device:
    """A processor or GPU."""

    name: str
    """Name in words."""
    formats: Mapping[str, str]
    """Formats with instructions of their own, and the names of these."""
    preferred: tuple[str, ...]
    """Formats that are as exact as float32 in practice, and faster where there are instructions."""


@dataclass(frozen=True)
class NumberFormat:
    """The number format of a computation."""

    name: str
    """Name of the format."""
    reason: str
    """Reason why it was taken."""
    is_emulated: bool = False
    """Whether the device lacks instructions for it."""

    def __str__(self) -> str:
        return f"{self.name}, {self.reason}"


def format_here(dtype: str, name: str = "auto", needs_range: bool = False) -> NumberFormat:
    """The format for a model whose entry says `dtype` and has this device: that one, or for `AUTO` the first of the
    preferred formats that what computes here has instructions for, else float32. That are the GPUs, if the entry allows
    it and there is one, or the processor.

    needs_range: whether the model overflows in float16, as encoder-decoders of the T5 family do.
    """
    device = gpus() if name != "cpu" and has_gpu() else processor()
    if dtype != AUTO:
        if dtype == FLOAT32 or dtype in device.formats:
            return NumberFormat(dtype, "named in the model's entry")
        slow = f"about {EMULATED_SLOWDOWN} times slower than float32"
        return NumberFormat(dtype, f"named in the model's entry, which {device.name} only emulates: {slow}", True)
    for format in device.preferred:
        if format in device.formats and not (needs_range and format == FLOAT16):
            return NumberFormat(format, f"for which {device.name} has instructions ({device.formats[format]})")
    return NumberFormat(FLOAT32, f"because {device.name} has no instructions for {BFLOAT16}")


def processor() -> Device:
    """This machine's processor; one that tells nothing about itself has only float32."""
    return Device("this processor", processor_formats(processor_flags(), os.environ), (BFLOAT16,))


def processor_formats(flags: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The formats that flags of a processor show, with the names of the instructions, within oneDNN's limit."""
    limit = next((environment[name].upper() for name in ISA_LIMITS if environment.get(name)), "")
    hidden = {BFLOAT16: BELOW_BFLOAT16, FLOAT16: BELOW_FLOAT16}
    flags = frozenset(flags)
    present = {name: [words for flag, words in by_flag.items() if flag in flags] for name, by_flag in FLAGS.items()}
    return {name: ", ".join(words) for name, words in present.items() if words and limit not in hidden[name]}


@cache
def processor_flags(system: str = platform.system(), information: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """The features that all cores have, by the operating system's names; none where it does not tell."""
    if system == "Darwin":
        return frozenset(re.findall(r"^hw\.optional\.arm\.(\w+): 1$", _output("sysctl", "hw.optional"), re.MULTILINE))
    try:
        text = information.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    cores = [frozenset(line.split()) for line in re.findall(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)]
    return frozenset.intersection(*cores) if cores else frozenset()


def gpus() -> Device:
    """The GPUs that this process may use, by the oldest; what nvidia-smi does not list is taken for a recent one."""
    rows = [row.rpartition(", ") for row in _nvidia_gpus(os.environ.get(VISIBLE, "")).splitlines()]
    name, _, capability = min(rows, key=lambda row: _version(row[2]), default=("", "", ""))
    formats = {
        format: f"compute capability {capability}" if rows else "taken for a recent one: nvidia-smi does not list it"
        for format, least in CAPABILITIES.items()
        if not rows or _version(capability) >= least
    }
    return Device(f"the GPU {name}" if name else "the GPU", formats, (BFLOAT16, FLOAT16))


@cache
def _nvidia_gpus(visible: str) -> str:
    """A line `name, compute capability` for each visible GPU."""
    chosen = ("--id", visible) if visible else ()
    return _output("nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader", *chosen).strip()


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)) or (0,)


def _output(*command: str) -> str:
    """What a command prints; nothing if it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def longest_first(lengths: Sequence[int]) -> list[int]:
    """Indices by falling length: little padding, and a lack of memory shows at once; ties keep their order."""
    return sorted(range(len(lengths)), key=lambda index: -lengths[index])


def padded_size(longest: int, new_tokens: int, count: int) -> int:
    """Tokens of a batch of `count` prompts, including padding and answers."""
    return (longest + new_tokens) * count


def next_batch(
    order: Sequence[int], start: int, lengths: Sequence[int], new_tokens: int, token_budget: int
) -> Sequence[int]:
    """The batch that starts at `order[start]`: as many successive indices as fit `token_budget`.

    The size of a batch is its `padded_size`; a prompt longer than the budget is a batch of its own.
    """
    longest = lengths[order[start]]
    end = start + 1
    while end < len(order):
        longest = max(longest, lengths[order[end]])
        if padded_size(longest, new_tokens, end + 1 - start) > token_budget:
            break
        end += 1
    return order[start:end]


def halved_budget(batch: Sequence[int], lengths: Sequence[int], new_tokens: int) -> int:
    """The token budget for the first half of a batch of two or more prompts.

    Half of the batch's size, not of the old budget, which the last batch may be far below.
    """
    half = len(batch) // 2
    return padded_size(max(lengths[index] for index in batch[:half]), new_tokens, half)


def length_sorted_batches(lengths: Sequence[int], new_tokens: int, token_budget: int) -> Iterator[Sequence[int]]:
    """Batches of indices, `longest_first`, each as `next_batch` makes it."""
    order = longest_first(lengths)
    done = 0
    while done < len(order):
        batch = next_batch(order, done, lengths, new_tokens, token_budget)
        yield batch
        done += len(batch)
