"""Models of the configuration that run here."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from litm.base.messages import UserError
from litm.base.schema import FILLED_IN, Answer, Count, Hub, Made, PathTo, Place, Positive, Workflow, locate
from litm.engines.interface import EngineSettings
from litm.engines.model_entries import AskedModel, Attention, Quantization, ReasoningKeys, RunKeys
from litm.engines.model_files import check_model_files, check_tokenizer_file, left_out_prompt_template
from litm.engines.registry import engine_facts, engines_with
from litm.models.locations import absent_package, find_in_package, is_gguf
from litm.prompting.prompt_format import CHAT, RAW
from litm.prompting.reasoning import BUDGET, OFF


class LocalModel(RunKeys, AskedModel):
    """A model that runs here.

    A change of device, batch_tokens or threads runs nothing again, and affects answers only by rounding.
    """

    is_local: ClassVar[Literal[True]] = True
    is_served: ClassVar[Literal[False]] = False
    is_recorded: ClassVar[Literal[False]] = False
    #: Whether there is a model to load, with a tokenizer.
    has_weights: ClassVar[bool] = False

    on_failure: Annotated[Literal["stop", "count"], Workflow("how prompts without an answer are handled")] = "count"
    """What to do if prompts get no answer because even a single one does not fit the machine's memory: count (they are
    counted as failed in the tables and not scored) or stop (an error). In both cases all answers are kept, and only
    prompts without an answer run again: after count by `snakemake --forcerun generate`, after stop by the next run. It
    changes no answer.
    """
    parameters: Annotated[Positive | None, Workflow("for the memory of a job")] = None
    """Parameters of the model in billions. If omitted, it comes from the weights in its folder or the name on the hub
    (7b). Used only for the memory and time that its sweeps request from a cluster, and for the hours of `snakemake
    estimate`. The next three keys also change nothing else.
    """
    gpu_model: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None, Workflow("a request to the cluster")
    ] = None
    """The cluster's name for the kind of GPU, such as a100. If omitted, any kind."""
    mem_mb: Annotated[Count | None, Workflow("a request to the cluster")] = None
    """MB of main memory that a sweep requests from a cluster, instead of a rule of thumb. It is doubled at the second
    attempt.
    """
    runtime: Annotated[Count | None, Workflow("a request to the cluster")] = None
    """Minutes that a sweep requests from a cluster, instead of an estimate by `tokens_per_second`, earlier runs or a
    rule of thumb. A sweep that takes longer is submitted again and resumes from its answers.
    """

    path: Made[str | None] = None
    package: Made[str | None] = None
    hub: Made[str | None] = None
    revision: Made[str | None] = None
    tokenizer: Made[str | None] = None
    config: Made[dict[str, Any]] = Field({})
    trust_remote_code: Made[bool] = False
    quantization: Made[Quantization] = "none"
    # Part of the identity of all that runs here, whether the engine has the key or not.
    attention: Made[Annotated[Attention, Answer("as written")]] = "sdpa"
    leaves_format_out: Made[bool] = False
    """Whether its prompt template is left out, and chosen here."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        return value if cls.has_weights or not isinstance(value, dict) else {"device": "cpu", **value}

    @property
    def used_gpus(self) -> int:
        """The number of GPUs that a job takes; 0 on a CPU."""
        return 0 if self.device == "cpu" else self.gpus

    @property
    def not_counting(self) -> str | None:
        """See `AnyModel.not_counting`."""
        return None if self.has_weights else "has no tokenizer"

    @property
    def is_gguf(self) -> bool:
        """Whether the model is a GGUF file."""
        return is_gguf(self.path or self.package or "")

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with the paths of its files; `UserError` for missing files, or files that contradict its keys.

        The path of a file in a package that is not installed stays None: a study is planned without it, and
        `identify_model` looks for it where jobs run.
        """
        made = super().located(root, entries).changed(path=self.stored_at(root))
        if made.path is not None:
            check_model_files(made.model_dump(), Path(made.path), self.where)
        if self.prompt_template is not FILLED_IN:
            return made
        # A tokenizer.json has no chat template.
        is_raw = not self.has_weights or self.tokenizer is not None
        named = made.path or self.hub or self.package or ""
        chosen = RAW if is_raw else left_out_prompt_template(named, made.path is not None, self.where)
        return made.changed(prompt_template=chosen, leaves_format_out=True)

    def stored_at(self, root: Path) -> str | None:
        """The model's folder or GGUF file; None for a model of the hub, or in a package that is not installed."""
        if self.package is not None:
            return None if self.absent(root) else find_in_package(self.package, f"{self.where}.package", root)
        return None if self.path is None else locate(self.path, root, f"{self.where}.path")

    def absent(self, root: Path) -> str | None:
        """The words for the entry's package that is not installed; None if it is, or there is none."""
        return absent_package(self.package, root) if self.package else None

    def is_here(self, root: Path) -> bool:
        """Whether nothing has to be downloaded or installed: no model of the hub, and its files are there."""
        try:
            self.stored_at(root)
        except UserError:
            return False
        return self.hub is None and not self.absent(root)

    def location(self) -> dict:
        """The model's place, as `identify_model.py` takes it."""
        if not self.has_weights:
            return {"engine": self.engine, "version": engine_facts(self.engine).version}
        place = self.of_role(Place)
        if self.path:
            place.pop("package", None)
        # The number format of the weights that a GGUF file is unpacked to.
        unpacked = {"dtype": self.dtype} if self.is_gguf else {}
        loading = {"config": self.config} if self.config else {}
        return {**place, **unpacked, **loading, **self.trust()}

    def trust(self) -> dict:
        """Permission to run the model's own code: {} without it."""
        return {"trust_remote_code": True} if self.trust_remote_code else {}


