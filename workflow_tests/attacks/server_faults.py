"""Faulty servers: each prompt gets its own answer, once, or one line names the fault."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from api_engines import HASTE, SHORT, make_engine
from echo_engine import AskedSweep
from fault_server import FAULTS, FaultServer, answer_to, filled, seeded_faults
from litm.inference.journal import Journal
from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome, refusal_fault
from record_makers import example
from sweeps import journal_records, repeated_keys

from litm.base.json_files import read_jsonl
from litm.base.messages import UserError
from litm.inference.prompts import Fit, Prompt, sweep_prompts
from litm.inference.sweep import ask_missing, check_answered
from litm.prompting.prompt_format import RAW

#: Number of faulty requests in `make test-all`.
FAST = ("usage 1e+30", "content 5", "half a character", "nested 100,000 deep", "content in parts", "elsewhere 307")
PROMPTS = ("one", "two", "three", "four")
#: Faults for runs of Snakemake: a later attempt gets the server's own answer.
MIXED = [
    *("429", "429 for 0 seconds", "429 for milliseconds", "429 until a date", "408", "409", "500", "503", "529"),
    *("cut", "torn", "empty", "closed", "error in it", "aborted", "other form", "no usage"),
    *("usage 1e+30", "usage 12.5"),
    *("content 5", "content in parts", "choices None", "message None", "ends for 'abort'", "only []"),
    *("a page", "whitespace", "a byte less", "two replies", "nested 100,000 deep"),
    *("gzip that is cut", "a chunk that is torn"),
    *("no HTTP", "headers alone", "not whole UTF-8", "hang"),
]  # fmt: skip


def asked(protocol: str, fault: str, server: FaultServer, journal: Journal, prompts: Sequence[Prompt]) -> None:
    patience = SHORT if "again" in FAULTS[protocol][fault] else HASTE
    engine = make_engine(protocol, server, patience, concurrency=len(PROMPTS))
    check_answered(ask_missing(prompts, journal, AskedSweep("test", {"model": "m"}), Fit(None, 50), lambda: engine))


def attack(protocol: str, fault: str, arena: Arena) -> list[Outcome]:
    """The first request for each of four prompts fails. In the next run a healthy server answers what has no answer."""
    case = f"{protocol}: {fault}"
    path = arena.folder / f"{list(FAULTS[protocol]).index(fault)}.jsonl"
    prompts = list(sweep_prompts([example(id=text, prompt=text) for text in PROMPTS], "0" * 64, RAW))
    said = ""
    with FaultServer() as elsewhere, FaultServer(lambda prompt, attempt: fault if attempt == 1 else None) as server:
        server.elsewhere = elsewhere.url
        try:
            with Journal(path) as journal:
                asked(protocol, fault, server, journal, prompts)
        except UserError as error:
            said = str(error)
        except Exception as error:
            return [Outcome(case, WRONG, f"{type(error).__name__}: {str(error)[:300]}")]
        with Journal(path) as journal:
            asked(protocol, fault, server, journal, prompts)
    kept = FAULTS[protocol][fault].get("kept", "{text}")
    expected = {text: {answer_to(text), filled(kept, {"text": answer_to(text), "key": "no-key"})} for text in PROMPTS}
    with Journal(path) as journal:
        wrong = [prompt.content for prompt in prompts if journal[prompt.key].text not in expected[str(prompt.content)]]
    twice = repeated_keys(path)
    whole = Counter(prompt for _, prompt, kind in server.asked if kind is None)
    numbers = {"requests": len(server.asked), "prompts": len(PROMPTS)}
    most = max(whole.values(), default=0)
    faults = {
        f"{len(wrong)} wrong answers": wrong,
        f"{twice} answers twice": twice,
        f"{most} whole answers to a prompt": most > 1 and "again" not in FAULTS[protocol][fault],
        f"{len(elsewhere.asked)} prompts sent to another host": elsewhere.asked,
        refusal_fault(said): refusal_fault(said),
    }
    found = [text for text, is_so in faults.items() if is_so]
    if found:
        return [Outcome(case, WRONG, "; ".join(found), numbers=numbers)]
    return [Outcome(case, REFUSED if said else RIGHT, said, numbers=numbers)]


def attack_all(protocol: str, faults: Sequence[str], arena: Arena) -> Iterator[Outcome]:
    for fault in faults:
        yield from attack(protocol, fault, arena)


def attack_mixed(seed: int, arena: Arena) -> Iterator[Outcome]:
    """A sweep by Snakemake; half of its requests fail."""
    bench = arena.project().moved_to(arena.folder / "bench")
    kv = {"task": "kv_retrieval", "positions": {4: [0, 1, 2, 3], 6: [0, 2, 5]}, "examples": 30, "max_new_tokens": 30}
    kinds = list(dict.fromkeys(MIXED))
    with FaultServer(seeded_faults(seed, 0.5, kinds, at_most=3)) as server:
        served = {"engine": "openai", "api_model": "m", "base_url": f"{server.url}/v1", "request_timeout": 2}
        define = {"models": {"served": {**served, "concurrency": 32}}, "experiments": {"kv": kv}}
        bench.configure({"models": ["served"], "experiments": ["kv"], "define": define})
        done = bench.snakemake("results/responses/served/kv.jsonl.gz")
    count = 30 * 7
    if done.returncode:
        yield Outcome(f"mixed {seed}", WRONG, (done.stdout + done.stderr)[-500:])
        return
    prompts = {}
    for path in bench.folder.glob("results/examples/kv/*/*.jsonl.gz"):
        for _, record in read_jsonl(path):
            prompts[record["id"], record["size"], record["placement"]] = record["prompt"]
    responses = [record for _, record in read_jsonl(bench.path("results/responses/served/kv.jsonl.gz"))]
    wrong = sum(one["response"] != answer_to(prompts[one["id"], one["size"], one["placement"]]) for one in responses)
    lines = len(journal_records(bench.path("results/journal/served/kv.jsonl")))
    whole = max(Counter(prompt for _, prompt, fault in server.asked if fault is None).values())
    seen = {fault for _, _, fault in server.asked if fault}
    numbers = {"requests": len(server.asked), "prompts": count, "kinds of faults": len(seen), "wrong answers": wrong}
    # A hang is given up after seconds, in which a busy machine may be too late with a good answer.
    good = wrong == 0 and lines == len(responses) == count
    detail = f"{wrong} wrong, {lines} journal lines, most whole answers to a prompt: {whole}"
    yield Outcome(f"mixed {seed}", RIGHT if good else WRONG, detail, numbers=numbers)


FAMILY = Family(
    "servers",
    "Each fault occurs alone, on the first request for each of four prompts, in both protocols. In further sweeps, "
    "run by Snakemake, half of the requests fail. Each prompt gets its own answer, once, or one line ends the run "
    "and the next run resumes.",
    [
        Case("a sample", partial(attack_all, "openai", FAST), fast=True),
        *(
            Case(f"{protocol}, part {part}", partial(attack_all, protocol, list(FAULTS[protocol])[part::5]))
            for protocol in FAULTS
            for part in range(5)
        ),
        *(Case(f"mixed, seed {seed}", partial(attack_mixed, seed)) for seed in range(2)),
    ],
)
