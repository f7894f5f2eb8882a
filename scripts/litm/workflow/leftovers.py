"""Results of another selection in the same folder: they are put aside, so that nobody takes them for this study's."""

import json
from collections.abc import Callable
from pathlib import Path

from litm.workflow.records import RECORDS, is_recorded

#: Folders of results/ that people read, and where what is not of this study goes.
READ, ASIDE = ("tables", "figures", "summaries", "suite_export"), "other_selections"


def put_aside(
    config: str,
    is_output: Callable[[str], bool],
    results: str | Path = "results",
    records: str | Path = RECORDS,
) -> str:
    """Move what another selection left; a line that names it, '' where nothing was moved.

    Only if all tables are of this one, whose digest is `config`, and only what Snakemake has made. is_output: whether a
    rule of this selection makes a path.
    """
    if _recorded_config(Path(results)) != config:
        return ""
    left = [
        path
        for folder in READ
        for path in sorted((Path(results) / folder).glob("*"))
        if not is_output(path.as_posix()) and is_recorded(path.as_posix(), records)
    ]
    for path in left:
        target = Path(results) / ASIDE / path.parent.name / path.name
        _move(path, target)
    if not left:
        return ""
    named = ", ".join(f"{path.parent.name}/{path.name}" for path in left[:3])
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    return f"of another selection, put aside in {results}/{ASIDE}: {named}{more}"


def _recorded_config(results: Path) -> str | None:
    """The digest of the tables' config; None if their record is missing or cut off, so that nothing is moved."""
    try:
        return json.loads((results / "tables" / "study.json").read_text(encoding="utf-8"))["config"]
    except (FileNotFoundError, ValueError):
        return None


def _move(path: Path, target: Path) -> None:
    """Move a file, or all files of a folder, over what was put aside before."""
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            if one.is_file():
                _move(one, target / one.relative_to(path))
        for folder in sorted((one for one in path.rglob("*") if one.is_dir()), reverse=True):
            folder.rmdir()
        path.rmdir()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
