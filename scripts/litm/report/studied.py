"""Subjects of the study: each experiment's task with one example, its contexts' lengths, and each model."""

from collections.abc import Iterator, Mapping, Sequence

from litm.base.messages import single_spaced
from litm.report.words import Lengths, SizeNames, tokens

#: Characters of a text in an example; longer texts are cut.
LONGEST = 400
#: Wording of the keys of a model's `about`.
ABOUT = {
    "family": "family {}",
    "parameters": "{:g} billion parameters",
    "architecture": "{}",
    "training_length": "trained on {:,} tokens",
    "tuned_from": "tuned from {}",
    "longer_context_of": "longer context of {}",
}


def experiments_studied(
    experiments: Sequence[Mapping], samples: Mapping[str, Sequence[Mapping]], names: SizeNames, lengths: Lengths
) -> list[dict]:
    """{name, title, asks, right_if, contexts, example} per experiment, in their order.

    contexts: sizes with their lengths in tokens; example: see `_example`, None without a sample.
    """
    return [
        {
            "name": one["name"],
            "title": one["title"],
            "asks": one["asks"],
            "right_if": one["right_if"],
            "contexts": list(_contexts(one, names, lengths)),
            "example": _example(samples.get(one["name"], ())),
        }
        for one in experiments
    ]


def _contexts(experiment: Mapping, names: SizeNames, lengths: Lengths) -> Iterator[str]:
    for size in dict.fromkeys(cell["size"] for cell in experiment["cells"]):
        what = names(experiment["name"], size)
        yield ": ".join(filter(None, [what, tokens(lengths, experiment["name"], size)]))


def _example(records: Sequence[Mapping]) -> dict | None:
    """{question, item, answers, id, size} of the first question; item: text of the gold item, '' without one."""
    if not records:
        return None
    record = records[0]
    cell = record["cells"][0]
    prompt = "".join(record["pieces"][piece] for piece in cell["prompt"])
    spans = [target["span"] for target in cell["targets"] if target["span"]]
    return {
        "question": _cut(cell["question"]),
        # Without the braces of JSON around the first and the last pair.
        "item": _cut(_utf16_slice(prompt, *spans[0]).strip("{}, \n")) if spans else "",
        "answers": " or ".join(cell["targets"][0]["answers"][:3]),
        "id": record["id"],
        "size": record["size"],
    }


def _utf16_slice(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def _cut(text: str) -> str:
    text = single_spaced(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def models_studied(sweeps: Sequence[Mapping], manifests: Sequence[Mapping], about: Mapping[str, Mapping]) -> list[dict]:
    """One row by heading per model; values that differ between its sweeps are joined.

    sweeps: rows of `provenance.sweep_rows`, in the order of the manifests; about: descriptions by model.
    """
    by_model: dict[str, list[tuple[Mapping, Mapping]]] = {}
    for sweep, manifest in zip(sweeps, manifests, strict=True):
        by_model.setdefault(sweep["Model"], []).append((sweep, manifest))
    return [
        {
            "Model": model,
            "What it is": ", ".join(_about(about.get(model, {}))) or "no facts in its entry (`about`)",
            **{
                heading: _joined(sweep[heading] for sweep, _ in own)
                for heading in ("Weights", "Number format", "Prompt format")
            },
            "Context window": _joined(
                f"{manifest['context_window']:,} tokens" if manifest.get("context_window") else "not known"
                for _, manifest in own
            ),
        }
        for model, own in by_model.items()
    ]


def _about(said: Mapping) -> Iterator[str]:
    for key, words in ABOUT.items():
        if key in said:
            yield words.format(said[key])


def _joined(values: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(values))
