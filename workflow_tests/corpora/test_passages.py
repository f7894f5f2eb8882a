"""The passage stage: cutting, shards, unique ids, and the program."""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import dpr_file, write_lines
from programs import run_program

from litm.base.messages import UserError
from litm.corpora.passages import (
    Passage,
    check_ids,
    cut_lines,
    cut_text,
    read_shard,
    read_shards,
    unique_passages,
    write_shards,
)


def made_up(count: int, start: int = 0) -> list[Passage]:
    return [Passage(f"id{number}", f"Title {number}", f"Text «{number}»") for number in range(start, start + count)]


def make_passages(tmp_path: Path, *lines: str) -> subprocess.CompletedProcess:
    """Run the program on these lines of a table, with two shards of two passages."""
    places = ["--folder", tmp_path / "shards", "--manifest", tmp_path / "shards" / "manifest.json"]
    source = ["--source", "dpr_passages", "--settings", "{}", "--input", dpr_file(tmp_path, *lines)]
    return run_program("make_passages", "--passages-per-shard", 2, "--shards", 2, *places, *source)


@pytest.mark.parametrize(
    ("text", "words", "blocks"),
    [
        *((" a b\tc\n\nd e ", 2, ["a b", "c d", "e"]), ("a  b\nc", None, ["a b c"]), (" \n", None, []), (" \n", 2, [])),
        # Each character of a script without spaces is a word, with its marks and punctuation; Korean has spaces.
        ("本社は2024年\n abc社。「x", 3, ["本社は", "2024年 abc", "社。「x"]),
        *(("本社は  2024年", None, ["本社は 2024年"]), ("서울에 a", 1, ["서울에", "a"])),
        # Lines of Chinese or Japanese are joined within a paragraph; other lines get a space between them.
        *(
            ("館長は小\n 林美咲である。\n次", 7, ["館長は小林美咲", "である。次"]),
            ("小\n\n林\n　美", None, ["小 林 美"]),
            # Other characters that end a line, as those between pages or paragraphs, are spaces.
            ("小\r\n林\x0c美\u2029咲", None, ["小林 美 咲"]),
            ("# 館長\n小林\n美咲", None, ["# 館長 小林美咲"]),
        ),
        *(("は\nGPT\nだ😀\n😀", None, ["は GPT だ😀 😀"]), ("ใจ\nดี서\n울", None, ["ใจ ดี서 울"])),
        *(("น้ำที่", 1, ["น้ำ", "ที่"]), ("ភ្នំពេញ", 2, ["ភ្នំពេ", "ញ"])),
    ],
)
def test_text_is_cut_into_disjoint_blocks_of_words_or_none(text, words, blocks):
    assert cut_text(text, words) == blocks


def test_a_block_spans_lines_and_is_yielded_before_the_text_ends():
    def lines():
        yield "a b c\n"
        yield "d e f g\n"
        raise AssertionError("read too far")

    blocks = cut_lines(lines(), 3)
    assert [next(blocks), next(blocks)] == ["a b c", "d e f"]


#: More passages than are packed at a time.
SOME = 1500


def test_shards_are_filled_one_after_the_other_and_read_back(tmp_path):
    passages = [*made_up(2 * SOME), Passage("quote", 'A "b" \\', "line\nbreak \u2028 \x00 𝄞")]
    manifest = write_shards(passages, tmp_path, passages_per_shard=SOME, shards=4)
    assert [entry["passages"] for entry in manifest["shards"]] == [SOME, SOME, 1, 0]
    assert (manifest["passages"], manifest["passages_per_shard"]) == (2 * SOME + 1, SOME)
    assert sorted(path.name for path in tmp_path.iterdir()) == [entry["file"] for entry in manifest["shards"]]
    assert list(read_shards(tmp_path, manifest)) == passages
    assert list(read_shard(tmp_path / "shard-00001.jsonl.gz")) == passages[SOME : 2 * SOME]


def test_passages_appended_at_the_end_leave_full_shards_as_they_are(tmp_path):
    before = write_shards(made_up(5), tmp_path, passages_per_shard=2, shards=4)["shards"]
    after = write_shards(made_up(7), tmp_path, passages_per_shard=2, shards=4)["shards"]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, False]


