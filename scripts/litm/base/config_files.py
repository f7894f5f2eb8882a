"""Files of the configuration, as Snakemake takes them: YAML, or JSON."""

from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.json_files import parse_json
from litm.base.yaml_files import read_yaml


def read_config_file(path: str | Path) -> Any:
    """The value of a file of the configuration; `UserError` for what `read_yaml` or `parse_json` finds in it."""
    if Path(path).suffix != ".json":
        return read_yaml(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason}); save the file as UTF-8") from error
    return parse_json(text, str(path))
