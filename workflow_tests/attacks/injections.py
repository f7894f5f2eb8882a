"""Injected code and leaked secrets: no text is executed, and no key is written."""

import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import qa_record, write_lines
from fault_server import FaultServer
from fuzzed_configs import refused_by_snakemake
from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome
from sweeps import MODEL
from workbench import Workbench

CANARY = "sk-CANARY-0123456789"
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
    "OPENAI_API_KEY": CANARY,
    "ANTHROPIC_API_KEY": CANARY,
    "ANTHROPIC_AUTH_TOKEN": CANARY,
    "OPENAI_ORG_ID": CANARY,
    "OPENAI_PROJECT_ID": CANARY,
    "OPENAI_ADMIN_KEY": CANARY,
    "OPENAI_WEBHOOK_SECRET": CANARY,
    "OPENAI_CUSTOM_HEADERS": f"X-Secret: {CANARY}",
    "ANTHROPIC_CUSTOM_HEADERS": f"X-Secret: {CANARY}",
}
QA = {"task": "multi_document_qa", "dataset": "mine", "positions": {3: [0, 2]}, "max_new_tokens": 10, "title": TEXT}


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore the former ones at the end."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def served(server: FaultServer, protocol: str = "openai", **more: Any) -> dict[str, Any]:
    """The entry of a model on a server, with a key."""
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


def files_with(folder: Path, word: str) -> list[str]:
    """Files with a word in their names or bytes, of all there are but the project's own."""
    own = {"scripts", "workflow_tests", ".git", "mine.jsonl", "small.yaml"}
    found = []
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if relative.parts[0] in own or path.is_symlink():
            continue
        if path.name == word or (path.is_file() and word.encode() in path.read_bytes()):
            found.append(str(relative))
    return found


def was_run(folder: Path) -> list[str]:
    """Files that show that a command was run."""
    return [str(path.relative_to(folder)) for path in folder.rglob(PWNED)]


def attack_report(arena: Arena) -> Iterator[Outcome]:
    """Questions, documents, answers and titles that are HTML, templates and commands, up to the report."""
    bench = bench_with_questions(arena, text=TEXT)
    with FaultServer(answer=lambda prompt: f"answer {TEXT}") as server:
        bench.configure(config(served(server)))
        done = bench.snakemake()
    if done.returncode:
        yield Outcome("texts that are code", WRONG, (done.stdout + done.stderr)[-400:])
        return
    yield _nothing_run("texts that are code", bench)
    for path in (bench.path("results/report.html"), *sorted(bench.folder.glob("results/tables/*.md"))):
        page = path.read_text()
        raw = [word for word in RAW if word in page]
        yield Outcome(f"texts that are code in {path.name}", WRONG if raw else RIGHT, ", ".join(raw))


def _nothing_run(case: str, bench: Workbench) -> Outcome:
    made = was_run(bench.folder)
    return Outcome(case, WRONG if made else RIGHT, f"a command was run: {made}" if made else "")


NAMES = (
    f"$(touch {PWNED}).jsonl",
    f"`touch {PWNED}`.jsonl",
    f"a; touch {PWNED}; .jsonl",
    f"a' ; touch {PWNED} ; '.jsonl",
    f'a" ; touch {PWNED} ; ".jsonl',
    f"a\n touch {PWNED}\n.jsonl",
    f"a && touch {PWNED} #.jsonl",
    f"| touch {PWNED}.jsonl",
    "--help.jsonl",
    "a b  c.jsonl",
    "a\\b.jsonl",
    "${HOME}.jsonl",
    "{size}.jsonl",
    "{input}.jsonl",
    "{}.jsonl",
    "*.jsonl",
    "\u202ea.jsonl",
)


def attack_names(names: tuple[str, ...], arena: Arena) -> Iterator[Outcome]:
    """Files whose names are commands, or patterns of Snakemake."""
    for number, name in enumerate(names):
        place = Arena(arena.folder / str(number), arena.project, arena.made_once)
        place.folder.mkdir()
        bench = bench_with_questions(place, name)
        bench.configure({**config({"engine": "dummy"}, name), "figures": []})
        done = bench.snakemake("results/responses/m/qa.jsonl.gz")
        case = f"a file called {name!r}"
        made = was_run(bench.folder)
        if made:
            yield Outcome(case, WRONG, f"a command was run: {made}")
        else:
            yield Outcome(case, RIGHT) if done.returncode == 0 else refused_by_snakemake(case, done)


