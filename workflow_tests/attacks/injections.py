"""Injected code and leaked secrets: no text is executed, and no key is written."""

import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from canaries import CANARY, files_with
from conftest import qa_record, write_lines
from fault_server import PROTOCOLS, FaultServer
from fuzzed_configs import refused_by_snakemake
from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome
from sweeps import MODEL
from workbench import Workbench

RESPONSES = "results/responses/m/qa.jsonl.gz"
#: Name searched for in all files: a command would create it if it were run.
PWNED = "PWNED"
SHELL = f"$(touch {PWNED}) `touch {PWNED}` ; touch {PWNED} & | \" ' \\ > < * ~"
PAGE = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg/onload=window.pwned=1>",
    "javascript:window.pwned",
    "A{{7*7}}B A{%print(7*7)%}B A${7*7}B",
)
#: Texts that no page may have: the first three unescaped, and the result of any template.
RAW = (*PAGE[:3], "A49B")
TEXT = " ".join([*PAGE, SHELL])
#: Environment variables of SDKs that apply only to their provider's servers.
OF_SDKS = {
    **dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"), CANARY),
    **dict.fromkeys(("OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET"), CANARY),
    **dict.fromkeys(("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"), f"X-Secret: {CANARY}"),
}
QA = {"task": "multi_document_qa", "dataset": "mine", "positions": {3: [0, 2]}, "max_new_tokens": 10, "title": TEXT}


def served(server: FaultServer, protocol: str = "openai", **more: Any) -> dict[str, Any]:
    url = f"{server.url}/v1" if protocol == "openai" else server.url
    return {"engine": protocol, "api_model": "m", "base_url": url, **more}


def config(model: dict[str, Any], dataset: str = "mine.jsonl", **more: Any) -> dict[str, Any]:
    """The config of a sweep of one model on one file of questions, with its figure."""
    return {
        "models": ["m"],
        "experiments": ["qa"],
        "figures": ["f"],
        "define": {
            "datasets": {"mine": {"path": dataset}},
            "models": {"m": model},
            "experiments": {"qa": QA},
            "figures": {"f": {"title": TEXT, "experiments": ["qa"], "panel_title": "{size}", "x_label": TEXT}},
            **more,
        },
    }


def bench_with_questions(arena: Arena, name: str = "mine.jsonl", text: str = "") -> Workbench:
    """A bench with a dataset of that name, whose questions, answers and documents have that text."""
    bench = arena.project().moved_to(arena.folder / "bench")
    records = []
    for number in range(3):
        record = qa_record(number, 3)
        record["question"] += f" {text}"
        record["answers"].append(f"answer{number} {text}")
        for document in record["ctxs"]:
            document["title"] += f" {text}"
            document["text"] += f" {text}"
        records.append(record)
    bench.path(name).parent.mkdir(parents=True, exist_ok=True)
    write_lines(bench.path(name), records)
    return bench


def judged(case: str, bench: Workbench, done: CompletedProcess, must_be: str | None = None) -> Outcome:
    """The outcome of a run: wrong if a command was run or a secret was written, or if it is not what it must be."""
    secrets = [name for name in files_with(bench.folder) if name != "small.yaml"]
    secrets += ["the console"] if CANARY in done.stdout + done.stderr else []
    faults = [f"{path} was made" for path in bench.folder.rglob(PWNED)] + [f"the secret is in {one}" for one in secrets]
    outcome = Outcome(case, RIGHT) if done.returncode == 0 else refused_by_snakemake(case, done)
    if must_be not in (None, outcome.result) and outcome.result != WRONG:
        faults.append(f"{outcome.result}, and it must be {must_be}: {(done.stdout + done.stderr)[-400:]}")
    return Outcome(case, WRONG, "; ".join(faults)) if faults else outcome


def place_of(arena: Arena, name: str) -> Arena:
    """A folder of its own for one of several runs of a case."""
    (arena.folder / name).mkdir()
    return Arena(arena.folder / name, arena.project, arena.made_once)


def attack_report(arena: Arena) -> Iterator[Outcome]:
    """Questions, documents, answers and titles that are HTML, templates and commands, up to the report."""
    bench = bench_with_questions(arena, text=TEXT)
    with FaultServer(answer=lambda prompt: f"answer {TEXT}") as server:
        bench.configure(config(served(server)))
        outcome = judged("texts that are code", bench, bench.snakemake(), RIGHT)
    yield outcome
    pages = (bench.path("results/report.html"), *sorted(bench.folder.glob("results/tables/*.md")))
    for path in pages if outcome.result == RIGHT else ():
        raw = [word for word in RAW if word in path.read_text()]
        yield Outcome(f"texts that are code in {path.name}", WRONG if raw else RIGHT, ", ".join(raw))


NAMES = (
    *(f"$(touch {PWNED}).jsonl", f"`touch {PWNED}`.jsonl", f"a; touch {PWNED}; .jsonl"),
    *(f"a' ; touch {PWNED} ; '.jsonl", f'a" ; touch {PWNED} ; ".jsonl', f"a\n touch {PWNED}\n.jsonl"),
    *(f"a && touch {PWNED} #.jsonl", f"| touch {PWNED}.jsonl", "--help.jsonl", "a b  c.jsonl", "a\\b.jsonl"),
    *("${HOME}.jsonl", "{size}.jsonl", "{input}.jsonl", "{}.jsonl", "*.jsonl", "\u202ea.jsonl"),
)


