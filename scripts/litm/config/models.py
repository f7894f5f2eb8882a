"""The models of the configuration: where they are; how they are asked, which changes answers; how they are run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.config.catalogue import choose, text_names
from litm.config.data import Dataset, locate
from litm.config.engine_keys import RECORDED
from litm.engine import NO_QUANTIZATION
from litm.engines import engine_facts, engine_names
from litm.errors import UserError
from litm.identity import check_has_tokenizer, check_model_folder
from litm.inference.policies import STOP
from litm.prompt_format import CHAT, RAW
from litm.reasoning import BUDGET, OFF, Reasoning, read_reasoning


@dataclass(frozen=True)
class Model:
    """A named entry of the catalogue. config: values that replace those of the model's own configuration."""

    name: str
    engine: str
    path: str | None
    hub: str | None
    revision: str | None
    tokenizer: str | None
    context_window: int | None
    dtype: str
    quantization: str
    attention: str
    config: Mapping
    prompt_template: str
    reasoning: Reasoning
    on_failure: str
    device: str
    gpus: int
    shards: int
    batch_tokens: int
    threads: int
    tokens_per_second: float | None
    parameters: float | None
    gpu_model: str | None
    mem_mb: int | None
    runtime: int | None

    def answer_settings(self) -> dict:
        """What changes a response, beside the weights, the prompt template's text and the decoding."""
        settings = {
            "engine": self.engine,
            "dtype": self.dtype,
            "attention": self.attention,
            "prompt_template": self.prompt_template,
            **self.reasoning.settings(),
        }
        # Left out where there is none, as before there was any: what was answered then is still an answer.
        if self.quantization != NO_QUANTIZATION:
            settings["quantization"] = self.quantization
        return {**settings, **self._changes()}

    def location(self) -> dict:
        """Where the model is: what `identify_model.py` is given."""
        if not self.has_weights:
            return {"engine": self.engine, "version": engine_facts(self.engine).version}
        return {"path": self.path, "hub": self.hub, "revision": self.revision, **self._changes()}

    def _changes(self) -> dict:
        return {"config": dict(self.config)} if self.config else {}

    @property
    def has_weights(self) -> bool:
        """Whether there is a model to load, with a tokenizer."""
        return engine_facts(self.engine).has_model

    @property
    def template_name(self) -> str | None:
        """The named prompt template, None for a raw prompt or the tokenizer's chat template."""
        return None if self.prompt_template in (RAW, CHAT) else self.prompt_template


def read_model(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> Model:
    """An entry of models.yaml of a model that can be run; `UserError` for unknown names, or a folder without what a
    model needs.
    """
    choose([entry["engine"]], [*engine_names(), RECORDED], f"models.{name}.engine")
    has_model = engine_facts(entry["engine"]).has_model
    if ("path" in entry) == ("hub" in entry) and has_model:
        raise UserError(f"models.{name}: give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
    prompt_template = entry.get("prompt_template", RAW)
    templates = [RAW, CHAT, *text_names(root / "resources" / "prompt_templates")]
    choose([prompt_template], templates, f"models.{name}.prompt_template")
    path = _folder(name, entry, root)
    return Model(
        name=name,
        engine=entry["engine"],
        path=path,
        hub=entry.get("hub"),
        revision=entry.get("revision"),
        tokenizer=_tokenizer(name, entry, datasets, root),
        context_window=entry.get("context_window"),
        dtype=entry.get("dtype", "auto"),
        quantization=entry.get("quantization", NO_QUANTIZATION),
        attention=entry.get("attention", "sdpa"),
        config=entry.get("config", {}),
        prompt_template=prompt_template,
        reasoning=_reasoning(entry, prompt_template, f"models.{name}"),
        on_failure=entry.get("on_failure", STOP),
        device=entry.get("device", "auto" if has_model else "cpu"),
        gpus=entry.get("gpus", 1),
        shards=entry.get("shards", 1),
        batch_tokens=entry.get("batch_tokens", 16384),
        threads=entry.get("threads", 8),
        tokens_per_second=entry.get("tokens_per_second"),
        parameters=entry.get("parameters"),
        gpu_model=entry.get("gpu_model"),
        mem_mb=entry.get("mem_mb"),
        runtime=entry.get("runtime"),
    )


def _reasoning(entry: Mapping, prompt_template: str, where: str) -> Reasoning:
    """What is done about a model's reasoning; `UserError` for keys that do not go together."""
    reasoning = read_reasoning(entry, where)
    if reasoning.policy == OFF and prompt_template != CHAT:
        raise UserError(f"{where}.reasoning: {OFF} is a switch of chat templates, it needs 'prompt_template: {CHAT}'")
    if reasoning.policy == BUDGET and not engine_facts(entry["engine"]).budgets_reasoning:
        budgeting = " or ".join(engine_names(lambda facts: facts.budgets_reasoning))
        raise UserError(f"{where}.reasoning: {BUDGET} is only for 'engine: {budgeting}'")
    return reasoning


def _folder(name: str, entry: Mapping, root: Path) -> str | None:
    if "path" not in entry:
        return None
    path = locate(entry["path"], root, f"models.{name}.path")
    check_model_folder(Path(path))
    if "tokenizer" not in entry:
        check_has_tokenizer(Path(path))
    return path


def _tokenizer(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> str | None:
    tokenizer = entry.get("tokenizer")
    if tokenizer is None or tokenizer in datasets:
        return tokenizer
    tokenizer = locate(tokenizer, root, f"models.{name}.tokenizer")
    if not Path(tokenizer).is_file():
        raise UserError(f"models.{name}.tokenizer: {tokenizer} is not a file (a tokenizer.json is wanted)")
    return tokenizer
