"""Write down the selection of the tables: the digest of the config, the data, the sha256 of each table, and the
settings of the figures.

selection: JSON: config (the digest), models, experiments, datasets
figures: JSON: settings of each figure, by name
datasets: the files of the datasets, in their order
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.store import file_sha256


@program
def main(selection: dict, figures: dict, tables: tuple[str, ...], output: str, datasets: tuple[str, ...] = ()) -> None:
    known = zip(selection["datasets"], datasets, strict=True)
    hashed = {
        "datasets": [{**dataset, "sha256": file_sha256(path)} for dataset, path in known],
        "tables": {Path(path).name: file_sha256(path) for path in tables},
    }
    write_json(output, selection | hashed | {"figures": figures})
