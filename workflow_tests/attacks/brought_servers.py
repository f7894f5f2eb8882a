"""What people bring: servers that refuse in their own words, that cut prompts, and that report errors as replies."""

import tomllib
from collections.abc import Iterator

from brought_study import QUESTIONS, TOWNS, UNKNOWN, Brought, Reply, completion, is_said, judged, prompt_of, study
from other_errors import OTHER_ERRORS
from outcomes import RIGHT, WRONG, Arena, Case, Outcome

from litm.records.responses import OVERFLOW
from litm.servers.cut_prompts import cut_at
from litm.servers.replies import WORDS, refused_for

CONFIG = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}
FILLER = "market hill bell garden wall old corn sheep river lane field road stone water tower wheel door boat "
#: Documents of about 700 characters: five are in a window of 1,024 tokens of four characters, ten are not.
LONG = {
    f"docs/{town}{copy}.txt": f"{number} The miller {who} paid for the bridge of {town}. {FILLER * 6}{number * 'x'}"
    for number, (town, (_, who)) in enumerate(TOWNS.items())
    for copy in ("", "2", "3")
}
TABLE = "question,answer,file\n" + "".join(
    f"{question},{who},{town}.txt\n" for (question, who), town in zip(QUESTIONS.items(), TOWNS, strict=True)
)
WINDOW = 1024


def tokens_of(body: dict) -> int:
    return max(1, len(prompt_of(body)) // 4)


def refusing(status: int, says: str) -> Reply:
    """A server with a window of `WINDOW` tokens, and its words for a longer prompt."""

    def reply(body: dict, found: str, _: int) -> tuple[int, dict]:
        count = tokens_of(body)
        if count <= WINDOW:
            return 200, completion(body, found, count)
        return status, {"error": says.format(count=count, window=WINDOW)}

    return reply


def cutting(body: dict, found: str, _: int) -> tuple[int, dict]:
    """A server that cuts prompts at the left, as Ollama does with num_ctx."""
    text, count = prompt_of(body), tokens_of(body)
    seen = text if count <= WINDOW else text[-4 * WINDOW :]
    return 200, completion(body, found if found.lower() in seen.lower() else UNKNOWN, min(count, WINDOW))


def _words(arena: Arena) -> Iterator[Outcome]:
    for server in tomllib.loads(WORDS.read_text(encoding="utf-8"))["server"]:
        reply = refused_for({"error": {"message": server["says"]}})
        yield Outcome(
            f"too long, as {server['name']} says it", RIGHT if reply and reply.finish_reason == OVERFLOW else WRONG
        )
    for says in OTHER_ERRORS:
        yield Outcome(f"not too long: {says[:60]}", WRONG if refused_for({"message": says}) else RIGHT)


def _counts(arena: Arena) -> Iterator[Outcome]:
    """Counts of tokens that show a cut, and such that do not."""
    lengths = [3000 + 40 * number for number in range(20)]
    variants = {
        "all cut to 512": ([512] * 20, 512),
        "the longer half is cut": ([min(length // 4, 800) for length in lengths], 800),
        "none is cut": ([length // 4 for length in lengths], None),
        "one token a character": (lengths, None),
        "no counts": ([None] * 20, None),
        "counts of 0": ([0] * 20, None),
        "one count for all": ([100] * 20, 100),
        "counts of natural texts, two of them equal": (
            [length // 4 + (number % 3) for number, length in enumerate(lengths)],
            None,
        ),
        "far fewer tokens than characters": ([7 + number for number in range(20)], 26),
    }
    for name, (tokens, expected) in variants.items():
        yield Outcome(name, RIGHT if cut_at(lengths, tokens) == expected else WRONG, str(cut_at(lengths, tokens)))
    yield Outcome("prompts of one length", RIGHT if cut_at([4000] * 9, [1024] * 9) is None else WRONG)


def _is_whole(found: Brought) -> bool:
    """Whether all that was asked within the window is right, and the others are counted as left out."""
    rows = found.table("accuracy")
    scored = rows[(rows.experiment == "my_positions") & (rows.n > 0)]
    return len(scored) > 0 and (scored.accuracy == 1).all() and (rows.n_left_out > 0).any()


VLLM = "This model's maximum context length is {window} tokens. However, your request has {count} input tokens."
LM_STUDIO = (
    "Trying to keep the first {count} tokens when context the overflows. However, the model is loaded with context "
    "length of only {window} tokens, which is not enough."
)
LM_STUDIO_200 = (
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: {count}>= n_ctx: "
    "{window})."
)
#: The status and the words of servers.
REFUSALS = {"vLLM": (400, VLLM), "LM Studio": (400, LM_STUDIO), "LM Studio as a reply": (200, LM_STUDIO_200)}


def _refuses(name: str, status: int, says: str) -> Case:
    def run(arena: Arena) -> Iterator[Outcome]:
        found = study(arena, {**LONG, "questions.csv": TABLE}, CONFIG, reply=refusing(status, says))
        yield judged(name, found, _is_whole)

    return Case(f"a window that {name} refuses to exceed", run)


def _cuts(arena: Arena) -> Iterator[Outcome]:
    found = study(
        arena,
        {**LONG, "questions.csv": TABLE},
        CONFIG,
        reply=cutting,
        targets=("results/tables/accuracy.csv", "results/tables/position_bias.csv"),
    )
    yield judged("a server that cuts prompts", found, lambda it: is_said(it, "cuts prompts", "num_ctx"))
    rows = found.table("accuracy")
    doubtful = rows[rows.doubt.fillna("").str.startswith("prompts_cut")]
    yield Outcome("the size that is cut has no shape", RIGHT if len(doubtful) else WRONG, rows.to_string()[:800])


CASES = [
    Case("words for a prompt that is too long", _words, fast=True),
    Case("counts of tokens", _counts, fast=True),
    *(_refuses(name, *how) for name, how in REFUSALS.items()),
    Case("a server that cuts prompts", _cuts),
]
