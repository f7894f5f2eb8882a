"""YAML files of the library and of users."""

from pathlib import Path
from typing import Any

import yaml

# Imported where it is used, because the rules read JSON too.


#: libyaml if PyYAML has it: files are read at every start, and the Python loader is ten times slower.
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(path: Path) -> Any:
    """What a YAML file of this library has, which stands beside a module."""
    return yaml.load(path.read_text(encoding="utf-8"), YAML_LOADER)
