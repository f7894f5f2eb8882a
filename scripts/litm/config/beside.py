"""Other models beside the study's own: recorded responses that are read, scored and drawn, and in no conclusion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.schema import choose, string_keys
from litm.config.catalogue import Config, Entries
from litm.config.experiments import Experiment
from litm.config.recorded_models import RecordedModel
from litm.config.yaml_files import read_yaml
from litm.engines.model_entries import RECORDED
from litm.records.measures import ANSWER

#: The config whose `define` has the models that a study may name without an entry of its own.
OTHERS = "others.yaml"


def with_others(config: Config, root: Path) -> Config:
    """The config with the entries of `root`/config/others.yaml that it lacks: of the models in its `beside`, and of the
    experiments that these were asked.
    """
    if not config.beside:
        return config
    others, mine = string_keys(read_yaml(root / "config" / OTHERS)["define"]), config.define or {}
    models = {**(mine.get("models") or {})}
    models |= {
        name: {**others["models"][name], **models.get(name, {})} for name in config.beside if name in others["models"]
    }
    asked = {name for entry in models.values() for name in entry.get("responses") or ()}
    experiments = {name: entry for name, entry in others["experiments"].items() if name in asked}
    experiments |= mine.get("experiments") or {}
    known = [*others["models"], *(name for name, entry in models.items() if entry.get("engine") == RECORDED)]
    choose(config.beside, [*known], "beside", "an entry of define.models with 'engine: recorded' may be named too")
    if both := [name for name in config.beside if name in config.models]:
        raise UserError(f"beside: {both[0]} is in 'models' too; name it in one of the two")
    return config.changed(define={**mine, "models": models, "experiments": experiments})


def read_beside(
    config: Config, entries: Entries, experiments: Mapping[str, Experiment], available: Entries, root: Path
) -> dict[str, RecordedModel]:
    """The models of `beside` with the files of their responses to the selected experiments.

    Judged experiments are left out: only answers of the study's own models are judged. Tokens are not counted. Raises
    `UserError` for a model without responses to any of the experiments, and for a file that is missing.
    """
    asked = {name: entry for name, entry in experiments.items() if ANSWER in entry.measure and not entry.judge}
    models = {}
    for name in dict.fromkeys(config.beside or ()):
        entry: Any = entries["models"][name]
        if not asked.keys() & (responses := entry.recorded):
            raise UserError(
                f"beside: {name} has no responses to the selected experiments ({', '.join(asked)}), only to "
                f"{', '.join(responses)}: select one of these, or take {name} out of 'beside'"
            )
        models[name] = entry.changed(tokenizer=None, package=None).with_files(asked, root, available)
    return models


def differences(model: RecordedModel, experiment: Experiment, version: str | None) -> str:
    """What differs between the recorded responses and those of the study's own models to an experiment, in words.

    version: of the experiment's data.
    """
    origin, said = model.origin, []
    if model.scores:
        said.append("recorded verdicts, without prompts and answers")
    elif {"prompt", "prompt_sha256"} & {*model.fields}:
        said.append("the same prompts")
    elif origin and origin.data_version and version and origin.data_version != version:
        said.append(f"the same questions with documents of {origin.data_version}, not {version}")
    else:
        said.append("the same questions, prompts not recorded")
    if origin and origin.max_new_tokens and origin.max_new_tokens != experiment.max_new_tokens:
        said.append(f"at most {origin.max_new_tokens:,} new tokens, not {experiment.max_new_tokens:,}")
    if origin and origin.differs:
        said.append(origin.differs)
    return "; ".join(said)
