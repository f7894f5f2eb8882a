"""Fuzzed configs, changed at random or by hand: each gives a plan or one line."""

import contextlib
import io
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import outcomes
import yaml
from conftest import ROOT
from fault_server import text_of
from hypothesis import strategies as st
from mutations import changed_bytes, changed_values, results
from outcomes import REFUSED, RIGHT, TRACED, WRONG, Arena, Case, Family, Outcome, refusal_fault, refused, traceback_in
from plans import inputs_of
from snakemake.utils import update_config
from workbench import CONFIG, Workbench

from litm.base.messages import UserError
from litm.config.command_line import check_command
from litm.config.study import load_study
from litm.config.yaml_files import read_yaml

#: Numbers of configs: read in this process, per block, read by `make test-all`, planned by Snakemake.
COUNT, BLOCK, FAST_COUNT, PLANNED = 2500, 250, 60, 50
#: Entries of the catalogues, one or more of each kind of model, task, figure and data.
DEFINED = {
    "models": ["reference", "dummy", "gpt-4-0613", "qwen2.5-0.5b-instruct", "mpt-30b-instruct"],
    "experiments": [
        *("kv_retrieval_small", "mini_encyclopedia_qa", "multi_document_qa_unambiguous", "open_domain_qa"),
        "mini_encyclopedia_remedies",
    ],
    "figures": ["mini_encyclopedia_qa", "open_domain_qa", "figure1"],
    "datasets": ["nq_open_oracle", "unambiguous_questions"],
    "corpora": ["mini_encyclopedia", "wikipedia_2018"],
    "retrievers": ["bm25", "contriever"],
    "questions": ["mini_encyclopedia_questions", "nq_open_paragraphs"],
    "candidates": ["mini_encyclopedia_bm25", "nq_open_random"],
    "rerankers": ["bm25_fusion", "ms_marco_minilm"],
}
SERVED = {
    **{"engine": "openai", "api_model": "m", "base_url": "http://127.0.0.1:9/v1", "request": {"seed": 1}},
    **{"concurrency": 4, "request_timeout": 5},
}
#: What lines have in which Snakemake prints the command of a job.
COMMANDS = ("Command 'set -euo pipefail;", 'python "$LITM_SCRIPTS/')


@cache
def base_config() -> dict[str, Any]:
    """A config that selects and defines something of every kind."""
    default = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())
    define = {}
    for kind, names in DEFINED.items():
        entries = yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())
        define[kind] = {name: entries[name] for name in names}
    define["models"]["served"] = SERVED
    return {
        **default,
        "models": ["reference", "served"],
        "only": {"served": ["kv_retrieval_small"]},
        "model_defaults": {"quantization": "none"},
        "audit": {"prompts_per_cell": 2},
        "report": {"questions_per_size": 3},
        "define": define,
    }


def planned_files(path: Path) -> list[Any]:
    """The targets of what a config selects, read as the workflow's rules/common.smk does."""
    given = read_yaml(path)
    if not isinstance(given, dict):
        raise UserError(f"{path}: no mapping, which Snakemake refuses")
    config = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())
    update_config(config, given)
    inputs = inputs_of(load_study(config, ROOT))
    return [inputs.tables.files, inputs.tables.in_the_paper, inputs.exports.summaries, inputs.figures.figures]


def attack(data: bytes, folder: Path) -> Outcome:
    path = folder / "c.yaml"
    path.write_bytes(data)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            planned_files(path)
    except UserError as error:
        return refused(f"{data[:300]!r}", str(error))
    except Exception as error:
        return Outcome(f"{data[:3000]!r}", WRONG, f"{type(error).__name__}: {str(error)[:200]}")
    return Outcome("", RIGHT)


def dumped(config: Any) -> bytes:
    return yaml.safe_dump(config, sort_keys=False).encode("utf-8", "surrogatepass")


def changed_configs() -> st.SearchStrategy[bytes]:
    """The config with changed values, or sometimes with changed bytes."""
    values = changed_values(base_config()).map(dumped)
    return st.one_of(values, values, values, changed_bytes(dumped(base_config())))


def attack_block(number: int, count: int, arena: Arena) -> list[Outcome]:
    found = results(changed_configs(), number, count, lambda data: attack(data, arena.folder))
    return outcomes.counted(f"seed {number}", found)


