"""Put models of the hub into its local cache, each at the commit that was found out before."""

import argparse

from litm.base.cli import run
from litm.base.json_files import read_json
from litm.base.messages import note
from litm.models.hub import download


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", nargs="*", default=[], help="what identify_model.py wrote, one a model")
    args = parser.parse_args()
    for path in args.sources:
        source = read_json(path)
        # Those in a folder are here.
        if hub := source["identity"].get("hub"):
            folder, count = download(hub, source["identity"]["commit"])
            note(f"{hub}: {count} files in {folder}")
    note("all that the jobs need is here: run them with HF_HUB_OFFLINE=1")


if __name__ == "__main__":
    run(main)