def test_too_many_passages_are_counted_and_shards_that_hold_nothing_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"^11 passages do not fit into 2 shards of 4: set 'shards' to 3 or more$"):
        write_shards(made_up(11), tmp_path, passages_per_shard=4, shards=2)
    assert write_shards(made_up(8), tmp_path, passages_per_shard=4, shards=2)["passages"] == 8
    for size, shards in ((0, 1), (1, 0)):
        with pytest.raises(UserError, match="both must be 1 or more"):
            write_shards(made_up(1), tmp_path, passages_per_shard=size, shards=shards)


def test_shards_of_an_earlier_larger_corpus_are_removed_and_other_files_stay(tmp_path):
    write_shards(made_up(4), tmp_path, passages_per_shard=1, shards=4)
    (tmp_path / "mine.jsonl.gz").write_bytes(b"")
    write_shards(made_up(2), tmp_path, passages_per_shard=1, shards=2)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"mine.jsonl.gz", "shard-00000.jsonl.gz", "shard-00001.jsonl.gz"}


def test_an_error_in_the_source_leaves_no_part_of_a_shard(tmp_path):
    def failing():
        yield from made_up(3)
        raise UserError("line 4 is wrong")

    with pytest.raises(UserError, match="line 4 is wrong"):
        write_shards(failing(), tmp_path, passages_per_shard=2, shards=2)
    assert [path.name for path in tmp_path.iterdir()] == ["shard-00000.jsonl.gz"]


@pytest.mark.parametrize("line", ['{"id": "1", "title": "T"}', '{"id": ', "[1, 2]", "5", ""])
def test_a_broken_line_of_a_shard_and_a_truncated_one_are_named(tmp_path, line):
    path = write_lines(tmp_path / "shard-00000.jsonl.gz", [{"id": "0", "title": "", "text": "x"}, line])
    with pytest.raises(UserError, match=f"^{path}, line 2: not a passage"):
        list(read_shard(path))
    path.write_bytes(write_lines(path, [{"id": "0", "title": "", "text": "x"}]).read_bytes()[:-9])
    with pytest.raises(UserError, match=r"shard-00000.jsonl.gz: broken compressed data after line"):
        list(read_shard(path))


def reader(*ids: str):
    return lambda: ((f"line {number}", Passage(id_, "", "")) for number, id_ in enumerate(ids, start=1))


def test_an_id_that_comes_twice_is_named_with_both_places():
    ids = [str(number) for number in range(50)]
    with pytest.raises(UserError, match=r"^line 51: the id '7' is also at line 8; "):
        list(unique_passages(reader(*ids, "7", "7", "9")))
    assert [passage.id for passage in unique_passages(reader(*ids, "01", "1 "))] == [*ids, "01", "1 "]


def test_different_ids_of_one_digest_are_no_error():
    check_ids(reader("a", "b", "c"), {hash("a"), hash("b")})
    with pytest.raises(UserError, match="'b' is also at line 2"):
        check_ids(reader("a", "b", "c", "a", "b"), {hash("b")})


def test_the_program_writes_shards_and_then_the_manifest_and_prints_a_summary(tmp_path):
    done = make_passages(tmp_path, "1\ta b\tT", "2\tc d\tU", "3\te f g h i\tV")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/shards/manifest.json: 3 passages of 3.0 words in 2 of 2 shards" in done.stderr
    manifest = json.loads((tmp_path / "shards" / "manifest.json").read_text())
    assert [passage.id for passage in read_shards(tmp_path / "shards", manifest)] == ["1", "2", "3"]
    assert len(list((tmp_path / "shards").iterdir())) == 3


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["1\ta\tT", "2\tb\tT", "3\tc\tT", "1\td\tT"], ", line 5: the id '1' is also at {path}, line 2; "),
        ([], ": there are no passages in it"),
    ],
    ids=["ids repeated across shards", "no passages"],
)
def test_a_corpus_that_is_refused_leaves_no_manifest(tmp_path, lines, said):
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "manifest.json").write_text("of an earlier run")
    done, path = make_passages(tmp_path, *lines), tmp_path / "passages.tsv"
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"error: {path}{said.format(path=path)}" in done.stderr
    assert not (tmp_path / "shards" / "manifest.json").exists()
