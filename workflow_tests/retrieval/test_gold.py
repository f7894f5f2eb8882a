"""Gold passages: named by the user, or else the first retrieved with an answer; and corrections."""

from pathlib import Path

import pandas as pd
import pytest
from conftest import write_lines
from programs import refused, run_program

from litm.analysis.questions_to_check import gold_counts
from litm.base.json_files import write_json
from litm.base.messages import UserError
from litm.base.table_files import read_csv
from litm.corpora.passages import Passage, write_shards
from litm.questions.own_questions import Named, OwnQuestion
from litm.questions.released_format import Document, QuestionRecord, read_question_records, write_question_records
from litm.retrieval.gold import corrected, excerpt, find_gold, find_named, read_corrections, sample_to_judge, summary
from litm.tables.table import tables

MILL = Passage("towns/mill.txt:0", "mill", "The old mill was built in 1700 by Ada Quill and her two sons.")
BRIDGE = Passage("towns/bridge.txt:0", "bridge", "The bridge is made of oak. Ada Quill paid for it in 1712.")
MAYOR = Passage("towns/bridge.txt:1", "bridge", "The mayor in those days was Ben Farrow, a miller.")
PAGE_1, PAGE_2 = (
    Passage(f"guide.pdf:{page}:0", "guide", text, page=page) for page, text in ((1, "Ships."), (2, "Boats."))
)
CHUNK = Passage("c7", "Laws", "No mill may grind on Sundays.", "/data/laws/code.pdf", 9, (10,))
TICKET = Passage("T-1:0", "Screen", "Press F9.", "support/tickets.csv")
COPY = Passage("old/guide.pdf:7:0", "guide", "", page=7, copy_of="guide.pdf:2:0")
CORPUS = [MILL, BRIDGE, MAYOR, PAGE_1, PAGE_2, CHUNK, TICKET, COPY]
BY_ID = {passage.id: passage for passage in CORPUS}
TABLE = Path("q.csv")


def question(answer: str = "Ada Quill") -> QuestionRecord:
    return QuestionRecord.from_documents("who?", [answer], [])


def named(**places) -> Named | None:
    return find_named([OwnQuestion("who?", ("x",), 5, **places)], CORPUS, TABLE)[0]


ACROSS = "Ada Quill paid for it in 1712. The mayor in those days was Ben Farrow, a miller."
SHORT_NAMES = ("towns/bridge.txt", "bridge.txt", "bridge", "BRIDGE.TXT", "data\\towns\\bridge.txt")


@pytest.mark.parametrize(
    ("places", "found"),
    [
        *(({"file": name}, Named("file", (BRIDGE.id, MAYOR.id))) for name in SHORT_NAMES),
        # The page of a PDF, and those that a chunk says.
        ({"file": "guide.pdf", "page": 2}, Named("page", (PAGE_2.id,))),
        ({"file": "code.pdf", "page": 9}, Named("page", (CHUNK.id,))),
        ({"file": "laws/code.pdf", "page": 9}, Named("page", (CHUNK.id,))),
        ({"file": "code.pdf", "page": 10}, Named("page", (CHUNK.id,))),
        # A copy stands for the passage that is kept.
        ({"file": "old/guide.pdf", "page": 7}, Named("page", (PAGE_2.id,))),
        ({"file": "old/guide.pdf", "words": "boats"}, Named("text", (PAGE_2.id,))),
        # A row with an id of its own is named by its file or by the id.
        *(({"file": name}, Named("file", (TICKET.id,))) for name in ("support/tickets.csv", "tickets", "T-1", "t-1")),
        # Words name the passages that share runs of them, most first.
        ({"words": "made of OAK"}, Named("text", (BRIDGE.id,))),
        ({"words": ACROSS}, Named("text", (MAYOR.id, BRIDGE.id))),
        ({"words": "mill", "file": "mill.txt"}, Named("text", (MILL.id,))),
        ({}, None),
    ],
)
def test_passages_are_named_by_file_page_and_words(places, found):
    assert named(**places) == found


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"file": "ships.txt"}, "'file': ships.txt is not among the documents (/data/laws/code.pdf, guide.pdf, "),
        (
            {"file": "guide.pdf", "page": 3},
            "'page': guide.pdf has no text on page 3 (it has pages 1 to 2); fix the page ",
        ),
        ({"file": "code.pdf", "page": 8}, "'page': code.pdf has no text on page 8 (it has pages 9 to 10)"),
        ({"file": "mill.txt", "page": 1}, "'page': mill.txt has no text on page 1 (it has no pages)"),
        ({"words": "a castle"}, "'text': no passage has the words 'a castle'"),
        ({"words": "made of oak", "file": "mill.txt"}, "'text': no passage of mill.txt has the words"),
    ],
)
def test_a_name_without_a_passage_is_one_line_with_line_and_column(places, said):
    assert refused(lambda: named(**places)).startswith(f"q.csv, line 5, column {said}")


