"""Peak memory and speed of the passage stage as its corpus grows: both must not depend on the size.

Run from the repository:

    python benchmarks/passages.py
    python benchmarks/passages.py --sizes 50000 1000000 --folder /large/disk

Each size is a process of its own, which reads a generated file in DPR's format (gzip, 100 words a passage) and writes
shards. Seconds are of that whole process, its start included; memory is its largest resident set.
"""

import argparse
import gzip
import random
import tempfile
from pathlib import Path

from measuring import Cost, growth_table, program

WORDS_PER_PASSAGE = 100
VOCABULARY = 20_000
PASSAGES_PER_SHARD = 50_000
LETTERS = "etaoinshrdlucmfw"


def write_corpus(path: Path, passages: int, seed: int = 0) -> None:
    """Write that many random passages in DPR's format; some have quotes, as the real ones."""
    rng = random.Random(f"{seed}:{passages}")
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(VOCABULARY)]
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as lines:
        lines.write("id\ttext\ttitle\n")
        for number in range(1, passages + 1):
            first, second, *rest = rng.choices(words, k=WORDS_PER_PASSAGE)
            lines.write(f'{number}\t"""{first}"" {second} {" ".join(rest)}"\t{first} {second}\n')


def measure(corpus: Path, passages: int, folder: Path) -> Cost:
    """What `make_passages.py` costs on the corpus."""
    return program(
        *("make_passages.py", "--source", "dpr_passages", "--settings", "{}"),
        *("--input", corpus, "--folder", folder, "--manifest", folder / "manifest.json"),
        *("--passages-per-shard", PASSAGES_PER_SHARD, "--shards", -(-passages // PASSAGES_PER_SHARD)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[50_000, 200_000, 1_000_000], help="numbers of passages"
    )
    parser.add_argument("--turns", type=int, default=1, help="measurements of each")
    parser.add_argument("--folder", help="where to put the files while it runs; 0.9 GB for a million passages")
    args = parser.parse_args()
    costs: dict[int, list[Cost]] = {}
    for passages in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.folder) as temporary:
            corpus = Path(temporary) / "passages.tsv.gz"
            write_corpus(corpus, passages)
            costs[passages] = [measure(corpus, passages, Path(temporary) / "shards") for _ in range(args.turns)]
    print(growth_table({"make_passages.py": costs}, "passages"))


if __name__ == "__main__":
    main()
