"""`my_data`: documents and questions become ordinary entries, whose sizes fit the documents and the models."""

import shutil
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, write_lines
from plans import inputs_of
from programs import refused
from tokenizers import Tokenizer, models, pre_tokenizers

from litm.config.my_data import MY_EXPERIMENTS
from litm.config.study import load_study
from litm.planning.tokens import most_work

DEFAULT = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


@pytest.fixture
def mine(tmp_path, monkeypatch) -> dict:
    """Sixty documents of 20 words, and two questions about them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(60):
        (tmp_path / "docs" / f"d{number:02}.txt").write_text(f"Town {number} has a mill. " * 4)
    write_lines(tmp_path / "q.csv", ["question,answer,file,topic", "Which?,Town 3,d03,x", "What?,a mill,,x"])
    return {"documents": "docs", "questions": "q.csv"}


def study(my_data: dict, **config):
    return load_study({**DEFAULT, "models": ["dummy"], "my_data": my_data, **config}, ROOT)


def sizes(one) -> list[int]:
    return sorted({cell.size for cell in one.experiments["my_positions"].cells})


def test_one_key_and_a_model_give_all_experiments_on_the_documents(mine):
    one = study(mine)
    orders = ["my_as_retrieved-reversed", "my_as_retrieved-ends"]
    assert [name for name in one.experiments if name not in orders] == list(MY_EXPERIMENTS)
    cells = {name: [(cell.size, cell.placement) for cell in made.cells] for name, made in one.experiments.items()}
    # One passage has no order.
    assert [cells[name] for name in orders] == [[(size, "as_retrieved") for size in (3, 5, 10, 20)]] * 2
    assert [size for size, _ in cells["my_as_retrieved"]] == [1, 3, 5, 10, 20]
    positions = {10: (0, 4, 9), 20: (0, 4, 9, 14, 19)}
    assert cells["my_positions"] == [(size, f"gold_at_{at}") for size, places in positions.items() for at in places]
    assert list(one.figures) >= ["my_positions", "my_as_retrieved"]
    inputs = inputs_of(one)
    # Two questions, at each of the cells above.
    asked = {name: most_work(one.sweep("dummy", name)).prompts for name in ("my_positions", "my_as_retrieved", *orders)}
    assert asked == {"my_positions": 16, "my_as_retrieved": 10, **dict.fromkeys(orders, 8)}
    assert inputs.data.gold_tables == ["results/gold_passages/my_questions_with_gold.csv"]
    assert {"gold_passages", "utilisation"} <= set(inputs.tables.tables)


def test_the_entries_equal_handwritten_ones_and_define_changes_them(mine):
    one = study(mine, define={"experiments": {"my_positions": {"examples": 1, "positions": {"5": [0]}}}})
    assert one.experiments["my_positions"].examples == 1 and sizes(one) == [5]
    corpus = one.corpora["my_documents"]
    assert (corpus.source, corpus.settings.passage_words) == ("documents", 100)
    assert one.questions["my_questions_with_gold"].gold_of == "my_all_questions"
    assert one.candidates["my_retrieved"].questions == "my_all_questions"
    assert list(study(mine, experiments=["my_oracle"]).experiments) == ["my_oracle"]


def test_the_choices_and_their_reasons_are_printed_first(mine):
    files, table, *others = study(mine).notes
    assert files.endswith("docs: 60 files, 60 passages of at most 100 words")
    assert table.endswith("q.csv: 2 questions; columns question, answer, file; also kept: topic")
    at = "my_data: my_positions: the passage with the answer, counted from 0, is at "
    assert f"{at}0, 4, 9 of 10 passages; 0, 4, 9, 14, 19 of 20 passages (20 are the most by default)" in others
    own = {"my_positions": {"positions": {"5": [0, 2]}}, "my_as_retrieved": {"remedies": {"cut": [{"margin": 3}]}}}
    changed = study(mine, define={"experiments": own}).notes
    assert f"{at}0, 2 of 5 passages" in changed
    run = "my_positions, my_as_retrieved, my_as_retrieved-margin_3, my_closed_book, my_oracle"
    assert f"my_data: {run}; define.experiments changes them" in changed


def test_copies_of_documents_are_counted_and_left_out(mine):
    shutil.copytree("docs", "docs/old")
    write_lines(Path("q.csv"), ["question,answer,file", "Which?,Town 3,old/d03.txt"])
    one = study(mine)
    assert one.notes[0].endswith("docs: 120 files, 60 passages of at most 100 words; left out as copies of these: 60")


def keep(count: int) -> None:
    for path in sorted(Path("docs").iterdir())[count:]:
        path.unlink()


def test_references_have_the_clusters_of_the_experiment_that_names_them(mine):
    one = study(mine, define={"experiments": {"my_positions": {"cluster": "topic"}}})
    named = {name for name, made in one.experiments.items() if made.cluster == "topic"}
    assert named == {"my_positions", "my_closed_book", "my_oracle"}


def test_sizes_fit_the_number_of_passages(mine, tmp_path):
    keep(12)
    one = study(mine)
    assert sizes(one) == [5] and one.candidates["my_candidates"].documents == 5
    assert any("half of the 12 passages" in note for note in one.notes)
    write_lines(tmp_path / "q.csv", ["question,answer", "What?,a mill"])
    keep(4)
    # Two passages have no two orders besides the first.
    assert sizes(study(mine)) == [2] and list(study(mine).experiments) == list(MY_EXPERIMENTS)
    keep(3)
    assert "a context needs 2 passages or more, and half of the 3 passages:" in refused(study, mine)


#: About 1,500 tokens.
BIG = "123456789012345 " * 99


def served(window: int) -> dict:
    """A config with a model whose tokens are counted by characters."""
    model = {"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "api_model": "m", "context_window": window}
    return {"models": ["served"], "define": {"models": {"served": model}}}


def test_the_passages_that_fit_are_those_of_most_contexts_and_not_of_a_mean(mine):
    assert sizes(study(mine, **served(3300))) == [10, 20]
    # On average seven fit, but one passage in six has half of the room.
    for number in range(0, 60, 6):
        Path(f"docs/d{number:02}.txt").write_text(f"{number} {BIG}")
    assert sizes(study(mine, **served(3300))) == [3]


def test_passages_that_no_prompt_can_have_change_no_size_and_are_named(mine):
    Path("docs/a.txt").write_text(BIG)
    one = study(mine, **served(1500))
    assert sizes(one) == [5, 10]
    named = (
        "my_data: no prompt with one of 1 passage, such as docs/a.txt, line 1 with about 1,494 tokens, fits the window"
    )
    assert any(line.startswith(named) for line in one.notes)


def test_what_leaves_no_room_in_a_window_is_named(mine):
    for file in Path("docs").iterdir():
        file.write_text(f"{file.stem} {BIG}")
    Path("docs/d07.txt").write_text(f"{BIG} 1234567890")
    said = refused(study, mine, **served(2500))
    assert "about 1 fit the window of served, 2,500 tokens: shorten the largest passages, such as docs/d07.txt" in said


def test_what_is_left_out_of_the_documents_is_said_at_the_start(mine):
    Path("docs/d03.txt").write_bytes(b"Gr\xf6\xdfe")
    Path("docs/d04.txt").write_text(f"Town 4 has ![a mill](data:image/png;base64,{'iVBORw0KGgo' * 99})")
    notes = study(mine).notes
    assert notes[0].endswith("docs: 60 files, 59 passages of at most 100 words")
    left_out = [line.removeprefix("my_data: docs: left out ") for line in notes[1:3]]
    assert left_out[0] == "1,111 characters of pictures and other data in the text (docs/d04.txt: 1,111)"
    assert left_out[1].startswith("1 file that cannot be read: docs/d03.txt: not UTF-8 text")


def test_a_cluster_that_is_no_column_of_the_questions_is_found_when_the_config_is_read(mine, tmp_path):
    define = {"experiments": {"my_oracle": {"cluster": "topics"}}}
    assert "my_oracle.cluster: the questions have no column 'topics' (also kept: topic);" in refused(
        study, mine, define=define
    )
    define["experiments"]["my_oracle"]["cluster"] = "topic"
    assert study(mine, define=define).experiments["my_oracle"].cluster == "topic"


def test_sizes_fit_the_window_of_a_model(mine):
    small = {"models": {"reference": {"context_window": 800}}}
    one = study(mine, models=["reference"], define=small)
    assert sizes(one) == [5]
    assert any("fit the window of reference, 800 tokens" in note for note in one.notes)
    assert sizes(study(mine, models=["reference"])) == [10, 20]
    small["models"]["reference"]["context_window"] = 150
    assert "about 0 fit the window of reference" in refused(study, mine, models=["reference"], define=small)


def test_the_tokens_of_a_served_model_are_counted_by_its_tokenizer_or_else_by_bytes(mine, tmp_path):
    for file in (tmp_path / "docs").iterdir():
        file.write_text(f"{file.stem}の町の町長は山田太郎である。" + "駅長は田中である。" * 5)
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "words.json"))
    served = {"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "api_model": "m", "context_window": 1000}
    for given, wanted in ({"tokenizer": "words.json"}, [10, 20]), ({}, [3]):
        one = study(mine, models=["served"], define={"models": {"served": {**served, **given}}})
        assert sizes(one) == wanted
    (tmp_path / "words.json").write_text("{}")
    define = {"models": {"served": {**served, "tokenizer": "words.json"}}}
    assert "words.json: not a tokenizer.json file" in refused(study, mine, models=["served"], define=define)


def test_chunks_of_a_text_splitter_are_kept_as_they_are(mine, tmp_path):
    chunks = [{"page_content": f"Town {number} " * 60, "metadata": {"source": f"d{number:02}"}} for number in range(60)]
    path = write_lines(tmp_path / "chunks.jsonl", chunks)
    one = study({**mine, "documents": str(path)})
    assert one.corpora["my_documents"].settings.passage_words is None
    assert one.notes[0].endswith("1 files, 60 passages kept as they are")


OWN_TABLE = "question,answer,passage,text\nWhat?,a mill,d03.txt:0,x\n"


#: The beginning of the message, keys of `my_data`, and files, which have a dot in their names.
MISTAKES = {
    "config.my_data: 'corrections' needs 'questions'": {"questions": None, "corrections": "q.csv"},
    "config.my_data: 'lengths' is for documents without 'questions'": {"lengths": [0.5]},
    "config.my_data: unknown key 'docs'": {"docs": "x"},
    "config.my_data.documents: nowhere does not exist": {"documents": "nowhere"},
    "docs is not a file; name a table": {"questions": "docs"},
    "c.csv, line 2, column 'question': 'Where?' is not": {
        "corrections": "c.csv",
        "c.csv": "question,passage\nWhere?,x",
    },
    "q.csv, line 2, column 'file': e03 is not among": {"q.csv": "question,answer,file\nWhich?,Town 3,e03\n"},
    "a.txt: not UTF-8 text": {"documents": "a.txt", "a.txt": b"Gr\xf6\xdfe"},
    "a <draft>.txt has <draft>, which stands for a": {"docs/a <draft>.txt": "text"},
    "a {draft}.txt has {draft}, which stands for a": {"docs/a {draft}.txt": "text"},
    "x.csv is among the documents": {"questions": "docs/x.csv", "docs/x.csv": OWN_TABLE},
    "y.csv is among the documents": {"corrections": "docs/y.csv", "docs/y.csv": OWN_TABLE},
    "q.csv is among the documents": {"documents": "."},
    "copy it out of results/": {"corrections": "results/c.csv", "results/c.csv": "question,passage\n"},
}


@pytest.mark.parametrize(("said", "changes"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_is_found_when_the_config_is_read(mine, tmp_path, said, changes):
    (tmp_path / "results").mkdir()
    for name in [key for key in changes if "." in key]:
        (tmp_path / name).write_bytes(changes[name] if isinstance(changes[name], bytes) else changes[name].encode())
    keys = {key: value for key, value in {**mine, **changes}.items() if value and "." not in key}
    assert said in refused(study, keys)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"file": "q.csv"}, "give either 'corpus'"),
        ({"gold_of": "my_all_questions"}, "give either 'corpus'"),
        ({"corpus": "mini_encyclopedia", "corrections": "c.csv"}, "give either 'corpus'"),
        ({"gold_of": "my_all_question", "retriever": "bm25"}, "'my_all_question' (did you mean 'my_all_questions'?)"),
        ({"gold_of": "my_all_questions", "retriever": "bm52"}, "unknown name 'bm52' (did you mean 'bm25'?)"),
    ],
)
def test_entries_of_questions_have_keys_that_go_together(mine, entry, said):
    assert said in refused(study, mine, define={"questions": {"x": entry}})
