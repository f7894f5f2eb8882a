"""Models that a server runs, asked over a network: where they are asked, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.config.catalogue import choose, text_names
from litm.config.data import Dataset, locate
from litm.engines import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT
from litm.errors import UserError
from litm.prompt_format import CHAT, RAW
from litm.reasoning import STRIP, Reasoning, read_reasoning
from litm.sweep import STOP

#: The engine whose servers have both endpoints; the other has the chat alone.
OPENAI = "openai"


@dataclass(frozen=True)
class ApiModel:
    """A named entry of the catalogue that a server runs.

    api_model: what the server calls it; revision: the user's word for what the server has under that name; tokenizer:
    a dataset or a path; prices: US dollars a million tokens, of `input` and `output`.
    """

    name: str
    engine: str
    api_model: str
    base_url: str | None
    revision: str | None
    endpoint: str
    request: Mapping
    tokenizer: str | None
    context_window: int | None
    prompt_template: str
    reasoning: Reasoning
    on_failure: str
    api_key_variable: str | None
    concurrency: int
    prices: Mapping | None
    tokens_per_second: float | None

    def answer_settings(self) -> dict:
        """What changes a response, beside the model, the prompt template's text and the decoding."""
        return {
            "engine": self.engine,
            "endpoint": self.endpoint,
            "prompt_template": self.prompt_template,
            "request": dict(self.request),
            **self.reasoning.settings(),
        }

    def location(self) -> dict:
        """Where the model is asked: what `identify_model.py` is given."""
        return {
            "api_model": self.api_model,
            "base_url": self.base_url,
            "revision": self.revision,
            "api_key_variable": self.api_key_variable,
        }

    @property
    def template_name(self) -> str | None:
        """The named prompt template, None for a raw prompt or the server's chat template."""
        return None if self.prompt_template in (RAW, CHAT) else self.prompt_template


def read_api_model(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> ApiModel:
    """An entry of models.yaml of a model that a server runs; `UserError` for keys that do not go together."""
    where = f"models.{name}"
    if "api_model" not in entry:
        raise UserError(f"{where}: 'api_model' is missing: the server's name for the model")
    if "endpoint" in entry and entry["engine"] != OPENAI:
        raise UserError(f"{where}: 'endpoint' is only for 'engine: {OPENAI}'")
    endpoint = entry.get("endpoint", CHAT_ENDPOINT)
    chat = endpoint == CHAT_ENDPOINT
    prompt_template = entry.get("prompt_template", CHAT if chat else RAW)
    allowed = [CHAT, RAW] if chat else [RAW, *text_names(root / "resources" / "prompt_templates")]
    other = COMPLETIONS_ENDPOINT if chat else CHAT_ENDPOINT
    choose([prompt_template], allowed, f"{where}.prompt_template", f"others are for 'endpoint: {other}'")
    return ApiModel(
        name=name,
        engine=entry["engine"],
        api_model=entry["api_model"],
        base_url=entry.get("base_url"),
        revision=entry.get("revision"),
        endpoint=endpoint,
        request=entry.get("request", {}),
        tokenizer=_tokenizer(name, entry, datasets, root),
        context_window=entry.get("context_window"),
        prompt_template=prompt_template,
        reasoning=_reasoning(entry, where),
        on_failure=entry.get("on_failure", STOP),
        api_key_variable=entry.get("api_key_variable"),
        concurrency=entry.get("concurrency", 8),
        prices=entry.get("prices"),
        tokens_per_second=entry.get("tokens_per_second"),
    )


def _reasoning(entry: Mapping, where: str) -> Reasoning:
    reasoning = read_reasoning(entry, where)
    if reasoning.policy not in (None, STRIP):
        raise UserError(
            f"{where}.reasoning: {reasoning.policy} is for the server to do, which is told in the 'request'; "
            f"allowed: {STRIP}"
        )
    return reasoning


def _tokenizer(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> str | None:
    tokenizer = entry.get("tokenizer")
    if tokenizer is None or tokenizer in datasets:
        return tokenizer
    return locate(tokenizer, root, f"models.{name}.tokenizer")
