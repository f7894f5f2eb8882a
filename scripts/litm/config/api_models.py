"""Models that a server runs, asked over a network: where they are asked, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.config.catalogue import choose, text_names
from litm.config.data import Dataset, locate
from litm.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, EngineFacts
from litm.engines import engine_facts, engine_names
from litm.errors import UserError
from litm.inference.policies import STOP
from litm.prompt_format import CHAT, RAW
from litm.reasoning import STRIP, Reasoning, read_reasoning

#: Fields of a request that the workflow sets from the entry and the prompt, or on which reading the response depends.
OWN_FIELDS = {
    "model": "set 'api_model'",
    "messages": "they are the prompt",
    "prompt": "it is the example's",
    "stream": "responses are read whole",
    "n": "one answer is scored",
    "best_of": "one answer is scored",
}


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
    request_timeout: float
    request_attempts: int
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
    if "endpoint" in entry and not _has_completions(engine_facts(entry["engine"])):
        having = " or ".join(engine_names(_has_completions))
        raise UserError(f"{where}: 'endpoint' is only for 'engine: {having}'")
    endpoint = entry.get("endpoint", CHAT_ENDPOINT)
    chat = endpoint == CHAT_ENDPOINT
    prompt_template = entry.get("prompt_template", CHAT if chat else RAW)
    _check_template(prompt_template, entry, chat, where, root)
    _check_request(entry.get("request", {}), where)
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
        request_timeout=entry.get("request_timeout", 600),
        request_attempts=entry.get("request_attempts", 10),
        prices=entry.get("prices"),
        tokens_per_second=entry.get("tokens_per_second"),
    )


def _has_completions(facts: EngineFacts) -> bool:
    return facts.provider is not None and COMPLETIONS_ENDPOINT in facts.provider.endpoints


def _check_template(prompt_template: str, entry: Mapping, chat: bool, where: str, root: Path) -> None:
    allowed = [CHAT, RAW] if chat else [CHAT, RAW, *text_names(root / "resources" / "prompt_templates")]
    hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chat else ""
    choose([prompt_template], allowed, f"{where}.prompt_template", hint)
    if prompt_template == CHAT and not chat and "tokenizer" not in entry:
        raise UserError(f"{where}: 'prompt_template: {CHAT}' with 'endpoint: {COMPLETIONS_ENDPOINT}' needs 'tokenizer'")


def _check_request(request: Mapping, where: str) -> None:
    for field in sorted(OWN_FIELDS.keys() & request):
        raise UserError(f"{where}.request: {field!r} is not for a request to say: {OWN_FIELDS[field]}")


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