def attack_key(protocol: str, fault: str | None, arena: Arena) -> Iterator[Outcome]:
    """A key in the environment, and a server that repeats it in its replies."""
    case = f"a key, {protocol}, {fault or 'a server that says nothing of it'}"
    bench = bench_with_questions(arena)
    with environment({"MY_KEY": CANARY}), FaultServer(lambda prompt, attempt: fault) as server:
        model = served(server, protocol, api_key_variable="MY_KEY", request_attempts=2, request_timeout=5)
        bench.configure(config(model))
        done = bench.snakemake()
    said = done.stdout + done.stderr
    written = files_with(bench.folder, CANARY)
    if not server.keys or set(server.keys) != {CANARY}:
        yield Outcome(case, WRONG, f"the server got {set(server.keys)}")
    elif written or CANARY in said:
        where = [*written, *(["the console"] if CANARY in said else [])]
        yield Outcome(case, WRONG, f"the key is in {', '.join(where)}")
    else:
        yield Outcome(case, RIGHT) if done.returncode == 0 else refused_by_snakemake(case, done)


def attack_environment(protocol: str, arena: Arena) -> Iterator[Outcome]:
    """Environment variables that SDKs read, with the user's own server."""
    case = f"the environment of SDKs, {protocol}"
    bench = bench_with_questions(arena)
    with environment(OF_SDKS), FaultServer() as server:
        bench.configure({**config(served(server, protocol)), "figures": []})
        done = bench.snakemake("results/responses/m/qa.jsonl.gz")
    sent = sorted({name for headers in server.headers for name, value in headers.items() if CANARY in value})
    written = files_with(bench.folder, CANARY)
    if done.returncode or not server.headers:
        yield Outcome(case, WRONG, (done.stdout + done.stderr)[-400:])
    else:
        yield Outcome(case, WRONG if sent or written else RIGHT, f"sent: {sent}, written: {written}")


def attack_passwords(arena: Arena) -> Iterator[Outcome]:
    """Addresses with a password in them."""
    bench = bench_with_questions(arena)
    file = {"url": f"http://me:{CANARY}@127.0.0.1:9/mine.jsonl", "sha256": "0" * 64}
    for case, changes in {
        "a dataset's address with a password": {"datasets": {"mine": file}},
        "a server's address with a password": {
            "models": {"m": {"engine": "openai", "api_model": "m", "base_url": f"http://me:{CANARY}@127.0.0.1:9/v1"}}
        },
    }.items():
        bench.configure({**config({"engine": "dummy"}, **changes), "figures": []})
        done = bench.snakemake("results/responses/m/qa.jsonl.gz")
        said = done.stdout + done.stderr
        where = [*files_with(bench.folder, CANARY), *(["the console"] if CANARY in said else [])]
        if where or done.returncode == 0:
            yield Outcome(case, WRONG, f"the password is in {', '.join(where)}")
        else:
            yield refused_by_snakemake(case, done)


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
    """Model folders that try to run code or to read other files."""
    for case, change in {
        "a model with code of its own": _own_code,
        "weights that are a pickle": _pickle,
        "a chat template that runs a command": _template,
        "an index of weights that leaves its folder": _leaving_index,
    }.items():
        place = Arena(arena.folder / case.replace(" ", "_"), arena.project, arena.made_once)
        place.folder.mkdir()
        bench = bench_with_questions(place)
        shutil.copytree(MODEL, bench.path("model"))
        change(bench.path("model"))
        model = {"engine": "transformers", "path": "model", "dtype": "float32", "device": "cpu"}
        model |= {"prompt_template": "chat"} if change is _template else {}
        bench.configure({**config(model), "figures": []})
        done = bench.snakemake("results/responses/m/qa.jsonl.gz")
        outcome = refused_by_snakemake(case, done)
        if was_run(bench.folder):
            yield Outcome(case, WRONG, "a command was run")
        elif done.returncode == 0:
            yield Outcome(case, WRONG, "accepted")
        else:
            yield outcome if outcome.result == WRONG else Outcome(case, REFUSED, outcome.detail)


KEY_FAULTS = (None, "key in an error", "key as the model", "key as the reason", "401", "key in a status")
FAMILY = Family(
    "security",
    "Runs up to the report with questions, answers, titles and file names that are HTML, templates and commands; a "
    "server that repeats the key it receives; model folders with code. Nothing of this is executed, every page escapes "
    "it, and no written file and no console output has a key or password.",
    [
        Case("texts that are code", attack_report),
        Case("a sample of names of files", lambda arena: attack_names(NAMES[:1], arena), fast=True),
        Case("names of files", lambda arena: attack_names(NAMES, arena)),
        *(
            Case(
                f"a key, {protocol}, {fault or 'not repeated'}",
                lambda arena, protocol=protocol, fault=fault: attack_key(protocol, fault, arena),
            )
            for protocol in ("openai", "anthropic")
            for fault in KEY_FAULTS
        ),
        *(
            Case(
                f"the environment of SDKs, {protocol}",
                lambda arena, protocol=protocol: attack_environment(protocol, arena),
            )
            for protocol in ("openai", "anthropic")
        ),
        Case("addresses with passwords", attack_passwords),
        Case("folders of models", attack_models),
    ],
)
