"""Make the passages of a corpus from a source, in shards, and last a manifest.

source: a module of litm/corpora
settings: JSON: passage_words, passages, seed
input: the source's file or folder; empty for generators
shards: how many files; the last ones may be empty
folder: where the shards go
manifest: where their names, sizes and sums go
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.base.progress import progress_bar
from litm.corpora.passages import CorpusSettings, CountedPassages, read_source, unique_passages, write_shards


@program
def main(
    source: str,
    settings: dict,
    passages_per_shard: int,
    shards: int,
    folder: Path,
    manifest: Path,
    input: str | None = None,
) -> None:
    read = CorpusSettings(**settings)
    path = Path(input) if input else None
    # A manifest of an earlier run must not describe half-written shards.
    manifest.unlink(missing_ok=True)
    # Only generators know their number of passages; a total of 0 shows the rate without a bar.
    with progress_bar(read.passages or 0, source, "passages") as bar:
        counted = CountedPassages(unique_passages(lambda: read_source(source, path, read)), bar.update)
        made = write_shards(counted, folder, passages_per_shard, shards)
    if not (passages := made["passages"]):
        raise UserError(f"{path or source}: there are no passages in it")
    missing = {"copies": counted.copies, "left_out": counted.left_out}
    write_json(manifest, made | {key: some for key, some in missing.items() if some})
    used = sum(1 for shard in made["shards"] if shard["passages"])
    copies = f"; left out as copies of these: {len(counted.copies)}" if counted.copies else ""
    note(
        f"{manifest}: {passages} passages of {counted.words / passages:.1f} words in {used} of {shards} shards{copies}"
    )
