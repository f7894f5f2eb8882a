"""Number formats: the one that a device computes fast and exactly, by stable facts about it."""

import os

import pytest
from programs import loaded_by

from litm.models import devices
from litm.models.devices import format_here, processor_flags, processor_formats

INTEL, AMD, ARM = "fpu avx2 avx512f amx_bf16 avx512_bf16", "fpu avx2 avx512f avx512_bf16", "fp asimd asimdhp bf16"
LAPTOP = "fpu sse4_2 avx avx2 f16c fma"


@pytest.mark.parametrize(
    ("flags", "environment", "formats"),
    [
        (INTEL, {}, {"bfloat16": "AMX, AVX512_BF16"}),
        (AMD, {}, {"bfloat16": "AVX512_BF16"}),
        (ARM, {}, {"bfloat16": "BF16", "float16": "ASIMDHP"}),
        ("FEAT_BF16 FEAT_SHA1", {}, {"bfloat16": "FEAT_BF16"}),
        (LAPTOP, {}, {}),
        ("", {}, {}),
        # oneDNN computes as if the processor had less.
        (AMD, {"ONEDNN_MAX_CPU_ISA": "avx2"}, {}),
        (AMD, {"DNNL_MAX_CPU_ISA": "AVX512_CORE_VNNI"}, {}),
        (INTEL + " avx512_fp16", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}, {"bfloat16": "AMX, AVX512_BF16"}),
        (AMD, {"ONEDNN_MAX_CPU_ISA": ""}, {"bfloat16": "AVX512_BF16"}),
    ],
)
def test_a_processor_has_the_formats_of_its_flags(flags, environment, formats):
    assert processor_formats(flags.split(), environment) == formats


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("processor : 0\nflags\t\t: avx2 avx512_bf16\n\nprocessor : 1\nflags : avx2 avx512_bf16\n", "avx2 avx512_bf16"),
        # Cores of two kinds: what one lacks is not there.
        ("Features : fp bf16\n\nFeatures : fp\n", "fp"),
        ("Processor : unknown\n", ""),
        (None, ""),
    ],
)
def test_flags_are_those_that_all_cores_have(tmp_path, text, flags):
    information = tmp_path / "cpuinfo"
    if text is not None:
        information.write_text(text)
    assert processor_flags("Linux", information) == set(flags.split())


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that gives this process a machine with these flags and NVIDIA GPUs, as nvidia-smi lists them."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program = tmp_path / "nvidia-smi"
    for limit in (*devices.ISA_LIMITS, devices.VISIBLE):
        monkeypatch.delenv(limit, raising=False)

    def be(flags: str, *cards: str) -> None:
        monkeypatch.setattr(devices, "processor_flags", lambda: frozenset(flags.split()))
        monkeypatch.setattr(devices, "has_gpu", lambda: bool(cards))
        if cards and cards != ("AMD",):
            program.write_text("\n".join(["#!/bin/sh", "cat <<'END'", *cards, "END\n"]))
            program.chmod(0o755)
        devices._nvidia_gpus.cache_clear()

    yield be
    devices._nvidia_gpus.cache_clear()


@pytest.mark.parametrize(
    ("flags", "cards", "device", "taken", "because"),
    [
        (AMD, (), "auto", "bfloat16", "this processor has instructions (AVX512_BF16)"),
        (LAPTOP, (), "auto", "float32", "this processor has no instructions for bfloat16"),
        # In float16 a processor would lose range.
        ("asimdhp", (), "auto", "float32", "no instructions for bfloat16"),
        (LAPTOP, ("NVIDIA A100-SXM4-80GB, 8.0",), "auto", "bfloat16", "the GPU NVIDIA A100-SXM4-80GB has"),
        (AMD, ("Tesla T4, 7.5",), "auto", "float16", "the GPU Tesla T4 has instructions (compute capability 7.5)"),
        (AMD, ("Tesla T4, 7.5",), "cpu", "bfloat16", "this processor"),
        (AMD, ("NVIDIA H200, 9.0", "Tesla T4, 7.5"), "cuda", "float16", "Tesla T4"),
        (LAPTOP, ("Quadro K420, 3.0",), "auto", "float32", "Quadro K420 has no instructions for bfloat16"),
        (LAPTOP, ("AMD",), "auto", "bfloat16", "nvidia-smi does not list it"),
    ],
)
def test_auto_is_what_the_device_computes_fast_and_exactly(machine, flags, cards, device, taken, because):
    machine(flags, *cards)
    found = format_here("auto", device)
    assert found.name == taken and because in found.reason and not found.is_emulated


def test_an_encoder_decoder_is_not_computed_in_float16_unless_its_entry_says_so(machine):
    machine(LAPTOP, "Tesla T4, 7.5")
    assert format_here("auto", needs_range=True).name == "float32"
    assert format_here("float16", needs_range=True).name == "float16"


@pytest.mark.parametrize(
    ("flags", "dtype", "is_emulated"),
    [(LAPTOP, "bfloat16", True), (LAPTOP, "float16", True), (LAPTOP, "float32", False), (AMD, "bfloat16", False)],
)
def test_a_format_in_the_entry_is_obeyed_and_said_to_be_slow_where_it_is_emulated(machine, flags, dtype, is_emulated):
    machine(flags)
    found = format_here(dtype)
    assert (found.name, found.is_emulated) == (dtype, is_emulated)
    assert ("8 times slower than float32" in str(found)) == is_emulated


def test_the_choice_needs_no_torch():
    assert "torch" not in loaded_by("from litm.models.devices import processor; processor()")