def attack_names(names: tuple[str, ...], arena: Arena) -> Iterator[Outcome]:
    """Files whose names are commands, or patterns of Snakemake."""
    for number, name in enumerate(names):
        bench = bench_with_questions(place_of(arena, str(number)), name)
        bench.configure({**config({"engine": "dummy"}, name), "figures": []})
        yield judged(f"a file called {name!r}", bench, bench.snakemake(RESPONSES))


def attack_key(protocol: str, fault: str | None, arena: Arena) -> Iterator[Outcome]:
    """A key in the environment, and a server that repeats it in its replies."""
    bench = bench_with_questions(arena)
    with patch.dict(os.environ, {"MY_KEY": CANARY}), FaultServer(lambda prompt, attempt: fault) as server:
        model = served(server, protocol, api_key_variable="MY_KEY", request_attempts=2, request_timeout=5)
        bench.configure(config(model))
        done = bench.snakemake()
    outcome = judged(f"a key, {protocol}, {fault or 'a server that says nothing of it'}", bench, done)
    is_sent = set(server.keys) == {CANARY}
    yield outcome if is_sent else Outcome(outcome.case, WRONG, f"the server got {set(server.keys)}")


def attack_environment(protocol: str, arena: Arena) -> Iterator[Outcome]:
    """Environment variables that SDKs read, with the user's own server."""
    bench = bench_with_questions(arena)
    with patch.dict(os.environ, OF_SDKS), FaultServer() as server:
        bench.configure({**config(served(server, protocol)), "figures": []})
        outcome = judged(f"the environment of SDKs, {protocol}", bench, bench.snakemake(RESPONSES), RIGHT)
    sent = sorted({name for headers in server.headers for name, value in headers.items() if CANARY in value})
    is_kept = server.headers and not sent
    yield outcome if is_kept else Outcome(outcome.case, WRONG, f"{len(server.headers)} requests, secrets in {sent}")


def attack_passwords(arena: Arena) -> Iterator[Outcome]:
    bench = bench_with_questions(arena)
    address = f"http://me:{CANARY}@127.0.0.1:9"
    api = {"engine": "openai", "api_model": "m", "base_url": f"{address}/v1"}
    for case, changes in {
        "a dataset's address with a password": {
            "datasets": {"mine": {"url": f"{address}/mine.jsonl", "sha256": "0" * 64}}
        },
        "a server's address with a password": {"models": {"m": api}},
    }.items():
        bench.configure({**config({"engine": "dummy"}, **changes), "figures": []})
        yield judged(case, bench, bench.snakemake(RESPONSES), REFUSED)


class _Command:
    """A pickled object that runs a command when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.system, (f"touch {PWNED}",)


def _own_code(model: Path) -> None:
    for name in ("config.json", "tokenizer_config.json"):
        path = model / name
        record = json.loads(path.read_text())
        record |= {"model_type": "mine", "auto_map": {"AutoConfig": "own.Config", "AutoTokenizer": ["own.T", None]}}
        path.write_text(json.dumps(record))
    (model / "own.py").write_text(f"open({PWNED!r}, 'w')\n")


def _pickle(model: Path) -> None:
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Command()))


def _template(model: Path) -> None:
    text = f"{{{{ ''.__class__.__mro__ }}}}{{{{ cycler.__init__.__globals__.os.system('touch {PWNED}') }}}}"
    path = model / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "chat_template": text}))


def _leaving_index(model: Path) -> None:
    outside = model.parent / "outside.safetensors"
    (model / "model.safetensors").rename(outside)
    index = {"metadata": {}, "weight_map": {"a": "../outside.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))


def attack_models(arena: Arena) -> Iterator[Outcome]:
    for case, change in {
        "a model with code of its own": _own_code,
        "weights that are a pickle": _pickle,
        "a chat template that runs a command": _template,
        "an index of weights that leaves its folder": _leaving_index,
    }.items():
        bench = bench_with_questions(place_of(arena, case.replace(" ", "_")))
        shutil.copytree(MODEL, bench.path("model"))
        change(bench.path("model"))
        model = {"engine": "transformers", "path": "model", "dtype": "float32", "device": "cpu"}
        model |= {"prompt_template": "chat"} if change is _template else {}
        bench.configure({**config(model), "figures": []})
        yield judged(case, bench, bench.snakemake(RESPONSES), REFUSED)


KEY_FAULTS = (None, "key in an error", "key as the model", "key as the reason", "401", "key in a status")
FAMILY = Family(
    "security",
    "Questions, answers, titles and file names that are HTML, templates or commands go through runs up to the "
    "report. A server repeats the key that it receives, and model folders contain code. None of this is executed, "
    "every page escapes it, and no written file or console output contains a key or password.",
    [
        Case("texts that are code", attack_report),
        Case("a sample of names of files", partial(attack_names, NAMES[:1]), fast=True),
        Case("names of files", partial(attack_names, NAMES)),
        *(
            Case(f"a key, {protocol}, {fault or 'not repeated'}", partial(attack_key, protocol, fault))
            for protocol in PROTOCOLS
            for fault in KEY_FAULTS
        ),
        *(
            Case(f"the environment of SDKs, {protocol}", partial(attack_environment, protocol))
            for protocol in PROTOCOLS
        ),
        Case("addresses with passwords", attack_passwords),
        Case("folders of models", attack_models),
    ],
)
