"""What a study ran, and what it was made with: models, experiments, data, software; no times and no paths."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from litm.base.extensions import content, in_use
from litm.base.groups import grouped
from litm.base.messages import counted, single_spaced
from litm.base.store import canonical_json, digest, file_sha256
from litm.base.yaml_files import read_data
from litm.examples.tasks import load_task
from litm.placements import gold_places
from litm.records.conditions import Cut
from litm.records.served import several_names
from litm.records.tokens import answer_limit
from litm.report.sizes import SizeNames
from litm.scoring.metrics import mean_word

#: Packages that compute scores, tables, figures and report. Manifests name the packages that made the answers.
PACKAGES = ("snakemake", "pandas", "scipy", "matplotlib", "seaborn", "jinja2")
#: The works that a report cites, and the wording of what is said about models.
TOLD = read_data(Path(__file__).with_suffix(".yaml"))


@dataclass(frozen=True)
class Provenance:
    """What a study ran, and what it was made with, as the page shows it: rows by heading but for the first two."""

    studied: Sequence[Mapping]
    """See `experiments_studied`."""
    identities: Sequence[Mapping]
    """See `identities`."""
    models: Sequence[Mapping]
    sweeps: Sequence[Mapping]
    experiments: Sequence[Mapping]
    datasets: Sequence[Mapping]
    software: Sequence[Mapping]
    cited: Sequence[Mapping]
    seed: int
    config: str
    """Digest of the config's selection."""


def provenance(
    manifests: Sequence[Mapping],
    experiments: Sequence[Mapping],
    samples: Mapping[str, Sequence[Mapping]],
    about: Mapping[str, Mapping],
    names: SizeNames,
    datasets: Sequence[Mapping],
    seed: int,
    config: str,
    commit: str | None,
) -> Provenance:
    """What a study ran, and what it was made with.

    samples: records of `question_samples.question_records` by experiment; about: the catalogue's descriptions, by
    model; datasets: one row by heading per file of questions; config: the digest of what the config selects; commit:
    the workflow's, None if unknown.
    """
    return Provenance(
        studied=experiments_studied(experiments, samples, names),
        identities=identities(manifests),
        models=models_studied(manifests, about),
        sweeps=[sweep_row(manifest) for manifest in manifests],
        experiments=experiment_rows(experiments),
        datasets=datasets,
        software=software(commit),
        cited=cited(experiments),
        seed=seed,
        config=config,
    )


def cited(experiments: Sequence[Mapping]) -> list[dict[str, str]]:
    """One row by heading per work whose experiments a study ran: the paper, and the suite, which asks to cite both."""
    ran = [(experiment["name"], load_task(experiment["task"])) for experiment in experiments]
    of_suite = any(task.has_suite_words or name in TOLD["suite_experiments"] for name, task in ran)
    of_paper = of_suite or any(task.source for _, task in ran)
    return [TOLD["works"][name] for name, is_used in (("paper", of_paper), ("suite", of_suite)) if is_used]


def identities(manifests: Sequence[Mapping]) -> list[dict[str, str]]:
    """The fields of each identity, once for all sweeps that share it."""
    return [
        {
            "model": of_identity[0]["model"],
            "experiments": ", ".join(manifest["experiment"] for manifest in of_identity),
            "identity": identity,
            "fields": json.dumps(of_identity[0]["identity_fields"], indent=2, sort_keys=True, ensure_ascii=False),
        }
        for identity, of_identity in grouped(manifests, itemgetter("identity")).items()
    ]


