"""Download hub models into the local cache, each at its recorded commit."""

import argparse

from litm.base.cli import run
from litm.base.messages import note
from litm.base.records import read_json
from litm.models.hub import download


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", nargs="*", default=[], help="outputs of identify_model.py, one per model")
    args = parser.parse_args()
    for path in args.sources:
        source = read_json(path)
        # Models in folders need no download.
        if hub := source["identity"].get("hub"):
            folder, count = download(hub, source["identity"]["commit"])
            note(f"{hub}: {count} files in {folder}")
    note("the cache has everything that the jobs need: run them with HF_HUB_OFFLINE=1")


if __name__ == "__main__":
    run(main)