def planned(bench: Workbench, data: bytes, case: str) -> Outcome:
    bench.path("small.yaml").write_bytes(data)
    done = bench.snakemake("--dry-run", "--quiet", "all")
    if done.returncode == 0:
        return Outcome(case, RIGHT)
    outcome = refused_by_snakemake(case, done)
    is_snakemakes = done.returncode < 0 or "not in the project" in outcome.detail
    return _explained(bench.path("small.yaml"), outcome) if outcome.result == WRONG and is_snakemakes else outcome


def _explained(config: Path, outcome: Outcome) -> Outcome:
    """Where Snakemake ends with a traceback, or is ended, by a file that it cannot read: what ./litm says."""
    said = ""
    try:
        check_command(["--configfile", str(config)])
    except UserError as error:
        said = str(error)
    if not said or refusal_fault(said):
        return Outcome(outcome.case, WRONG, f"{outcome.detail}; litm: {said[-300:]}")
    return Outcome(outcome.case, TRACED, f"litm: {said.replace(str(config), config.name)}")


def refused_by_snakemake(case: str, done: CompletedProcess) -> Outcome:
    """The outcome if Snakemake refuses: no traceback, and no line that is too long to read."""
    said = done.stdout + done.stderr
    # The command of a job that ended is Snakemake's to print, and as long as the settings.
    ours = [line for line in said.splitlines() if not any(part in line for part in COMMANDS)]
    longest = max(ours, key=len, default="")
    if fault := traceback_in(said):
        return Outcome(case, WRONG, fault)
    if not said.strip():
        return Outcome(case, WRONG, "nothing is said")
    if len(longest) >= outcomes.LONGEST_LINE:
        return Outcome(case, WRONG, f"a line of {len(longest)} characters: {longest[:200]}")
    return Outcome(case, REFUSED, said.strip()[-300:])


def attack_plans(arena: Arena) -> Iterator[Outcome]:
    """Let Snakemake plan some of them; it and this process must agree."""
    bench = arena.project().moved_to(arena.folder / "bench")
    for data in results(changed_configs(), 0, PLANNED, lambda data: data):
        here, there = attack(data, arena.folder), planned(bench, data, f"{data[:200]!r}")
        if there.result != WRONG and here.result == RIGHT != there.result:
            yield Outcome(there.case, WRONG, f"a plan is made here, and Snakemake says {there.detail}")
        else:
            yield there


SMALL = yaml.safe_dump(CONFIG, sort_keys=False)


def _written(row: str | dict[str, Any]) -> bytes:
    row = row if isinstance(row, dict) else {"add": row}
    text = text_of(row.get("whole", SMALL)) + text_of(row.get("add", ""))
    for old, new in row.get("replace", {}).items():
        text = text.replace(old, new)
    return text.encode(row.get("encoding", "utf-8"))


#: Files by what they are: whether each must be accepted, with None for either, and its bytes.
BY_HAND = {
    name: (accepts, _written(row))
    for group, accepts in (("accepted", True), ("refused", False), ("either", None))
    for name, row in yaml.safe_load(Path(__file__).with_name("configs_by_hand.yaml").read_text())[group].items()
}
#: The files of `make test-all`; test_yaml_files.py has more.
FAST_BY_HAND = ("a Python object",)


def attack_by_hand(names: Iterable[str], arena: Arena) -> Iterator[Outcome]:
    bench = arena.project().moved_to(arena.folder / "bench")
    for name in names:
        accepts, data = BY_HAND[name]
        outcome = planned(bench, data, name)
        if bench.path("PWNED").exists():
            yield Outcome(name, WRONG, "a command of the config was run")
        elif accepts is not None and outcome.result != WRONG and (outcome.result == RIGHT) != accepts:
            yield Outcome(name, WRONG, f"accepted: {not accepts}; it must be the other way; {outcome.detail}")
        else:
            yield outcome


FAMILY = Family(
    "configs",
    f"One process reads {COUNT:,} randomly changed configs. Snakemake plans {PLANNED} of them and {len(BY_HAND)} "
    "files made by hand. Each ends with a plan or with one line.",
    [
        Case("a sample, changed at random", lambda arena: attack_block(99, FAST_COUNT, arena), fast=True),
        Case("a sample, made by hand", lambda arena: attack_by_hand(FAST_BY_HAND, arena), fast=True),
        *(
            Case(f"seed {number}", lambda arena, number=number: attack_block(number, BLOCK, arena))
            for number in range(COUNT // BLOCK)
        ),
        Case("planned by Snakemake", attack_plans),
        Case("made by hand", lambda arena: attack_by_hand(BY_HAND, arena)),
    ],
)
