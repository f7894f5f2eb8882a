"""Write down which model it is, exactly: the hashes of a folder's files, or the commit of a hub model."""

import argparse
from pathlib import Path

from litm.cli import json_object, note, run
from litm.identity import answer_window_of, context_window_of, file_sha256, folder_identity, hub_identity, load_config
from litm.records import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--location", required=True, type=json_object, help="JSON with path, hub and revision")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file that is not the model's own")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    path, hub, revision = args.location["path"], args.location["hub"], args.location["revision"]
    identity = folder_identity(Path(path)) if path else hub_identity(hub, revision)
    config = load_config(path or hub, identity.get("commit"))
    window = context_window_of(config)
    if window is None:
        note(f"{path or hub}: its configuration sets no longest context, so no prompt counts as too long")
    if args.tokenizer:
        identity["tokenizer"] = file_sha256(args.tokenizer)
    source = {
        "location": path or hub,
        "revision": identity.get("commit"),
        "context_window": window,
        "identity": identity,
    }
    if config.is_encoder_decoder:
        source["answer_window"] = answer_window_of(config)
    write_json(args.output, source)


if __name__ == "__main__":
    run(main)
