"""`my_data` with a session: catalogue entries for facts and instructions that are placed in it.

They are those of resources/my_session.yaml, filled in.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.config.my_data import TOKENS_BESIDE, MyData, MyEntries, token_counter
from litm.config.my_haystack import (
    DEPTHS,
    FEWEST,
    OF_MOST,
    SHARES,
    USUAL_WINDOW,
    contexts_in_words,
    lengths_left_out,
    unknown_window,
)
from litm.config.yaml_files import read_yaml
from litm.corpora.sessions import USER, read_session, steps
from litm.engines.model_entries import AnyModel

#: The experiment whose instruction is at the beginning wherever it is placed, and how the names of entries end with the
#: whole session twice, and with a summary in place of its first half.
OF_SYSTEM, REPEATED, COMPACTED = "my_instruction_of_system", "facts_repeated", "_compacted"


def read_session_entries(as_written: MyData, models: Mapping[str, AnyModel], root: Path) -> MyEntries:
    """The entries for a user's session, and the choices made; `UserError` as `read_session`, and for a short one."""
    mine = as_written.placed("config.my_data").located(root, {})
    assert mine.session is not None, "without it there is another reader"
    session = read_session(Path(mine.session))
    texts = ["\n".join(str(message) for message in step) for step in steps(session.messages)]
    counted = {name: token_counter(model, root, OF_MOST) for name, model in models.items()}
    name, (known, count) = min(counted.items(), key=lambda item: item[1][0] or USUAL_WINDOW)
    window, ends = known or USUAL_WINDOW, list(accumulate(count(texts)))
    lengths = [round(length * window) if length <= 1 else round(length) for length in mine.lengths or SHARES]
    asks = [step[-1]["role"] == USER for step in steps(session.messages)]
    sizes = steps_of_lengths(lengths, ends, asks)
    if not sizes:
        raise UserError(
            f"config.my_data: {mine.session} has {len(ends)} steps with about {ends[-1]:,} tokens, and no context of "
            f"{FEWEST} steps fits {max(lengths):,} tokens: take a longer session, or raise 'lengths'"
        )
    entries = read_yaml(root / "resources" / "my_session.yaml")
    for key, questions in entries["questions"].items():
        questions |= {"session": mine.session, "compacted": mine.compacted if key.endswith(COMPACTED) else None}
    for key, experiment in entries["experiments"].items():
        places = {size: [0] if key == OF_SYSTEM else step_positions(ends, size) for size in sizes}
        if key.endswith(REPEATED):
            places = {size: at for size, at in places.items() if 2 * ends[size - 2] + TOKENS_BESIDE <= window}
        if key.endswith(COMPACTED):
            halves = {size: [place for place in at if place >= (size - 1) // 2] for size, at in places.items()}
            places = halves if mine.compacted else {}
        # At shorter ones nothing is dropped.
        kept = entries["questions"][experiment["dataset"]].get("keep_results") or 0
        experiment["positions"] = {str(size): at for size, at in places.items() if size - 1 > kept}
    entries = _asked(entries)
    windows = {other: tokens for other, (tokens, _) in counted.items() if tokens}
    entries["figures"]["my_session_by_length"]["windows"] = windows
    tokens = [ends[size - 2] + TOKENS_BESIDE for size in sizes]
    notes = [
        f"my_data: {mine.session}: {len(session.messages)} messages in {len(ends)} steps, about {ends[-1]:,} tokens",
        *(f"my_data: {mine.session}: {note}" for note in session.notes),
        *lengths_left_out(lengths, sizes, "steps"),
        *([] if known else [unknown_window(name)]),
        f"my_data: contexts of {contexts_in_words(sizes, tokens, 'steps', name, window)}",
    ]
    return MyEntries(entries, tuple(notes), experiments=tuple(entries["experiments"]))


def _asked(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries without experiments that have no position, and without their questions."""
    experiments = {key: entry for key, entry in entries["experiments"].items() if entry["positions"]}
    used = {entry["dataset"] for entry in experiments.values()}
    questions = {key: entry for key, entry in entries["questions"].items() if key in used}
    for figure in entries["figures"].values():
        figure["experiments"] = [name for name in figure["experiments"] if name in experiments]
    return {**entries, "experiments": experiments, "questions": questions}


def steps_of_lengths(lengths: Sequence[int], ends: Sequence[int], asks: Sequence[bool]) -> list[int]:
    """Numbers of steps, with the one that is placed, whose tokens do not exceed these lengths, ascending.

    ends: tokens up to the end of each step of the session; asks: whether a step ends with the user, after which no
    context ends, because its question would not be the only one that is open.
    """
    whole = [place for place, is_open in enumerate(asks, start=1) if not is_open]
    fitting = ([place for place in whole if ends[place - 1] + TOKENS_BESIDE <= length] for length in lengths)
    return sorted({places[-1] + 1 for places in fitting if places and places[-1] + 1 >= FEWEST})


def step_positions(ends: Sequence[int], size: int) -> list[int]:
    """Positions in a context of `size` steps that are nearest to `DEPTHS` equal shares of its tokens."""
    starts = [0, *ends[: size - 1]]
    wanted = [starts[-1] * step / (DEPTHS - 1) for step in range(DEPTHS)]
    return sorted({min(range(size), key=lambda place: abs(starts[place] - tokens)) for tokens in wanted})