class LoadedModel(ReasoningKeys, LocalModel):
    """A model that is loaded here.

    A change of path, hub, revision, tokenizer, dtype or prompt_template runs all prompts again.
    """

    has_weights: ClassVar[bool] = True
    path: Annotated[
        str | None, Place("the content of the folder or the GGUF file is part of the key, its place is not")
    ] = None
    """A folder with the model (config.json, weights, tokenizer), or one GGUF file, relative to the working directory or
    the project. A GGUF file supplies its own tokenizer and chat template; its weights are dequantised to `dtype`, as
    the manifest and tables state.
    """
    hub: Annotated[
        Hub | None,
        Place("the name, and the commit that `revision` stands for when the model is identified", counts=True),
    ] = None
    """Name of the model on the Hugging Face hub, such as meta-llama/Llama-2-7b-hf."""
    revision: Annotated[str | None, Place("by the commit that it stands for", counts=True)] = None
    """Branch, tag or commit on the hub. If omitted, the default branch. Its commit is looked up once and kept in
    results/models; `snakemake --forcerun identify_model` looks it up again.
    """
    tokenizer: Annotated[
        str | None, PathTo(check_tokenizer_file, unless="datasets"), Answer("the sha256 of the file", is_apart=True)
    ] = None
    """The tokenizer, if the model does not include one: a tokenizer.json file, or the name of a dataset with one."""
    trust_remote_code: Annotated[
        bool, Answer("if it is true; the code by the hashes of its files, or by the commit", is_sparse=True)
    ] = False
    """true: loading the model runs the Python code in its repository with your rights, so read the code first. It needs
    a commit as `revision` (40 hex digits), or a `path`, whose code is hashed. The setting is part of the model's
    identity; the log, manifest and report show it.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        places = [self.path, self.package, self.hub]
        if places.count(None) != len(places) - 1:
            yield (
                "give either 'path' (a folder or a GGUF file), 'package' (a GGUF file in a Python package) or 'hub' (a "
                "name on the Hugging Face hub)"
            )
        if self.trust_remote_code and self.hub and not re.fullmatch("[0-9a-f]{40}", self.revision or ""):
            yield "'trust_remote_code' needs the commit whose code you have read: set 'revision' to its 40 hex digits"
        if self.reasoning.policy == OFF and self.prompt_template not in (FILLED_IN, CHAT):
            yield f"'reasoning: {OFF}' is a switch of chat templates, it needs 'prompt_template: {CHAT}'"
        if self.policy == BUDGET and "reasoning_tokens" not in self.keys:
            yield f"'reasoning: {BUDGET}' is only for 'engine: {' or '.join(engines_with('reasoning_tokens'))}'"


#: Settings of any engine that loads a model here.
LoadedSettings = EngineSettings[LoadedModel]