@pytest.mark.parametrize(
    ("files", "file", "said"),
    [
        (["a/x.txt", "b/x.txt"], "x.txt", "x.txt is one of a/x.txt, b/x.txt; give more"),
        *(
            (["2024/report.txt"], file, f"{file} is not among the documents")
            for file in ("2023/report.txt", "2023/report", "report.docx", "2024/report.pdf", "report.txt.pdf")
        ),
        (["a/x.txt", "b/x.txt"], "b/x.txt", None),
        # macOS writes "Ü" as two characters.
        (["U\u0308/U\u0308.txt"], "\u00fc/\u00dc", None),
        (["\u00dc/\u00dc.txt"], "u\u0308/U\u0308.txt", None),
        # A name without its ending may have a dot, and a packed file may be named unpacked.
        *(
            (["a/report v1.2.txt.gz"], file, None)
            for file in ("report v1.2", "a/report v1.2.txt", "docs/a/report v1.2", "report v1.2.txt.gz")
        ),
    ],
)
def test_a_file_of_another_folder_or_ending_is_not_the_one_that_is_there(files, file, said):
    asked, corpus = [OwnQuestion("q", ("a",), 1, file=file)], [Passage(f"{name}:0", "", "t") for name in files]
    if said is None:
        assert find_named(asked, corpus, TABLE) == [Named("file", (corpus[-1].id,))]
        return
    with pytest.raises(UserError, match=f"line 1, column 'file': {said}"):
        find_named(asked, corpus, TABLE)


@pytest.mark.parametrize(
    "words",
    ["the finest office", "the inter\u00adnational law", "it\u2019s John's", "**finest** _office_", "\"law, it's"],
)
def test_words_of_a_passage_may_be_written_in_another_form(words):
    passage = Passage("a", "", "The \ufb01nest o\ufb03ce of the inter- national law: it's John\u2019s.")
    (found,) = find_named([OwnQuestion("who?", ("x",), 5, words=words)], [passage], TABLE)
    assert found == Named("text", ("a",))


def chunks(first: int, *answers: str, file: str | None = "/data/guide.pdf") -> list[Passage]:
    """A chunk on each page from this one, with these answers."""
    return [Passage(f"c{page}", "", f"It is {text}.", file, page) for page, text in enumerate(answers, start=first)]


def asked_by_page(*pages: tuple[int, str]) -> list[OwnQuestion]:
    file = "guide.pdf"
    return [OwnQuestion(f"q{line}", (answer,), line, file, page) for line, (page, answer) in enumerate(pages, start=2)]


PAGE_0 = "q.csv, column 'page': the documents have a page 0: page "


