"""What answers of a provider's model have cost, in words, and a budget for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litm.base.messages import money, note
from litm.base.store import lock
from litm.inference.answer_lines import AnswerFile
from litm.inference.kept_answers import Writer, answer_files, lock_file, study_id
from litm.records.bills import MILLION, Prices, Usage
from litm.servers.retrying import Refusal

#: Billed tokens, in words.
IN_WORDS = {
    "input": "tokens of prompts", "cache_write": "written to its cache", "cache_read": "read from it",
    "output": "tokens of answers",
}  # fmt: skip


class Account:
    """What a model's requests have cost in dollars, and what those under way may cost at most, within a budget.

    budget: None for no limit; spent: of it, before.
    """

    def __init__(self, prices: Prices | None, budget: float | None, spent: float) -> None:
        self._prices, self._budget, self._spent = prices, budget, spent
        self._most: dict[int, float] = {}

    def most(self, tokens: int, answer_tokens: int) -> float:
        """The most that a request can cost whose prompt and answer have at most these tokens."""
        if self._prices is None:
            return 0.0
        prices = self._prices.at(tokens)
        return (max(prices.input, prices.cache_write) * tokens + prices.output * answer_tokens) / MILLION

    def refusal(self, number: int, most: float) -> Refusal | None:
        """Why a request may not be sent, which costs `most` at most; None if it may, and now counts as under way."""
        others = sum(cost for other, cost in self._most.items() if other != number)
        if self._budget is None or self._spent + others + most <= self._budget:
            self._most[number] = most
            return None
        # Final only if no other is under way: then these two sums are more than the budget.
        return Refusal(
            f"the budget of US$ {money(self._budget)} ends here: US$ {self._spent:,.4f} are billed, and the next "
            f"request may cost up to US$ {most:,.4f}. All answers are kept: raise the model's 'budget', and run the "
            "same command again; with --keep-going a run goes on with what does not need this model",
            is_final=not others,
        )

    def settle(self, number: int, billed: Usage | None) -> None:
        """A request has ended; without a bill it counts as billed at most."""
        most = self._most.pop(number, 0.0)
        self._spent += self._prices.dollars(billed) if self._prices and billed else most


@contextmanager
def budgeted(
    model: str, run: Mapping[str, Any], name: str, folders: Sequence[str], asking: str
) -> Iterator[dict[str, Any]]:
    """How a model is asked, with what the budget of its entry has paid for so far.

    While this lasts, no other sweep with the model's budget asks. run: fields of `EngineSettings`; name: of the sweep,
    for messages; folders: of answers; asking: see `kept_answers.ASKING`.
    """
    if run.get("budget") is None:
        yield {**run}
        return
    with lock_file(asking, f"{model}.budget") as turn:
        if not lock(turn):
            note(f"{name}: waits for another sweep of this model, as both have one budget")
            lock(turn, wait=True)
        yield {**run, "spent": spent_in(folders, model, asking, Prices.from_entry(run["prices"]))}


def spent_in(folders: Iterable[str], model: str, asking: str | Path, prices: Prices) -> float:
    """The dollars that a study's answers of a model were billed, by the files in folders of answers.

    A copy of a file, or a part of it, keeps its name and is paid once.
    """
    study = study_id(asking, is_made=False)
    files = [
        file
        for file in answer_files(folders, f"{model}+*")
        if getattr(Writer.from_file_name(file), "study", "") == study
    ]
    bills = {(file.name, key): bill for file in files for key, bill in AnswerFile(file).bills()}
    return sum(prices.dollars(bill) for bill in bills.values() if not bill.elsewhere)


def bill_in_words(billed: Iterable[Usage], prices: Mapping[str, Any] | None) -> Iterator[str]:
    """What a run was billed for by the provider's counters, a line for each price of batches, of long prompts and of
    others; prices: see `Prices.from_entry`, None if there are none.
    """
    known = Prices.from_entry(prices) if prices else None
    by = f" by {prices['table']}" if prices and "table" in prices else ""
    steps = known.steps if known else ()
    for usage in Usage.sums(billed, steps):
        cost = f"US$ {known.dollars(usage):,.4f}{by}" if known else "no prices"
        counts = [f"{getattr(usage, name):,} {words}" for name, words in IN_WORDS.items() if getattr(usage, name)]
        above = max((step for step in steps if usage.longest_prompt > step), default=0)
        kind = (", in batches" if usage.batch else "") + (f", for prompts above {above:,} tokens" if above else "")
        yield f"billed by the provider's counters{kind}: {cost} ({', '.join(counts)})"
