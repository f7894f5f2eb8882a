"""Number formats: those in which a processor or GPU computes with instructions of its own, and the one to take."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from litm.models.devices import VISIBLE, has_gpu

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
    """A processor or GPU by its name in words. formats: those with instructions of their own, which are named;
    preferred: formats that are as exact as float32 in practice, and faster where there are instructions.
    """

    name: str
    formats: Mapping[str, str]
    preferred: tuple[str, ...]


@dataclass(frozen=True)
class NumberFormat:
    """The number format of a computation, and why it was taken; is_emulated: whether the device lacks instructions."""

    name: str
    reason: str
    is_emulated: bool = False

    def __str__(self) -> str:
        return f"{self.name}, {self.reason}"


def choose_format(dtype: str, device: Device, needs_range: bool = False) -> NumberFormat:
    """The format for a model whose entry says `dtype`: that one, or for `AUTO` the first of the device's preferred
    formats that it has instructions for, else float32.

    needs_range: whether the model overflows in float16, as encoder-decoders of the T5 family do.
    """
    if dtype != AUTO:
        if dtype == FLOAT32 or dtype in device.formats:
            return NumberFormat(dtype, "named in the model's entry")
        slow = f"about {EMULATED_SLOWDOWN} times slower than float32"
        return NumberFormat(dtype, f"named in the model's entry, which {device.name} only emulates: {slow}", True)
    for name in device.preferred:
        if name in device.formats and not (needs_range and name == FLOAT16):
            return NumberFormat(name, f"for which {device.name} has instructions ({device.formats[name]})")
    return NumberFormat(FLOAT32, f"because {device.name} has no instructions for {BFLOAT16}")


def format_here(dtype: str, device: str = "auto", needs_range: bool = False) -> NumberFormat:
    """The format of a model on this machine; dtype, device: as in its entry."""
    return choose_format(dtype, device_here(device), needs_range)


def device_here(device: str) -> Device:
    """What computes here for an entry's `device`: the GPUs, if it may be one and there is one, or the processor."""
    return gpus() if device != "cpu" and has_gpu() else processor()


def processor() -> Device:
    """This machine's processor; one that tells nothing about itself has only float32."""
    return Device("this processor", processor_formats(processor_flags(), os.environ), (BFLOAT16,))


def processor_formats(flags: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The formats that flags of a processor show, with the names of the instructions, within oneDNN's limit."""
    limit = next((environment[name].upper() for name in ISA_LIMITS if environment.get(name)), "")
    hidden = {BFLOAT16: BELOW_BFLOAT16, FLOAT16: BELOW_FLOAT16}
    own = set(flags)
    found = {name: [words for flag, words in known.items() if flag in own] for name, known in FLAGS.items()}
    return {name: ", ".join(words) for name, words in found.items() if words and limit not in hidden[name]}


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
