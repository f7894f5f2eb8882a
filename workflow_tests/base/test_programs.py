"""Programs: their options are their parameters, and their help needs no library that takes long to import."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from conftest import ROOT
from programs import load_program, loaded_by

from litm.base.cli import ENDING, options_of, program

PROGRAMS = sorted(path for path in ROOT.glob("scripts/*/*.py") if path.parent.name != "litm")


@dataclass(frozen=True)
class Shared:
    """Options of several programs.

    device: where it runs
    """

    device: str
    threads: int = 1


A = Path("a")


def no_options() -> None: ...


def named(a_file: Path, count: int, text: str = "x") -> None: ...


def listed(files: tuple[Path, ...], more: tuple[int, ...] = (), pairs: tuple[list[str], ...] = ()) -> None: ...


def optional(model: str | None = None, settings: dict | None = None, *, is_quiet: bool = False) -> None: ...


def chosen(kind: Annotated[str, ["a", "b"]], halves: Annotated[float, lambda text: float(text) / 2] = 0.5) -> None: ...


def grouped(shared: Shared, model: str) -> None: ...


@pytest.mark.parametrize(
    ("main", "words", "expected"),
    [
        (no_options, "", {}),
        (named, "--a-file f --count 2", {"a_file": Path("f"), "count": 2, "text": "x"}),
        (named, "--a-file f", "the following arguments are required: --count"),
        (named, "--a-file f --count x", "argument --count: invalid int value: 'x'"),
        (named, "--a-file f --count 2 --other 3", "unrecognized arguments: --other 3"),
        (listed, "--files a b", {"files": (A, Path("b")), "more": (), "pairs": ()}),
        (listed, "--files", "argument --files: expected at least one argument"),
        (listed, "--files a --more --pairs a b --pairs c", {"files": (A,), "more": (), "pairs": (["a", "b"], ["c"])}),
        # The rules give an option without a value where an input is missing.
        (optional, "--model --settings", {"model": None, "settings": None, "is_quiet": False}),
        (optional, '--settings {"a":1} --is-quiet', {"model": None, "settings": {"a": 1}, "is_quiet": True}),
        (optional, "--settings [1]", "argument --settings: not a JSON object"),
        (optional, "--settings {", "argument --settings: not JSON: Expecting property name"),
        (chosen, "--kind a --halves 3", {"kind": "a", "halves": 1.5}),
        (chosen, "--kind c", "argument --kind: invalid choice: 'c' (choose from"),
        (grouped, "--model m --device cpu", {"shared": Shared("cpu"), "model": "m"}),
        (grouped, "--model m", "the following arguments are required: --device"),
    ],
)
def test_the_options_of_a_program_are_the_parameters_of_its_function(main, words, expected, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["program", *words.split()])
    if isinstance(expected, Mapping):
        assert options_of(main) == expected
        return
    with pytest.raises(SystemExit) as end:
        options_of(main)
    assert end.value.code == 2 and expected in capsys.readouterr().err


def test_the_help_has_the_descriptions_of_the_module_and_of_shared_options(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["program", "--help"])
    monkeypatch.setitem(globals(), "__doc__", "Do it: with 5 % more.\n\nmodel: its name,\nas a word\n")
    with pytest.raises(SystemExit) as end:
        program(grouped)()
    said = " ".join(capsys.readouterr().out.split())
    assert end.value.code == 0 and " Do it: with 5 % more. options: " in said
    assert " --model MODEL its name, as a word --device DEVICE where it runs " in said


def test_no_program_imports_a_slow_library_for_its_help_or_a_wrong_option():
    loaded = loaded_by("import runpy; [runpy.run_path(program) for program in sys.argv[1:]]", *PROGRAMS)
    assert not {"pandas", "torch", "transformers", "matplotlib", "scipy"} & loaded


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_a_program_says_of_its_options_is_of_options_that_it_has(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    main = load_program(path.stem).main
    if path.stem == "run_snakemake":
        pytest.skip("all of its options are Snakemake's")
    with pytest.raises(SystemExit):
        main()
    *_, options = capsys.readouterr().out.partition("options:")
    for line in (main.__globals__["__doc__"] or "").splitlines():
        name, colon, _ = line.partition(": ")
        if colon and name.isidentifier():
            assert f"--{name.replace('_', '-')} " in options


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_in_pythons_own_end_changes_nothing_of_a_finished_program(number, tmp_path):
    path = tmp_path / "finished.py"
    path.write_text(
        "import atexit, os\nfrom litm.base.cli import run\n"
        f"atexit.register(lambda: os.kill(os.getpid(), {number:d}))\nrun(lambda: None)\n"
    )
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
