"""Write docs/fidelity.md: each figure, table and experiment of the sources, what makes it, and what differs."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.analysis.published.values import read_published, read_published_tokens
from litm.base.cli import run
from litm.base.files import write_text
from litm.base.records import read_csv
from litm.config.catalogue import CATALOGUES, read_catalogue_entry, string_keys
from litm.config.fidelity import Item, Sources, fidelity_page
from litm.config.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "fidelity.md")
    write_text(parser.parse_args().page, page())


def page() -> str:
    """The page of the project's own catalogues."""
    published = ROOT / "resources" / "published"
    entries: dict[str, Mapping[str, Any]] = {
        kind: {
            name: read_catalogue_entry(kind, name, entry)
            for name, entry in string_keys(read_yaml(ROOT / "config" / f"{kind}.yaml")).items()
        }
        for kind in CATALOGUES
    }
    rows = read_csv(published / "fidelity.csv").fillna("").astype(str).to_dict("records")
    items = [Item(**{str(key): value for key, value in row.items()}) for row in rows]
    accuracies, tokens = (
        read_published(published / "accuracy.csv"),
        read_published_tokens(published / "token_counts.csv"),
    )
    return fidelity_page(items, Sources(entries, tuple(accuracies), tuple(tokens)))


if __name__ == "__main__":
    run(main)
