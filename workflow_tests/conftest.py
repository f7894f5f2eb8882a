"""What all tests share: the library on the path, no network, and small records."""

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
# A hub name without a network costs a minute of retries; two threads that spin slow each other down.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

#: Real data to run against, if this checkout has it beside it.
DATA = Path(os.environ.get("LITM_TEST_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def data() -> Path:
    """The folder with the released data; the test is skipped where it is not there."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}: set LITM_TEST_DATA to a folder with the released files")
    return DATA


def qa_record(number: int, distractors: int) -> dict:
    """A question in the released format, gold document in the middle of the file's order."""
    documents = [
        {"id": str(i), "title": f"Title {number}.{i}", "text": f"Text {number}.{i}", "isgold": False, "score": "1.0"}
        for i in range(distractors)
    ]
    gold = {"title": f"Gold title {number}", "text": f"The answer is answer{number}.", "isgold": True}
    documents.insert(distractors // 2, gold)
    return {
        "question": f"what is number {number}",
        "answers": [f"answer{number}", f"Answer {number}"],
        "ctxs": documents,
    }


def write_lines(path: Path, records: list) -> Path:
    """Write records (or raw strings) one a line, gzip if the name says so."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def dpr_file(folder: Path, *lines: str) -> Path:
    """A table of passages in DPR's format."""
    return write_lines(folder / "passages.tsv", ["id\ttext\ttitle", *lines])
