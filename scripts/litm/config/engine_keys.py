"""The kinds of models, with keys of their own: recorded responses, models that a server runs, and those run here."""

from collections.abc import Mapping

from litm.engines import engine_facts, engine_names
from litm.errors import UserError

#: The engine of an entry that runs nothing, and those that ask a server.
RECORDED = "recorded"
API_ENGINES = tuple(engine_names(lambda facts: facts.provider is not None))

RECORDED_KEYS = ("responses", "fields")
#: What every kind has.
COMMON_KEYS = ("engine", "about", "reasoning", "reasoning_tags")
API_KEYS = (
    "api_model",
    "base_url",
    "endpoint",
    "request",
    "api_key_variable",
    "concurrency",
    "request_timeout",
    "request_attempts",
    "prices",
)
LOCAL_KEYS = (
    "path",
    "hub",
    "dtype",
    "quantization",
    "attention",
    "config",
    "device",
    "gpus",
    "shards",
    "batch_tokens",
    "threads",
    "parameters",
    "gpu_model",
    "mem_mb",
    "runtime",
)
#: Those that say which model it is, or need its tokenizer.
MODEL_KEYS = ("path", "hub", "revision", "tokenizer", "config", "reasoning", "reasoning_tokens", "reasoning_tags")


def is_recorded(entry: Mapping) -> bool:
    """Whether an entry of models.yaml has recorded responses in the place of a model."""
    return entry.get("engine") == RECORDED


def is_api(entry: Mapping) -> bool:
    """Whether an entry of models.yaml is a model that a server runs."""
    return entry.get("engine") in API_ENGINES


def has_no_model(entry: Mapping) -> bool:
    """Whether an entry of models.yaml has no model, only an engine."""
    engine = entry.get("engine")
    return engine in engine_names() and not engine_facts(engine).has_model


def with_defaults(entry: Mapping, defaults: Mapping) -> dict:
    """An entry with the config's defaults for those keys that it can have; they say how a model is run."""
    if is_recorded(entry):
        return dict(entry)
    other = LOCAL_KEYS if is_api(entry) else (*API_KEYS, *MODEL_KEYS) if has_no_model(entry) else API_KEYS
    return {**{key: value for key, value in defaults.items() if key not in other}, **entry}


def check_engine_keys(name: str, entry: Mapping) -> None:
    """Raise `UserError` for a key of another kind of entry."""
    where = f"models.{name}"
    if is_recorded(entry):
        allowed = (*COMMON_KEYS, *RECORDED_KEYS)
        if wrong := [key for key in entry if key not in allowed]:
            raise UserError(f"{where}: 'engine: {RECORDED}' takes no '{wrong[0]}'; its keys: {', '.join(allowed)}")
        return
    if wrong := [key for key in entry if key in RECORDED_KEYS]:
        raise UserError(f"{where}: '{wrong[0]}' is only for 'engine: {RECORDED}'")
    if has_no_model(entry) and (wrong := [key for key in entry if key in MODEL_KEYS]):
        raise UserError(f"{where}: '{wrong[0]}' is not for 'engine: {entry['engine']}', which has no model")
    if is_api(entry) and (wrong := [key for key in entry if key in LOCAL_KEYS]):
        raise UserError(f"{where}: '{wrong[0]}' is not for 'engine: {entry['engine']}', whose models a server runs")
    if not is_api(entry) and (wrong := [key for key in entry if key in API_KEYS]):
        raise UserError(f"{where}: '{wrong[0]}' is only for 'engine: {' or '.join(API_ENGINES)}'")
