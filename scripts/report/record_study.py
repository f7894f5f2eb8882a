"""Write down the selection of the tables: the digest of the config, the data, and the sha256 of each table.

selection: JSON: config (the digest), models, experiments, datasets
datasets: the files of the datasets, in their order
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.formats import write_json
from litm.base.store import file_sha256


@program
def main(selection: dict, tables: tuple[str, ...], output: str, datasets: tuple[str, ...] = ()) -> None:
    known = zip(selection["datasets"], datasets, strict=True)
    hashed = {
        "datasets": [{**dataset, "sha256": file_sha256(path)} for dataset, path in known],
        "tables": {Path(path).name: file_sha256(path) for path in tables},
    }
    write_json(output, selection | hashed)
