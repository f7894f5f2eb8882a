"""Configuration files: values that YAML silently reads as something else are errors with their line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from litm.base.files import read_text
from litm.base.json_files import parse_json
from litm.base.messages import UserError
from litm.base.yaml_files import YAML_LOADER

TAG = "tag:yaml.org,2002:"
#: Tags of allowed values; JSON has no dates, sets or bytes.
KINDS = {f"{TAG}{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}
#: Numbers of YAML 1.1 that are rarely meant: octal, base 60, and NaN or infinity.
ODD_NUMBER = re.compile(r"[-+]?0[0-9_]+|.*:.*|.*\.(?:nan|inf)", re.IGNORECASE)
#: Levels of nesting, far above those of a config: libyaml crashes without a message at some ten thousand.
DEEPEST = 100


def read_yaml(path: str | Path) -> Any:
    """The value of a YAML file.

    Raises `UserError` with file and line for broken YAML, a duplicate key, a number in base 8 or 60, `.nan`, `.inf`,
    a date, and any other value that JSON does not have; with the file for one that is not UTF-8, or cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        depth = 0
        for event in yaml.parse(text, Loader=YAML_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise UserError(f"{path}, line {_line(event)}: more than {DEEPEST} nested lists or mappings")
        loader = YAML_LOADER(text)
        root = loader.get_single_node()
        for line, problem in () if root is None else _problems(root, (), set()):
            raise UserError(f"{path}, line {line}: {problem}")
        return None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{path}, line {line}: not valid YAML ({error.problem})") from error
    except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
        raise UserError(f"{path}: not UTF-8 text, or with control characters ({error.reason})") from error
    except ValueError as error:
        raise UserError(f"{path}: a value cannot be read ({str(error)[:100]}): put quotes around a text") from error


def read_layers(files: Iterable[Path]) -> dict[str, Any]:
    """The config that files give together, see `layered`."""
    return layered(read_yaml(file) or {} for file in files)


def layered(configs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The config that several give together: later ones over earlier ones, key by key, as Snakemake puts them."""
    together: dict[str, Any] = {}
    for config in configs:
        _put_over(together, config)
    return together


def _put_over(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            _put_over(below[key], value)
        else:
            below[key] = value


def _problems(node: yaml.Node, above: tuple[yaml.Node, ...], visited: set[int]) -> Iterator[tuple[int, str]]:
    """The line and description of each problem. above: the ancestors of the node; visited: the ids of visited nodes,
    because aliases may repeat a node.
    """
    if node in above:
        yield _line(node), "an alias stands for what it is a part of: write out what is meant"
    if id(node) in visited:
        return
    visited.add(id(node))
    if node.tag not in KINDS:
        kind = node.tag.removeprefix(TAG)
        yield _line(node), f"a value of the kind '{kind}', which YAML makes of {_shown(node)}: put quotes around it"
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            yield from _problems(key, (*above, node), visited)
            yield from _problems(value, (*above, node), visited)
            # Keys that begin with a question mark are conditions of yte, which Snakemake applies.
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{TAG}merge" and not key.value.startswith("?"):
                if key.value in first:
                    yield (
                        _line(key),
                        f"the key '{key.value}' is on line {first[key.value]} already, and YAML would keep the last "
                        "alone: remove one of them",
                    )
                first[key.value] = _line(key)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _problems(item, (*above, node), visited)
    elif node.tag in (f"{TAG}int", f"{TAG}float") and ODD_NUMBER.fullmatch(node.value):
        number = yaml.safe_load(node.value)
        yield _line(node), f"YAML reads {node.value} as {number}: write a number as usual, or quotes around a text"


def _line(node: yaml.Node | yaml.Event) -> int:
    return cast(Any, node.start_mark).line + 1


def _shown(node: yaml.Node) -> str:
    return repr(node.value) if isinstance(node, yaml.ScalarNode) else "it"


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
