"""Configuration files as Snakemake accepts them: YAML or JSON."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.files import read_text
from litm.base.records import parse_json
from litm.base.yaml_files import read_yaml

#: Texts that stand for other values in both YAML and JSON.
WORDS = {"true": True, "false": False, "null": None}
WHOLE_NUMBER = re.compile(r"-?(0|[1-9]\d*)")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def command_line_values(config: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `--config`, with numbers, true, false and null within mappings parsed.

    Snakemake leaves them texts: `--config define='{experiments: {e: {examples: 20}}}'`.
    """
    return {key: _typed(value) for key, value in config.items() if isinstance(value, Mapping)}


def _typed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, str):
        return value
    if WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return float(value) if NUMBER.fullmatch(value) else WORDS.get(value, value)


def read_config_file(path: str | Path) -> Any:
    """The value of a configuration file; raises `UserError` as `read_yaml`, `read_text` or `parse_json` does."""
    if Path(path).suffix != ".json":
        return read_yaml(path)
    return parse_json(read_text(path), str(path))