@pytest.mark.parametrize(
    ("first", "pages", "found", "said"),
    [
        # As splitters of PDFs write them, whose first page is 0.
        (
            0, [(1, "Ann"), (2, "Bob")], [0, 1],
            f"{PAGE_0}1 is taken to be page 0 of the documents (0 of 2 answers are on the page of that number; "
            "1 page before it: 2)",
        ),
        (0, [(2, "nobody"), (3, "Cy")], [1, 2], f"{PAGE_0}2 is taken to be page 1"),
        # The last page does not exist when they are counted from 0.
        (0, [(2, "nobody"), (4, "nobody")], [1, 3], f"{PAGE_0}2 is taken to be page 1"),
        (0, [(1, "Bob"), (3, "Dora")], [1, 3], f"{PAGE_0}1 is taken to be page 1"),
        (0, [(0, "Ann"), (2, "Cy")], [0, 2], None),
        (1, [(1, "Ann"), (3, "Cy")], [1, 3], None),
        # The table counts from 0.
        (1, [(0, "Ann"), (2, "Cy")], [1, 3], "q.csv, column 'page': page 0 is taken to be page 1"),
        # The page 0 has no text.
        (1, [(2, "Ann"), (3, "Bob"), (4, "Cy")], [1, 2, 3], "q.csv, column 'page': page 2 is taken to be page 1"),
        (1, [(2, "Ann"), (3, "Bob")], [2, 3], "q.csv, column 'page': page 2 is taken to be page 2"),
        # Printed numbers instead of those of the file.
        (4, [(1, "Ann"), (2, "Bob"), (3, "Cy")], [4, 5, 6], "q.csv, column 'page': page 1 is taken to be page 4"),
        # Answers that are on no page near, or on some by chance, do not count.
        (1, [(2, "nobody"), (3, "nobody"), (4, "nobody")], [2, 3, 4], None),
        (1, [(1, "Ann"), (2, "Bob"), (3, "Cy"), (2, "Ann"), (3, "Bob")], [1, 2, 3, 2, 3], None),
    ],
)  # fmt: skip
def test_pages_counted_from_0_are_those_with_the_answers(first, pages, found, said, capsys):
    named = find_named(asked_by_page(*pages), chunks(first, "Ann", "Bob", "Cy", "Dora"), TABLE)
    assert named == [Named("page", (f"c{page}",)) for page in found]
    printed = capsys.readouterr().err
    assert printed.startswith(said) if said else not printed


def test_pages_that_may_be_counted_from_0_or_1_are_refused_unless_the_answers_tell():
    said = refused(find_named, asked_by_page((2, "nobody")), chunks(0, "Ann", "Bob", "Cy"), TABLE)
    assert said.startswith(
        "q.csv, column 'page': the documents have a page 0; the questions may count pages from 0 or 1"
    )


def test_a_page_0_of_chunks_changes_no_page_of_a_pdf(capsys):
    pdf = chunks(1, "Ann", "Bob", file=None)
    pdf = [Passage(f"guide.pdf:{one.page}:0", "", one.text, page=one.page) for one in pdf]
    others = chunks(0, "Ann", file="/data/other.pdf")
    assert find_named(asked_by_page((1, "Ann")), pdf + others, TABLE) == [Named("page", ("guide.pdf:1:0",))]
    assert not capsys.readouterr().err


def test_questions_on_a_file_that_is_left_out_name_no_passage_and_are_counted(capsys):
    asked = [*asked_by_page((2, "Ann")), OwnQuestion("q", ("Bob",), 3, "mill.txt")]
    named = find_named(asked, [*CORPUS[:2], Passage("guide.pdf", "", "")], TABLE)
    assert named == [Named("file", ()), Named("file", (MILL.id,))]
    assert "1 questions have no gold passage, because their files are left out: guide.pdf" in capsys.readouterr().err
    assert find_gold(question(), [MILL], named[0], {}).note == "its file is left out"


BRIDGE_FILE = Named("file", (BRIDGE.id, MAYOR.id))
NOT_IN_IT = "none of the answers is in it"
LOW = "only the 4th retrieved: may be another passage's answer"


@pytest.mark.parametrize(
    ("answer", "found", "places", "expected"),
    [
        # Without a name, the first one retrieved that has an answer.
        ("Ada Quill", [MAYOR, BRIDGE, MILL], None, ("first_retrieved", BRIDGE, 2, "")),
        ("Cora", [MAYOR, BRIDGE], None, ("none", None, None, "none of the answers is in the 2 passages retrieved")),
        ("Ada Quill", [MAYOR, PAGE_1, PAGE_2, BRIDGE], None, ("first_retrieved", BRIDGE, 4, LOW)),
        ("Ada Quill", [PAGE_1, PAGE_2, BRIDGE], None, ("first_retrieved", BRIDGE, 3, "")),
        # Of the passages of a file, the same.
        ("Ben Farrow", [BRIDGE, MILL], BRIDGE_FILE, ("file", MAYOR, None, "")),
        ("Cora", [BRIDGE], BRIDGE_FILE, ("none", None, None, "none of the answers is in the 2 passages named")),
        # One named by its words or alone needs no answer.
        ("Cora", [], Named("text", (MAYOR.id, BRIDGE.id)), ("text", MAYOR, None, NOT_IN_IT)),
        ("Cora", [], Named("file", (MAYOR.id,)), ("file", MAYOR, None, NOT_IN_IT)),
    ],
)
def test_the_gold_passage_of_a_question(answer, found, places, expected):
    gold = find_gold(question(answer), found, places, BY_ID)
    assert (gold.how, gold.passage, gold.rank, gold.note) == expected
    everywhere = {one.id: one for one in (*found, *(BY_ID[id_] for id_ in (places.passages if places else ())))}
    assert gold.with_answer == sum(answer in one.text for one in everywhere.values())


