"""Options of programs that ask or count the prompts of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litm.base.records import read_json
from litm.inference.engines import engine_facts
from litm.inference.sweep_setup import Asking
from litm.models.number_format import AUTO, NumberFormat, format_here
from litm.prompting.render import read_prompt_template

#: Source of a model that was never asked and that the config describes fully.
UNKNOWN = {"location": None, "revision": None, "context_window": None, "identity": None}


@dataclass(frozen=True)
class SweepOptions:
    """Options that name a sweep and its examples, and say how its model is asked.

    model: the model's name
    experiment: the experiment's name
    settings: JSON: settings that change an answer
    decoding: JSON with max_new_tokens and stop
    tokenizer: a tokenizer file or a model folder, if not the model's own
    template: the file of a named prompt template
    run: JSON: how the model is run; changes no answer
    """

    model: str
    experiment: str
    settings: dict
    decoding: dict
    examples: tuple[str, ...]
    tokenizer: str | None = None
    template: str | None = None
    run: dict | None = None

    @property
    def name(self) -> str:
        """The sweep's name in messages."""
        return f"{self.model}/{self.experiment}"

    def asking(self, source_file: str | None, engine: str | None = None) -> Asking:
        """The model and the decoding, in the number format of this machine; `UNKNOWN` without a source.

        source_file: what identify_model.py wrote; engine: another than the model's own. Raises `UserError` as
        `read_prompt_template`.
        """
        template = read_prompt_template(self.template) if self.template else None
        source = read_json(source_file) if source_file else UNKNOWN
        settings = {**self.settings, **({"engine": engine} if engine else {})}
        number_format = number_format_of(settings, source, (self.run or {}).get("device", "auto"))
        if number_format:
            settings["dtype"] = number_format.name
        return Asking(source, settings, template, self.decoding, number_format)


def number_format_of(settings: Mapping[str, Any], source: Mapping[str, Any], device: str) -> NumberFormat | None:
    """The number format of a model's computation here; None for a model on a server, an engine without a model, and
    weights that are stored quantised, whose format their files set.
    """
    facts = engine_facts(settings["engine"])
    is_set_by_files = settings.get("dtype") == AUTO and source.get("is_quantized", False)
    if facts.provider or not facts.has_model or is_set_by_files:
        return None
    return format_here(settings["dtype"], device, needs_range="answer_window" in source)
