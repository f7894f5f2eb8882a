"""What people bring, tried as they would: a study of their files.

Its model answers rightly exactly if the answer is in its prompt, so the true accuracy is known.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from local_http import Handler, Served
from outcomes import RIGHT, WRONG, Arena, Outcome, refused
from workbench import Workbench

#: Ten made-up towns: the names of their files, years and people.
TOWNS = {
    "Arvik": (1701, "Ada Quill"), "Belmor": (1722, "Bo Renner"), "Cadley": (1743, "Cy Tamsin"),
    "Dunhal": (1764, "Di Vossen"), "Elmsey": (1785, "Ed Wick"), "Farrow": (1806, "Flo Xander"),
    "Gorsby": (1827, "Gil Yarrow"), "Hexley": (1848, "Hal Zorn"), "Ivory": (1869, "Ida Ames"),
    "Jorvik": (1890, "Jo Birch"),
}  # fmt: skip
DOCUMENTS = {
    f"docs/{town}.txt": f"The mill of {town} was built in {year}. The miller, {who}, paid for the bridge.\n"
    for town, (year, who) in TOWNS.items()
}
QUESTIONS = {f"Who paid for the bridge of {town}?": who for town, (_, who) in TOWNS.items()}
UNKNOWN = "I do not know."

#: What a server sends for a request: its body, the right answer or `UNKNOWN`, and the number of the request, from 1.
Reply = Callable[[dict, str, int], tuple[int, dict]]


def prompt_of(body: Mapping[str, Any]) -> str:
    return body.get("prompt") or "\n".join(message["content"] for message in body["messages"])


def completion(body: Mapping[str, Any], text: str, tokens: int | None = None, reason: str = "stop") -> dict:
    """A reply of OpenAI's protocol. tokens: those of the prompt."""
    read = len(prompt_of(body).split()) if tokens is None else tokens
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5}
    choices = [{"index": 0, "message": message, "finish_reason": reason}]
    return {"id": "x", "object": "chat.completion", "model": body["model"], "choices": choices, "usage": usage}


class Reader(Served):
    """A server of OpenAI's protocol, which knows an answer exactly if it is in the prompt.

    answers: the text that it answers, by question.
    """

    def __init__(self, answers: Mapping[str, str], reply: Reply | None = None) -> None:
        super().__init__(_Reading)
        self.answers, self.count = answers, 0
        self.reply: Reply = reply or (lambda body, found, _: (200, completion(body, found)))

    def answer(self, prompt: str) -> str:
        asked = [question for question in self.answers if question in prompt]
        if not asked:
            return UNKNOWN
        last = max(asked, key=lambda question: (prompt.rfind(question) + len(question), len(question)))
        found = self.answers[last]
        return found if found.lower() in prompt[: prompt.rfind(last)].lower() else UNKNOWN


class _Reading(Handler):
    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "m", "object": "model"}]}
        self.send(200, json.dumps(models).encode(), **{"Content-Type": "application/json"})

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.owner.count += 1
        status, reply = self.owner.reply(body, self.owner.answer(prompt_of(body)), self.owner.count)
        self.send(status, json.dumps(reply).encode(), **{"Content-Type": "application/json"})


@dataclass(frozen=True)
class Brought:
    """The end of a study of brought files.

    status: of the last program, or of Snakemake; said: all that was printed; bench: the study's folder.
    """

    status: int
    said: str
    bench: Workbench

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.bench.path(f"results/tables/{name}.csv"))

    def accuracy(self, experiment: str = "my_positions") -> list[float]:
        """The accuracies of an experiment's cells."""
        rows = self.table("accuracy")
        return rows[rows.experiment == experiment].accuracy.tolist()


def study(
    arena: Arena,
    files: Mapping[str, str | bytes],
    config: Mapping[str, Any],
    answers: Mapping[str, str] = QUESTIONS,
    reply: Reply | None = None,
    targets: tuple[str, ...] = ("results/tables/accuracy.csv", "results/tables/answer_checks.csv"),
) -> Brought:
    """Run a study of these files in the case's folder.

    The model `served`, if the config selects it, asks a `Reader` with these answers.
    """
    bench = arena.project().moved_to(arena.folder / "bench")
    for name, content in files.items():
        path = bench.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with Reader(answers, reply) as server:
        served = {"engine": "openai", "base_url": f"{server.url}/v1", "api_model": "m", "revision": "a"}
        define = {**config.get("define", {})}
        define["models"] = {
            **define.get("models", {}),
            "served": {**served, **define.get("models", {}).get("served", {})},
        }
        bench.configure({**config, "define": define})
        # By Snakemake: Java, in which BM25 runs, keeps the folder that a process first had.
        done = bench.snakemake("--quiet", "host", "--", *targets)
    return Brought(done.returncode, done.stdout + done.stderr, bench)


def judged(case: str, found: Brought, right: Callable[[Brought], object]) -> Outcome:
    """Right if the study ran and `right` holds, refused if one line refuses it, else wrong."""
    if found.status:
        lines = [line for line in found.said.splitlines() if "error:" in line]
        return refused(case, lines[-1] if lines else found.said)
    return Outcome(case, RIGHT) if right(found) else Outcome(case, WRONG, f"a wrong number: {found.said[-800:]}")


def is_said(found: Brought, *words: str) -> bool:
    """Whether a refusal or a note has all these words."""
    return all(word in found.said for word in words)
