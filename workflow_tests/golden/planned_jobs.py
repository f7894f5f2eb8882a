"""The jobs that Snakemake plans for a config, as text that does not depend on the machine, the folder or the code."""

import json
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench import Workbench, in_a_fork, snakemake_here

#: Params that hold digests of content and of code; inputs that are modules of the library.
NOT_PARAMS, NOT_INPUTS = {"contents", "code", "declared"}, {"code"}
#: Resources that Snakemake adds or derives.
NOT_RESOURCES = {"tmpdir", "_nodes", "_cores", "mem", "mem_mib", "disk", "disk_mib"}
#: Longer values are cut.
LONGEST = 300
#: As many as a large machine has, so that a plan does not lower what jobs ask for.
MACHINE = ("--cores", "64", "--resources", "gpu=64")

Job = Mapping[str, Any]


def planned(bench: Workbench, *words: str) -> list[Job]:
    """All jobs of a plan, in the order of their rules and wildcards."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "jobs.json"
        done = in_a_fork(lambda: _plan(bench.folder, ["--dry-run", "--quiet", *MACHINE, *words], file))
        assert done.returncode == 0, done.stdout + done.stderr
        jobs = json.loads(file.read_text())
    return sorted(jobs, key=lambda job: (job["rule"], list(job["wildcards"].values())))


def _plan(folder: Path, words: list[str], file: Path) -> int:
    """Plan as on a machine with four cores, without a GPU and without instructions for bfloat16, and write the jobs as
    JSON; the exit status.
    """
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    os.cpu_count = lambda: 4  # type: ignore[assignment]

    def keep(graph: Any) -> None:
        # A package's files are in another folder on each machine.
        text = json.dumps([_job(job) for job in graph.jobs], default=str)
        file.write_text(re.sub(r"[^\s\"':=,\[(]*/site-packages/", "PACKAGES/", text))

    return snakemake_here(folder, ["snakemake", *words], keep=keep)


def _job(job) -> Job:
    return {
        "rule": job.rule.name,
        "wildcards": dict(job.wildcards_dict or {}),
        "input": _named(job.input, NOT_INPUTS),
        "output": _named(job.output, set()),
        "log": list(job.log),
        # Most are words of the command.
        "param": {
            name: value for name, value in job.params.items() if name not in NOT_PARAMS and value not in job.shellcmd
        },
        "resource": {name: value for name, value in job.resources.items() if name not in NOT_RESOURCES}
        | {"threads": job.threads, "priority": round(float(job.priority), 3)},
        "command": job.shellcmd or "",
    }


def _named(files, left_out: set[str]) -> dict[str, list[str]]:
    """Files by their name in the rule, those without a name under ""."""
    named = {name: [value] if isinstance(value, str) else list(value) for name, value in files.items()}
    under_a_name = {file for group in named.values() for file in group}
    rest = [str(file) for file in files if file not in under_a_name]
    shown = {name: [str(file) for file in group] for name, group in named.items() if name not in left_out}
    return {**shown, **({"": rest} if rest else {})}


def command_options(command: str) -> list[tuple[str, list[str]]]:
    """The words of a command by their option: the program under "", what runs before and after it under "shell"."""
    before, _, rest = command.strip().partition("python ")
    words, _, after = rest.partition(" 2>&1 ")
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in shlex.split(words):
        if word.startswith("--"):
            found.append((word, []))
        else:
            found[-1][1].append(word)
    # What a run compares: the digest of the program's modules.
    around = re.sub(r"\w*CODE\w*=\w*\s*", "", before) + re.sub(r"tee -i \S+?(?=\)|$)", "tee -i LOG", after.strip())
    return [*found, *([("shell", [around])] if around else [])]


def options(job: Job) -> dict[str, str]:
    """The options of a job's program with their words, joined by blanks."""
    return {name.lstrip("-"): " ".join(words) for name, words in command_options(job["command"])}


def job_lines(job: Job) -> list[tuple[str, str]]:
    """All facts of a job, as pairs of a part and a line."""
    lines = []
    for part in ("input", "output"):
        lines += [(part, f"{name}: {' '.join(files)}") for name, files in sorted(job[part].items())]
    lines += [("log", file) for file in job["log"]]
    for part in ("param", "resource"):
        lines += [(part, f"{name}: {_shown(value)}") for name, value in sorted(job[part].items())]
    names = {line.partition(": ")[2]: f"= {part} {line.partition(': ')[0]}" for part, line in lines if ": " in line}
    for name, words in sorted(command_options(job["command"])):
        value = " ".join(words)
        lines.append(("option", f"{name}: {names.get(value, value) if len(value) > 20 else value}"))
    return lines


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _values(job: Job) -> list[str]:
    """All values of a job without their names, sorted: a rename of inputs, params or options changes none of them."""
    values = [value for part in ("input", "output") for files in job[part].values() for value in files]
    values += [_shown(value) for part in ("param", "resource") for name, value in job[part].items()]
    return sorted(values + [word for _, words in command_options(job["command"]) for word in words])


def digest(lines: Iterable[str]) -> str:
    """The first characters of the SHA-256 of lines."""
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


def cut(line: str, longest: int = LONGEST) -> str:
    """A line, or its beginning with its length and digest."""
    return line if len(line) <= longest else f"{line[:longest]}... {len(line)} characters, {digest([line])}"


def plan_text(jobs: Iterable[Job], shown: int | None = 1) -> str:
    """By rule: the number of jobs, a digest of each part of all jobs, and all lines of the first jobs (None: each)."""
    by_rule: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_rule[job["rule"]].append(job)
    text = []
    for rule, group in sorted(by_rule.items()):
        text.append(f"=== {rule}: {len(group)} jobs")
        lines = {name_of(job): job_lines(job) for job in group}
        for part in ("input", "output", "log", "param", "resource", "option"):
            own = [f"{name} {line}" for name, found in lines.items() for one, line in found if one == part]
            text += [f"{part}s of all: {digest(own)}"] if own else []
        text.append(f"values of all, whatever their names: {digest(value for job in group for value in _values(job))}")
        for name, found in list(lines.items())[:shown]:
            text.append(f"--- {name}")
            text += [f"{part} {line}" if shown is None else cut(f"{part} {line}") for part, line in found]
        text.append("")
    return "\n".join(text)


def name_of(job: Job) -> str:
    """The wildcards of a job."""
    return " ".join(f"{name}={value}" for name, value in sorted(job["wildcards"].items())) or "the only job"