def software(commit: str | None) -> list[dict[str, str]]:
    """The workflow's commit, the versions of `PACKAGES`, and the digests of extensions' files; packages that are not
    installed are left out.
    """
    workflow = f"commit {commit}" if commit else "commit not known"
    versions = [("Workflow", workflow), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    for folder in in_use():
        files = {file.relative_to(folder).as_posix(): file_sha256(file) for file in content(folder)}
        versions.append((f"extension {folder.name}", f"files {digest(files)[:12]}"))
    return [{"Name": name, "Version": version} for name, version in versions]


#: In place of a fact that nothing says.
NOT_KNOWN = "not known"


class Making(NamedTuple):
    """How the answers of a sweep were made, in words."""

    weights: str
    """The weights, or the files of recorded responses."""
    dtype: str = NOT_KNOWN
    """The number format of the computation."""
    dtype_reason: str = ""
    """Why it is this one."""
    attention: str = NOT_KNOWN
    """The implementation of attention."""
    prompt_format: str = NOT_KNOWN
    """The prompt template."""
    decoding: str = NOT_KNOWN
    """The rule by which tokens are chosen, and where an answer ends."""
    computed_with: str = NOT_KNOWN
    """Software and device."""


def making(manifest: Mapping) -> Making:
    """How the answers of a sweep were made; of recorded responses nothing but their files is known."""
    fields = manifest["identity_fields"]
    if files := fields["source"].get("recorded"):
        what = "verdicts" if "columns" in fields else "responses"
        return Making(f"recorded {what} ({counted(len(files), 'hashed file')})")
    model = fields["model"]
    weights = [_weights(fields["source"]), several_names(manifest), manifest.get("weights") or ""]
    weights += ["with code of its own"] if "trust_remote_code" in model else []
    # The number format of a model on a server is unknown here. A manifest has it as `NumberFormat` writes it.
    dtype, _, reason = (manifest.get("number_format") or model.get("dtype", NOT_KNOWN)).partition(", ")
    return Making(
        "; ".join(filter(None, weights)),
        dtype,
        reason,
        model.get("attention", NOT_KNOWN),
        model["prompt_template"],
        _decoding(fields["decoding"], model.get("request") or {}),
        "; ".join(manifest["made_with"]),
    )


def sweep_row(manifest: Mapping) -> dict[str, str]:
    """What a sweep was made with, by heading: model, weights, number format, decoding and prompt format."""
    making_of = making(manifest)
    return {
        "Model": manifest["model"],
        "Experiment": manifest["experiment"],
        "Weights": making_of.weights,
        "Number format": ", ".join(filter(None, [making_of.dtype, making_of.dtype_reason])),
        "Attention": making_of.attention,
        "Prompt format": making_of.prompt_format,
        "Decoding": making_of.decoding,
        "Prompts": f"{manifest['prompts']:,}",
        "Computed with": making_of.computed_with,
        "Identity": manifest["identity"][:12],
    }


def _decoding(decoding: Mapping, request: Mapping) -> str:
    """`greedy, at most 100 tokens, to the first_line`, with the fields that an entry adds to requests."""
    greedy = "greedy, " if request.get("temperature", 0) == 0 else ""
    fields = f", request {canonical_json(request)}" if request else ""
    limit, _ = answer_limit(request, decoding["max_new_tokens"])
    return f"{greedy}at most {limit} tokens, to the {decoding['stop']}{fields}"


def _weights(source: Mapping) -> str:
    """The weights named by the `source` of an identity."""
    if "engine" in source:
        return f"no model: engine {source['engine']}, version {source['version']}"
    if "api_model" in source:
        where = source.get("revision") or source.get("base_url")
        return f"{source['api_model']} of a server" + (f" ({where})" if where else "")
    if "hub" in source:
        return f"{source['hub']} @ {source['commit']}"
    return counted(len(source["files"]), "hashed file")


def experiment_rows(experiments: Sequence[Mapping]) -> list[dict[str, str]]:
    """One row by heading per experiment: task, questions, sizes, positions, prompt and metric."""
    return [
        {
            "Experiment": experiment["name"],
            "Task": experiment["task"],
            "Sizes and placements": placements(experiment["cells"]),
            "Questions": _questions(experiment),
            "Data": ", ".join([*dict.fromkeys(experiment["datasets"].values()), *_remedies(experiment)])
            or ("generated" if experiment["prompt"] else NOT_KNOWN),
            "Distractors": experiment["distractor_order"],
            "Prompt": experiment["prompt"] or NOT_KNOWN,
            "Metric": experiment["metric"],
        }
        for experiment in experiments
    ]


def placements(cells: Sequence[Mapping]) -> str:
    """Positions by size, as in `10: 0, 4, 9; 20: 0, 19`; a placement without a gold item by its name."""
    by_size: dict[int, list[str]] = {}
    for cell in cells:
        placement, between = cell["placement"], "+" if gold_places(cell["placement"]) else " "
        by_size.setdefault(cell["size"], []).append(placement.removeprefix("gold_at_").replace("_", between))
    return "; ".join(f"{size}: {', '.join(placements)}" for size, placements in by_size.items())


def _remedies(experiment: Mapping) -> list[str]:
    """Changes of the retrieved documents, as in `order reversed`, `rerank my_reranker`; [] if there are none."""
    remedies = [f"{key} {experiment[key]}" for key in ("order", "rerank") if experiment.get(key)]
    if measured := experiment.get("measured_on"):
        # Said here, because these are about half of the questions.
        remedies.append(f"only questions that are not in the curve of {measured['model']} in {measured['experiment']}")
    cut = experiment.get("cut")
    return remedies if cut is None else [*remedies, str(Cut(**cut))]


def _questions(experiment: Mapping) -> str:
    examples = experiment["examples"]
    number = "all" if examples is None else f"{examples:,}"
    if examples is not None and experiment["datasets"]:
        number = f"{experiment['selection']} {number}"
    if experiment["subset"] is not None:
        number += f" of {experiment['subset']}"
    return f"{number}, in clusters of one {experiment['cluster']}" if experiment.get("cluster") else number


#: Characters of a text in an example; longer texts are cut.
LONGEST = 400


def experiments_studied(
    experiments: Sequence[Mapping], samples: Mapping[str, Sequence[Mapping]], names: SizeNames
) -> list[dict]:
    """{name, title, asks, judged, answer_is, contexts, example} per experiment, in their order.

    contexts: sizes with their lengths in tokens; example: see `_example`, None without a sample.
    """
    return [
        {
            **{key: experiment[key] for key in ("name", "title", "asks")},
            "judged": _judged(experiment),
            # Of values that conflict none is right.
            "answer_is": "Counted" if mean_word(experiment["metric"]) == "share" else "Right",
            "contexts": [
                names.with_length(experiment["name"], size, ": ")
                for size in dict.fromkeys(cell["size"] for cell in experiment["cells"])
            ],
            "example": _example(samples.get(experiment["name"], ())),
        }
        for experiment in experiments
    ]


def _judged(experiment: Mapping) -> str:
    begins = {"accuracy": "An answer is right if", "mean": "The score of an answer is", "share": "An answer counts if"}
    return f"{begins[mean_word(experiment['metric'])]} {experiment['right_if']}"


def _example(records: Sequence[Mapping]) -> dict | None:
    """{question, item, answers, id, size} of the first question; item: text of the gold item, '' without one."""
    if not records:
        return None
    record = records[0]
    cell = record["cells"][0]
    prompt = "".join(record["pieces"][piece] for piece in cell["prompt"])
    start, end = next((target["span"] for target in cell["targets"] if target["span"]), (0, 0))
    item = prompt.encode("utf-16-le")[2 * start : 2 * end]
    return {
        "question": _cut(cell["question"]),
        # Without the braces of JSON around the first and the last pair.
        "item": _cut(item.decode("utf-16-le").strip("{}, \n")),
        "answers": " or ".join(cell["targets"][0]["answers"][:3]),
        "id": record["id"],
        "size": record["size"],
    }


def _cut(text: str) -> str:
    text = single_spaced(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def models_studied(manifests: Sequence[Mapping], about: Mapping[str, Mapping]) -> list[dict]:
    """One row by heading per model; values that differ between its sweeps are joined. about: descriptions by model."""
    by_model: dict[str, list[dict]] = {}
    for manifest in manifests:
        sweep = sweep_row(manifest)
        window = f"{manifest['context_window']:,} tokens" if manifest.get("context_window") else "not known"
        by_model.setdefault(sweep["Model"], []).append({**sweep, "Context window": window})
    headings = ("Weights", "Number format", "Prompt format", "Context window")
    rows = []
    for model, of_model in by_model.items():
        said = about.get(model, {})
        facts = ", ".join(words.format(said[key]) for key, words in TOLD["about"].items() if key in said)
        values = {heading: "; ".join(dict.fromkeys(sweep[heading] for sweep in of_model)) for heading in headings}
        rows.append({"Model": model, "What it is": facts or "no facts in its entry (`about`)", **values})
    return rows
