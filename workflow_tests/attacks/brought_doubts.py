"""What people bring: answers that are neither right nor wrong for a technical reason, and answers that only look so."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pandas as pd
from brought_study import DOCUMENTS, QUESTIONS, TOWNS, UNKNOWN, Brought, Reply, completion, prompt_of, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome
from record_makers import response

from litm.analysis.grid import curves
from litm.analysis.positions import position_bias_row
from litm.analysis.shapes import word_of
from litm.claims.curve_words import words_of_scores
from litm.records.examples import Example, Target
from litm.records.responses import LENGTH, REFUSED, STOP
from litm.scoring.scores import Sweep, accuracy_rows, score_sweep
from litm.servers.cut_prompts import cut_at

SIZE = 5
INSTRUCTION = (
    "Write a high-quality answer for the given question using only the provided search results (some of which might "
    "be irrelevant)."
)
#: Documents after a town's own.
NEXT = {town: [*TOWNS, *TOWNS][place + 1 : place + SIZE] for place, town in enumerate(TOWNS)}


@cache
def examples(answers: str) -> tuple[Example, ...]:
    """A question on each town at each of five positions; answers: what is accepted."""
    return tuple(_example(town, position, answers) for position in range(SIZE) for town in TOWNS)


def _example(town: str, position: int, answers: str) -> Example:
    names = [*NEXT[town][:position], town, *NEXT[town][position:]]
    items = [
        f"Document [{n}](Title: {name}) {DOCUMENTS[f'docs/{name}.txt'].strip()}" for n, name in enumerate(names, 1)
    ]
    start = len("\n".join([INSTRUCTION, "", *items[:position], ""]))
    question = f"Who paid for the bridge of {town}?"
    prompt = "\n".join([INSTRUCTION, "", *items, "", f"Question: {question}", "Answer:"])
    accepted = {
        "who": TOWNS[town][1],
        "sentence": f"It was {TOWNS[town][1]} who did so.",
        "same": "the miller",
        "yes or no": "yes" if TOWNS[town][0] % 2 else "no",
    }[answers]
    gold = Target("gold", position, position / (SIZE - 1), (start, start + len(items[position])), (accepted,))
    return Example(town, SIZE, f"gold_at_{position}", question, False, prompt, (gold,))


#: Text and finish reason of the answer to an example.
Said = Callable[[Example], tuple[str, str]]


def numbers(said: Said, answers: str) -> tuple[list[str | None], dict]:
    """The doubts on the cells, and the row of the curve with its word."""
    asked, found = examples(answers), []
    for one in asked:
        text, reason = said(one)
        names = {"id": one.id, "size": one.size, "placement": one.placement}
        found.append(response(**names, response=text, finish_reason=reason, prompt_tokens=len(one.prompt) // 4))
    scores = score_sweep(Sweep("m", "e", "multi_document_qa", "best_subspan_em"), asked, found, cut_at=cut_at)
    (curve,) = curves(scores)
    row = {"pbi_class": None, **position_bias_row(curve, permutations=10)}
    row["shape"] = words_of_scores([scores], ()).get(("m", "e", SIZE, None)) or None
    return [cell["doubt"] for cell in accuracy_rows(scores)], row


def who(one: Example) -> str:
    return TOWNS[one.id][1]


def is_at_an_end(one: Example) -> bool:
    return one.targets[0].position in (0, SIZE - 1)


def ends(between: str) -> Said:
    """Right at the first and the last position, and this text between."""
    return lambda one: (who(one) if is_at_an_end(one) else between, STOP)


def stop(text: Callable[[Example], str]) -> Said:
    return lambda one: (text(one), STOP)


def cut(text: Callable[[Example], str]) -> Said:
    return lambda one: (text(one), LENGTH)


#: By the doubt: what a server or a file has for each question.
IN_DOUBT: Mapping[str, Mapping[str, Said]] = {
    "same_answer": {
        "one text for every question": stop(lambda one: "Upstream overloaded, try later"),
        "pad tokens": stop(lambda one: "<pad>" * 32),
        "the same abstention at every position": stop(lambda one: UNKNOWN),
        "one text for nearly every question": stop(lambda one: "No" if one is examples("who")[0] else "OK"),
    },
    "error": {
        "an HTML page": stop(lambda one: f"<html><h1>502 {one.id}</h1></html>"),
        "an error with a number of its own": stop(lambda one: f"Error code: 429 - {{'id': '{hash(one.prompt)}'}}"),
        "an error for most questions": stop(lambda one: who(one) if one.id < "C" else "HTTP 503 Service Unavailable"),
        "an exception's name": stop(lambda one: f"openai.APITimeoutError: Request {one.id} timed out."),
    },
    "prompt_repeated": {
        "the prompt before the answer, as with echo": stop(lambda one: f"{one.prompt} {who(one)}"),
        "the first line of the prompt": stop(lambda one: INSTRUCTION),
        "the prompt after a role": stop(lambda one: f"user\n\n{one.prompt}\nassistant\n{who(one)}"),
        "the prompt in tokens of a chat format": stop(lambda one: f"<|im_start|>user\n{one.prompt}<|im_end|>"),
        "the context goes on": cut(lambda one: one.prompt[len(INSTRUCTION) + 20 :][:600]),
    },
    "repetition": {
        "a piece of text to the limit": cut(lambda one: f"{one.id} mill " * 40),
        "exclamation marks": cut(lambda one: "!" * (90 + len(one.id))),
    },
    "empty": {
        "nothing": stop(lambda one: ""),
        "white space": stop(lambda one: "\n\n" if len(one.id) % 2 else " "),
    },
    "refused": {"withheld by a filter": lambda one: ("", REFUSED)},
}  # fmt: skip


def _in_doubt(arena: Arena) -> Iterator[Outcome]:
    for doubt, cases in IN_DOUBT.items():
        yield from (_judged(case, said, "who", {doubt}) for case, said in cases.items())
    right = stop(lambda one: f"The miller, {who(one)}, paid for it.")
    yield _judged("accepted answers in words that no document has", right, "sentence", {"not_in_gold"})


#: Answers that are right or wrong, by what is accepted.
SOUND: Mapping[str, Mapping[str, Said]] = {
    "who": {
        "right everywhere": stop(who),
        "right at the ends and an abstention between": ends(UNKNOWN),
        "an abstention in another language between": ends("Das weiß ich nicht."),
        "right in sentences": stop(lambda one: f"The miller, {who(one)}, paid for it."),
        "the gold document in quotes": stop(lambda one: f'"{one.targets[0].text_in(one.prompt)}"'),
        "right and on to the limit": cut(lambda one: f"{who(one)}, of course, who is {one.id}'s"),
        "right and then other questions": cut(lambda one: f"{who(one)}\n\nQuestion: Who?\nAnswer: {who(one)}\n" * 5),
        "right over and over": cut(lambda one: f"{who(one)} " * 40),
        "the answer of another document": stop(lambda one: TOWNS[NEXT[one.id][0]][1]),
        "some empty answers": stop(lambda one: "" if one.id < "C" else who(one)),
        "cut while it reasons": cut(lambda one: f"Let me look at the documents. {one.id} is"),
        "the question before the answer": stop(lambda one: f"{one.question} {who(one)}"),
        "the form of the prompt before the answer": stop(lambda one: f"Question: {one.question}\nAnswer: {who(one)}"),
    },
    "yes or no": {"yes to every question": stop(lambda one: "Yes")},
    "same": {"no question has another answer": stop(lambda one: "the baker")},
    "sentence": {"right in words that no document has": stop(lambda one: f"It was {who(one)} who did so.")},
}


def _sound(arena: Arena) -> Iterator[Outcome]:
    for answers, cases in SOUND.items():
        yield from (_judged(case, said, answers, {None}) for case, said in cases.items())


def _judged(case: str, said: Said, answers: str, doubts: set[str | None]) -> Outcome:
    """Right if these are the doubts on all cells, and a curve in doubt has neither a word nor a class."""
    cells, row = numbers(said, answers)
    word, why = word_of(row)
    is_silent = not word and not row["pbi_class"] and ("no shape" in why or "all answers are empty" in why)
    found = {cell and cell.partition(":")[0] for cell in cells}
    is_right = found == doubts and (doubts == {None} or is_silent) and ("no shape" not in why or doubts != {None})
    return Outcome(case, RIGHT if is_right else WRONG, "" if is_right else f"{cells}: {word} {why}")


# --- Whole studies -----------------------------------------------------------------------------------------------


LIMIT = 256
#: Some more of each document, so that prompts of several are longer than the limit.
LONG = {name: text + f"{name} stands by the old road. " * 12 for name, text in DOCUMENTS.items()}


def _cuts(body: dict, found: str, _: int) -> tuple[int, dict]:
    """A server that reads the last tokens of a prompt, and says so in its count alone."""
    text = prompt_of(body)
    is_read = found in text[-4 * LIMIT :]
    return 200, completion(body, found if is_read else UNKNOWN, min(len(text) // 4, LIMIT))


def _repeats(body: dict, found: str, _: int) -> tuple[int, dict]:
    return 200, completion(body, f"{prompt_of(body)} {found}")


#: What a server does, and the doubt on the positions of the largest size.
SERVERS: Mapping[str, tuple[Reply, str]] = {
    "prompts cut by the server": (_cuts, f"prompts_cut: {LIMIT}"),
    "prompts repeated by the server": (_repeats, "prompt_repeated"),
    "errors as text": (lambda body, found, n: (200, completion(body, f"Error: request {n} failed")), "error"),
}  # fmt: skip
TABLES = tuple(f"results/tables/{name}.csv" for name in ("accuracy", "position_bias", "advice"))


def _served(case: str) -> Callable[[Arena], Iterator[Outcome]]:
    def run(arena: Arena) -> Iterator[Outcome]:
        reply, doubt = SERVERS[case]
        table = "question,answer\n" + "".join(f"{question},{answer}\n" for question, answer in QUESTIONS.items())
        config = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}
        found = study(arena, {**LONG, "questions.csv": table}, config, reply=reply, targets=TABLES)
        is_right = found.status == 0 and _is_told(found, doubt)
        yield Outcome(case, RIGHT if is_right else WRONG, "" if is_right else found.said[-800:])

    return run


def _is_told(found: Brought, doubt: str) -> bool:
    bias, accuracy, advice = map(found.table, ("position_bias", "accuracy", "advice"))
    (largest,) = bias[bias["size"] == bias["size"].max()].to_dict("records")
    cells = accuracy[(accuracy["experiment"] == largest["experiment"]) & (accuracy["size"] == largest["size"])]
    is_silent = pd.isna(largest["shape"]) and pd.isna(largest["pbi_class"])
    is_advised = advice["is_advised"].any() or not advice["advice"].dropna().str.contains("no advice").all()
    return is_silent and not is_advised and {largest["reason"], *cells["doubt"]} == {doubt}


CASES = [
    Case("answers in doubt", _in_doubt, fast=True),
    Case("answers that only look so", _sound, fast=True),
    *(Case(case, _served(case)) for case in SERVERS),
]
