"""Make the passages of a corpus from a source, in shards, and last a manifest."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.messages import UserError, note
from litm.base.progress import progress_bar
from litm.base.records import write_json
from litm.corpora.passages import CorpusSettings, CountedPassages, read_source, unique_passages, write_shards


def path_or_none(text: str) -> Path | None:
    """An argparse type: a path, None if empty (`Path` would read that as the working directory)."""
    return Path(text) if text else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="a module of litm/corpora")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: passage_words, passages, seed")
    parser.add_argument(
        "--input", nargs="?", type=path_or_none, help="the source's file or folder; empty for generators"
    )
    parser.add_argument("--passages-per-shard", required=True, type=int)
    parser.add_argument("--shards", required=True, type=int, help="how many files; the last ones may be empty")
    parser.add_argument("--folder", required=True, type=Path, help="where the shards go")
    parser.add_argument("--manifest", required=True, type=Path, help="where their names, sizes and sums go")
    args = parser.parse_args()
    settings = CorpusSettings(**args.settings)
    # A manifest of an earlier run must not describe half-written shards.
    args.manifest.unlink(missing_ok=True)
    # Only generators know their number of passages; a total of 0 shows the rate without a bar.
    with progress_bar(settings.passages or 0, args.source, "passages") as bar:
        read = unique_passages(lambda: read_source(args.source, args.input, settings))
        counted = CountedPassages(read, bar.update)
        manifest = write_shards(counted, args.folder, args.passages_per_shard, args.shards)
    passages = manifest["passages"]
    if not passages:
        raise UserError(f"{args.input or args.source}: there are no passages in it")
    write_json(args.manifest, manifest)
    used = sum(1 for shard in manifest["shards"] if shard["passages"])
    words = counted.words / passages
    note(f"{args.manifest}: {passages} passages of {words:.1f} words in {used} of {args.shards} shards")


if __name__ == "__main__":
    run(main)