@pytest.mark.parametrize(
    ("answers", "places", "note"),
    [
        (["in"], None, "'in' may be in it by chance"),
        (["Yes", "in"], None, "'in' may be in it by chance"),
        (["in", "Ben Farrow"], None, ""),
        (["in"], BRIDGE_FILE, "'in' may be in it by chance"),
        # Named alone, or by its words, of which it has most.
        (["in"], Named("file", (MAYOR.id,)), ""),
        (["in"], Named("text", (MAYOR.id, BRIDGE.id)), ""),
        (["in"], Named("text", (PAGE_1.id, MAYOR.id)), "'in' may be in it by chance"),
    ],
)
def test_a_passage_chosen_for_a_short_answer_alone_has_a_note_that_it_may_be_there_by_chance(answers, places, note):
    gold = find_gold(QuestionRecord.from_documents("who?", answers, []), [MAYOR], places, BY_ID)
    assert (gold.passage, gold.note) == (MAYOR, note)


def test_a_correction_overrides_the_found_passage_unless_both_are_equal():
    found = find_gold(question(), [MILL, BRIDGE], None, {})
    assert corrected(found, [MILL, BRIDGE], MILL, ["Ada Quill"]) is found
    other = corrected(found, [MILL, BRIDGE], MAYOR, ["Ada Quill"])
    assert (other.how, other.passage, other.rank, other.note) == ("corrected", MAYOR, None, NOT_IN_IT)
    assert corrected(found, [], None, []).how == "left_out"


def test_corrections_are_read_and_a_question_that_is_not_asked_is_one_line(tmp_path):
    path = write_lines(tmp_path / "c.csv", ["how,question,passage", f'x," who\n  is?",{MILL.id}', "x,when?,"])
    found = read_corrections(path, {"who is?", "when?"})
    assert {question: one.passage for question, one in found.items()} == {"who is?": MILL.id, "when?": ""}
    with pytest.raises(UserError, match=r"line 4, column 'question': 'when\?' is not among the questions \(did you"):
        read_corrections(path, {"who is?", "When?"})
    path = write_lines(tmp_path / "d.csv", ["question,id", "who?,x"])
    with pytest.raises(UserError, match=r"d.csv, line 2: no column 'passage', found question, id"):
        read_corrections(path, {"who?"})


def test_the_excerpt_is_the_words_around_the_answer():
    text = f"{'x ' * 100}the mill of ADA Quill{' y' * 100}"
    assert "the mill of ADA Quill" in excerpt(text, ["none", "Ada Quill"]) and len(excerpt(text, ["Ada Quill"])) < 180
    assert excerpt("short", ["none"]) == "short"


def test_the_sample_to_judge_is_the_same_for_a_seed_and_has_only_passages_that_the_user_did_not_name():
    records = [QuestionRecord.from_documents(f"q{number}", ["Ada Quill"], []) for number in range(20)]
    golds = [find_gold(record, [MILL], None, {}) for record in records[:19]]
    golds.append(find_gold(records[19], [], Named("text", (MILL.id,)), BY_ID))
    one = sample_to_judge(records, golds, 0)
    assert one == sample_to_judge(records, golds, 0) != sample_to_judge(records, golds, 1)
    assert len(one) == 5 and not any("q19" in line for line in one)
    found = "(1 by their words, 19 the first passage retrieved that has the answer)"
    assert next(summary("mine", golds)) == f"mine: 20 of 20 questions have a gold passage {found}"


