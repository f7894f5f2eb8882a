"""Write docs/fidelity.md: each figure, table and experiment of the sources, what makes it, and what differs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.cli import program
from litm.base.files import write_text
from litm.base.records import read_csv
from litm.config.catalogue import CATALOGUES, read_catalogue_entry, string_keys
from litm.config.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "resources" / "published"


def fidelity() -> str:
    """The page of the project's own catalogues."""
    from litm.analysis.published import read_published, read_published_tokens
    from litm.config.fidelity import Item, Sources, fidelity_page

    entries: dict[str, Mapping[str, Any]] = {
        kind: {
            name: read_catalogue_entry(kind, name, entry)
            for name, entry in string_keys(read_yaml(ROOT / "config" / f"{kind}.yaml")).items()
        }
        for kind in CATALOGUES
    }
    rows = read_csv(PUBLISHED / "fidelity.csv").fillna("").astype(str).to_dict("records")
    items = [Item(**{str(key): value for key, value in row.items()}) for row in rows]
    accuracies = tuple(read_published(PUBLISHED / "accuracy.csv"))
    tokens = tuple(read_published_tokens(PUBLISHED / "token_counts.csv"))
    return fidelity_page(items, Sources(entries, accuracies, tokens))


@program
def main(page: Path = ROOT / "docs" / "fidelity.md") -> None:
    write_text(page, fidelity())
