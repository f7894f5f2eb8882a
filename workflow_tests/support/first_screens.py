"""First screens by hand: any number of models, experiments and sizes, with ties, marks and every strength."""

from itertools import count, islice

from litm.findings.first_screen import (
    FirstScreen,
    ModelRow,
    PairMatrix,
    Point,
    QuestionTable,
    SizeTable,
    WarningGroup,
)  # fmt: skip
from litm.findings.record import Finding, Number, Strength

#: Accuracies at five positions, by the shape and strength of their curve.
CURVES = {
    ("U", Strength.SHOWN): (0.75, 0.6, 0.54, 0.56, 0.63),
    ("falling", Strength.SHOWN): (0.9, 0.8, 0.7, 0.6, 0.5),
    ("no difference shown", Strength.CANNOT_TELL): (0.5, 0.52, 0.47, 0.49, 0.51),
    ("flat", Strength.NOT_SHOWN): (0.61, 0.6, 0.6, 0.6, 0.61),
    ("no difference shown", Strength.NOT_SHOWN): (0.4, 0.42, 0.41, 0.42, 0.41),
    ("floor", Strength.UNINFORMATIVE): (0.0, 0.01, 0.0, 0.0, 0.01),
    ("in doubt", Strength.UNINFORMATIVE): (0.3, None, 0.1, 0.2, 0.3),
}


def around(value: float, width: float = 0.05, p: float | None = None) -> Number:
    """A number with an interval of this half width."""
    return Number(value, value - width, value + width, p)


def model_row(model: str, kind: int = 0, tied: bool = False, marks: tuple[int, ...] = ()) -> ModelRow:
    """A row with the curve of this place in `CURVES`."""
    (shape, strength), accuracies = [*CURVES.items()][kind % len(CURVES)]
    start, _, middle, _, end = accuracies
    scored = [accuracy for accuracy in accuracies if accuracy is not None]
    index = (start + end) / 2 - middle
    return ModelRow(
        model, 200, around(sum(scored) / len(scored)), tied, around(0.2), around(0.8), None, Number(start),
        Number(middle), Number(end), around(index, p=0.001 if strength is Strength.SHOWN else 0.4), shape, strength,
        612 if strength is Strength.CANNOT_TELL else None,
        tuple(Point(5 * n, n / 4, accuracy) for n, accuracy in enumerate(accuracies)), marks,
    )  # fmt: skip


def models(number: int) -> tuple[str, ...]:
    """Names of models, short and long ones."""
    names = ("gpt-4o-mini", "deepseek-chat", "smollm2-135m-instruct-q4_1-recorded", "claude-3-haiku", "Qwen/Qwen2.5-7B")
    return tuple(islice((f"{name}{f'-v{n}' if n else ''}" for n in count() for name in names), number))


def first_screen(
    names: tuple[str, ...], experiments: tuple[str, ...] = ("kv",), sizes: tuple[int, ...] = (6,)
) -> FirstScreen:
    """A first screen of these models: the second is tied with the first, and the last has a warning."""
    rows = tuple(
        model_row(name, kind, kind % 3 == 1, (1,) if kind == len(names) - 1 else ()) for kind, name in enumerate(names)
    )
    tables = tuple(
        QuestionTable(name, "best_subspan_em", tuple(SizeTable(size, None, rows) for size in sizes))
        for name in experiments
    )
    silent = {"reason": "floor", "n_most": 200, "cluster": None}
    floor = Finding("no_information", names[-1:], experiments[:1], n=200, facts=silent, remedy="fewer_items")
    doubt = Finding("recorded_doubt", names[:1], experiments[:1], facts={"doubt": "the answers are of another prompt"})
    stand_ins = Finding("stand_ins", names[:1])
    advice = Finding(
        "advice", names[:1], experiments[:1], n=200, strength=Strength.SHOWN,
        numbers={"accuracy": around(0.61), "may_lose": Number(0.024), "tokens": Number(1834), "dollars": Number(None)},
        facts={
            "condition": "5 documents", "documents": 5, "order": "ranked",
            "reason": None, "n_alike": 3, "n_conditions": 6, "compared": [], "n_without_answer": None,
        },
    )  # fmt: skip
    cells = tuple(
        tuple(None if a == b else around((b - a) / 50, p=0.01 if abs(a - b) > 2 else 0.5) for b, _ in enumerate(names))
        for a, _ in enumerate(names)
    )
    pairs = tuple(PairMatrix(name, names, cells) for name in experiments) if len(names) > 1 else ()
    return FirstScreen(
        (stand_ins,), tables, (advice,),
        (WarningGroup(1, floor.kind, (floor,)), WarningGroup(0, doubt.kind, (doubt,))), pairs,
    )  # fmt: skip