def project(folder: Path) -> list:
    """The arguments of find_gold.py for three questions, one of them without an answer in the corpus."""
    write_json(folder / "manifest.json", write_shards(CORPUS, folder / "shards", 10, 1))
    asked = [
        OwnQuestion("who?", ("Ada Quill",), 2, more={"topic": "mills"}).to_record(None),
        OwnQuestion("what?", ("grind",), 3).to_record(Named("page", (CHUNK.id,))),
        OwnQuestion("where?", ("Zubrowka",), 4).to_record(None),
    ]
    write_question_records(folder / "asked.jsonl", asked)
    hits = [Document.from_fields(one.title, one.text, id=one.id) for one in (MAYOR, BRIDGE, MILL)]
    write_question_records(folder / "retrieved.jsonl", [record.retrieved(hits, None) for record in asked])
    files = {"questions": "asked.jsonl", "retrieved": "retrieved.jsonl", "passages": "manifest.json"}
    files |= {"output": "found.jsonl", "table": "gold.csv"}
    options = [word for key, name in files.items() for word in (f"--{key}", folder / name)]
    return ["--name", "mine", "--seed", 0, *options]


def test_questions_with_a_gold_passage_are_written_and_the_others_counted_in_table_and_console(tmp_path):
    ran = run_program("find_gold", *project(tmp_path))
    assert ran.returncode == 0
    first, second = read_question_records(tmp_path / "found.jsonl")
    assert (first.given_gold_id, first.fields["topic"], first.golds[0].text) == (BRIDGE.id, "mills", BRIDGE.text)
    assert second.given_gold_id == CHUNK.id and set(second.fields) == {"question", "answers", "ctxs"}
    table = read_csv(tmp_path / "gold.csv", tables()["gold_passages"].dtypes)
    assert table["how"].tolist() == ["first_retrieved", "page", "none"]
    assert table["line"].tolist() == [2, 3, 4] and table["n_with_answer"].tolist() == [2, 1, 0]
    assert "mine: 2 of 3 questions have a gold passage" in ran.stderr
    assert "mine: questions without one, left out at all positions: 1" in ran.stderr
    assert f"Ada Quill <- {BRIDGE.id}: The bridge is made of oak. Ada Quill paid" in ran.stderr


@pytest.fixture
def correct(tmp_path):
    """A function that runs the program with a copy of its table, edited more each time; its status and messages."""
    words = project(tmp_path)
    run_program("find_gold", *words)
    table = pd.read_csv(tmp_path / "gold.csv", dtype=str, keep_default_na=False)

    def run(*edits: tuple[int, dict]) -> tuple[int, str]:
        for row, cells in edits:
            table.loc[row, list(cells)] = list(cells.values())
        table.to_csv(tmp_path / "mine.csv", index=False)
        done = run_program("find_gold", *words, "--corrections", tmp_path / "mine.csv")
        return done.returncode, done.stderr

    return run


def test_an_edited_copy_of_the_table_corrects_and_an_unknown_passage_is_one_line(tmp_path, correct):
    assert correct((0, {"passage": MILL.id}), (1, {"passage": ""}))[0] == 0
    assert [one.given_gold_id for one in read_question_records(tmp_path / "found.jsonl")] == [MILL.id]
    table = read_csv(tmp_path / "gold.csv", {})
    assert table["how"].tolist() == ["corrected", "left_out", "none"]
    assert table["found"].tolist()[:2] == [BRIDGE.id, CHUNK.id]
    status, said = correct((0, {"passage": "nowhere:1"}))
    assert status == 1 and "mine.csv, line 2, column 'passage': nowhere:1 is no passage of the corpus" in said


def test_a_copy_of_documents_that_have_changed_corrects_only_the_rows_that_were_edited(tmp_path, correct):
    # As after a change by which the id of the first row is that of another text, and that of the second of none.
    changed = {"passage": MAYOR.id, "found": "laws:0", "excerpt": "...No mill may grind on Mondays..."}
    _, said = correct((0, {"passage": MILL.id, "found": MILL.id}), (1, changed))
    assert [one.given_gold_id for one in read_question_records(tmp_path / "found.jsonl")] == [BRIDGE.id, MAYOR.id]
    assert "mine: 1 corrections concern documents that have changed since, such as" in said
    assert "changed since" not in correct((1, {"excerpt": "The mayor in those days was Ben..."}))[1]


def test_counts_say_how_many_were_found_in_which_way():
    hows, counts = ["first_retrieved", "none", "first_retrieved"], [2, 0, 1]
    rows = [{"questions": "mine", "how": how, "n_with_answer": n} for how, n in zip(hows, counts, strict=True)]
    gold = tables()["gold_passages"].frame(rows)
    first = {"questions": "mine", "how": "first_retrieved", "n": 2, "n_several": 1, "n_to_look_at": 0}
    assert gold_counts(gold).to_dict("records")[0] == first
