"""Settings of engines, and the same with changes."""

from dataclasses import fields, replace

from litm.engines.interface import EngineSettings
from litm.engines.registry import settings_class
from litm.prompting.prompt_format import RAW


def engine_settings(engine: str, location: str, **values: object) -> EngineSettings:
    """Settings for raw prompts and short answers, with the values that `changed_settings` takes."""
    keys = settings_class(engine).from_settings({"engine": engine, "prompt_template": RAW})
    return changed_settings(EngineSettings(location, None, None, RAW, None, 50, "end_token", keys), **values)


def changed_settings(settings: EngineSettings, engine: str | None = None, **values: object) -> EngineSettings:
    """The settings with other values of their fields and of the model's keys, for another engine if that is named; then
    they have those of the keys that both engines have.
    """
    keys = settings.keys
    if engine and engine != keys.engine:
        common = {name: getattr(keys, name) for name in keys.model_fields_set}
        keys = settings_class(engine).from_settings({**common, "engine": engine})
    names = {field.name for field in fields(settings)}
    of_keys = {name: value for name, value in values.items() if name not in names}
    assert of_keys.keys() <= type(keys).model_fields.keys()
    return replace(settings, keys=keys.changed(**of_keys), **{name: values[name] for name in names & values.keys()})
