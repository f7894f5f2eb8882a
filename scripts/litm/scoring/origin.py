"""Origin of the responses in a file: whether they are the answers of the study's model, with the study's settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from litm.base.messages import UserError
from litm.domain.example import Example
from litm.domain.response import SweepResponse, response_key
from litm.models.number_format import AUTO
from litm.prompting.formats import CHAT

RUN_AGAIN = (
    "run again with `--forcerun generate generate_shard import_responses`, which asks only prompts that no journal "
    "has an answer to"
)


@dataclass(frozen=True)
class Origin:
    """What answers are to be made with. source: the model's identity, by identify_model.py; settings: those of the
    model that change an answer; decoding: limit of new tokens, stop rule.
    """

    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    decoding: Mapping[str, Any]


def check_origin(where: str, manifest: Mapping[str, Any], origin: Origin) -> None:
    """Raise `UserError`, beginning with `where`, if a sweep was asked of another model or with other settings.

    manifest: the sweep's manifest. Its file may be a copy from another folder, whose model has the same name.
    """
    made = manifest["identity_fields"]
    # The identity lacks settings that change no answer, see `generation_settings`.
    settings = {name: origin.settings.get(name) for name in made["model"]}
    if settings.get("dtype") == AUTO:
        # The machine that asked chose the format.
        settings["dtype"] = made["model"]["dtype"]
    compared = {
        "model": (made["source"], origin.source),
        "settings": (made["model"], settings),
        "limit or stop rule": (made["decoding"], origin.decoding),
    }
    for what, (then, now) in compared.items():
        if then != now:
            raise UserError(
                f"{where}: these responses have another {what} than the study (a copy from elsewhere?): {RUN_AGAIN}"
            )


def with_checked_keys(
    where: str, manifest: Mapping[str, Any], examples: Iterable[Example], responses: Iterable[SweepResponse]
) -> Iterator[Example]:
    """Yield the examples of a sweep, one at a time: together, long prompts take gigabytes.

    Raises `UserError`, beginning with `where`, for a response that is not of the sweep that the manifest describes.
    Examples without a response are no error here.
    """
    identity = manifest["identity"]
    is_chat = manifest["identity_fields"].get("model", {}).get("prompt_template") == CHAT
    keys = {response.name: response.key for response in responses}
    for example in examples:
        yield example
        # After its score, whose own refusals say more.
        key = keys.get(example.name)
        if key is not None and key != response_key(identity, example.content(is_chat)):
            raise UserError(
                f"{where}: the response to question {example.id}, size {example.size}, {example.placement}, is not of "
                f"the sweep that its manifest describes: {RUN_AGAIN}"
            )
