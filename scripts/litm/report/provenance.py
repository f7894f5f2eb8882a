"""What the report is a result of: models, decoding, experiments, data and software; no times, no paths of a machine."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata

from litm.domain.condition import Cut
from litm.domain.placement import gold_places
from litm.domain.served import several_names

#: What computes the report and all that it is made of, but the answers, whose software the manifests name.
PACKAGES = ("snakemake", "pandas", "scipy", "matplotlib", "seaborn", "jinja2")


def sweep_rows(manifests: Sequence[Mapping]) -> list[dict[str, str]]:
    """What each sweep is a result of, by heading, in a line."""
    return [_sweep(manifest) for manifest in manifests]


def limits_of_answers(manifests: Sequence[Mapping]) -> dict[str, int]:
    """Most new tokens of an answer, by experiment; of recorded responses that is not known."""
    decodings = {manifest["experiment"]: manifest["identity_fields"].get("decoding") for manifest in manifests}
    return {experiment: one["max_new_tokens"] for experiment, one in decodings.items() if one}


def identities(manifests: Sequence[Mapping]) -> list[dict[str, str]]:
    """All that the digest of each sweep's identity is made of, once for sweeps that have the same."""
    by_digest: dict[str, dict] = {}
    for manifest in manifests:
        one = {
            "model": manifest["model"],
            "experiments": [],
            "identity": manifest["identity"],
            "fields": json.dumps(manifest["identity_fields"], indent=2, sort_keys=True, ensure_ascii=False),
        }
        by_digest.setdefault(manifest["identity"], one)["experiments"].append(manifest["experiment"])
    return [{**one, "experiments": ", ".join(one["experiments"])} for one in by_digest.values()]


def software(commit: str | None) -> list[dict[str, str]]:
    """The workflow's commit and the versions of what it computes with; those that are not installed are left out."""
    workflow = f"commit {commit}" if commit else "commit not known"
    versions = [("Workflow", workflow), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return [{"Name": name, "Version": version} for name, version in versions]


def _sweep(manifest: Mapping) -> dict[str, str]:
    fields = manifest["identity_fields"]
    source = fields["source"]
    sweep = {"Model": manifest["model"], "Experiment": manifest["experiment"]}
    last = {"Prompts": f"{manifest['prompts']:,}", "Computed with": "; ".join(manifest["made_with"])}
    if "recorded" in source:
        files = len(source["recorded"])
        return {
            **sweep,
            "Weights": f"recorded responses ({files} hashed file{'s' if files > 1 else ''})",
            **dict.fromkeys(["Dtype", "Attention", "Prompt format", "Decoding"], "not known"),
            **last,
            "Computed with": "not known",
            "Identity": manifest["identity"][:12],
        }
    decoding = fields["decoding"]
    return {
        **sweep,
        "Weights": "; ".join(_weights_in_words(manifest)),
        # Of a model that a server runs, only the server knows.
        "Dtype": fields["model"].get("dtype", "not known"),
        "Attention": fields["model"].get("attention", "not known"),
        "Prompt format": fields["model"]["prompt_template"],
        "Decoding": f"greedy, at most {decoding['max_new_tokens']} tokens, to the {decoding['stop']}",
        **last,
        "Identity": manifest["identity"][:12],
    }


def _weights_in_words(manifest: Mapping) -> Iterator[str]:
    fields = manifest["identity_fields"]
    yield _weights(fields["source"])
    if several_names(manifest):
        yield several_names(manifest)
    if manifest.get("weights"):
        yield manifest["weights"]
    if "trust_remote_code" in fields["model"]:
        yield "with code of its own"


def _weights(source: Mapping) -> str:
    """What says which weights they are, of the `source` in an identity."""
    if "engine" in source:
        return f"no model: engine {source['engine']}, version {source['version']}"
    if "api_model" in source:
        where = source.get("revision") or source.get("base_url")
        return f"{source['api_model']} of a server" + (f" ({where})" if where else "")
    if "hub" in source:
        return f"{source['hub']} @ {source['commit']}"
    return f"{len(source['files'])} hashed file{'' if len(source['files']) == 1 else 's'}"


def experiment_rows(experiments: Sequence[Mapping]) -> list[dict[str, str]]:
    """What was asked in each experiment, by heading, in a line."""
    return [
        {
            "Experiment": experiment["name"],
            "Task": experiment["task"],
            "Sizes and placements": _placements(experiment["cells"]),
            "Questions": _questions(experiment),
            "Data": ", ".join([*dict.fromkeys(experiment["datasets"].values()), *_remedies(experiment)]) or "generated",
            "Distractors": experiment["distractor_order"],
            "Prompt": experiment["prompt"],
            "Metric": experiment["metric"],
        }
        for experiment in experiments
    ]


def _placements(cells: Sequence[Mapping]) -> str:
    """`10: 0, 4, 9; 20: 0, 19`; a placement without a gold item in its own words."""
    by_size: dict[int, list[str]] = {}
    for cell in cells:
        placement = (
            cell["placement"].removeprefix("gold_at_").replace("_", "+" if gold_places(cell["placement"]) else " ")
        )
        by_size.setdefault(cell["size"], []).append(placement)
    return "; ".join(f"{size}: {', '.join(placements)}" for size, placements in by_size.items())


def _remedies(experiment: Mapping) -> list[str]:
    """What is done with its documents: `order reversed`, `rerank my_reranker`; nothing as they were retrieved."""
    told = [f"{key} {experiment[key]}" for key in ("order", "rerank") if experiment.get(key)]
    cut = experiment.get("cut")
    return told if cut is None else [*told, str(Cut(**cut))]


def _questions(experiment: Mapping) -> str:
    examples = experiment["examples"]
    number = "all" if examples is None else f"{examples:,}"
    if examples is not None and experiment["datasets"]:
        number = f"{experiment['selection']} {number}"
    if experiment["subset"] is not None:
        number += f" of {experiment['subset']}"
    return f"{number}, in clusters of one {experiment['cluster']}" if experiment.get("cluster") else number
