"""A user's own questions: table formats, and one line for each mistake."""

import gzip
import json
from pathlib import Path

import pytest
from programs import refused

from litm.questions.own_questions import Named, long_answers, named_passages, read_own_questions, read_own_table


def read(tmp_path: Path, name: str, content: str):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return read_own_questions(path)


TABLES = {
    "a.csv": 'question,answer,file\nWhen?,1700|in 17\u00ad00,notes.txt\n"Who, then?",Ada,\n',
    "a.csv.gz": "Question,Answers,Source\nWhen?,1700| in 1700 ,notes.txt\n\n\"Who, then?\",Ada,\n",
    "semicolons.csv": "question;answer;file\nWhen?;1700|in 1700;notes.txt\nWho, then?;Ada;\n",
    "sep.csv": "sep=;\r\nquestion;answer;file\r\nWhen?;1700|in 1700;notes.txt\r\nWho, then?;Ada;\r\n",
    "blank.csv": 'question,answer,file,,\nWhen?,1700|in 1700,notes.txt,,\n,,,,\n"Who, then?",Ada,,,\n , ,,,\n',
    "a.tsv": "\ufeffquestion\tanswer\tfile\nWhen?\t[\"1700\", \"in 1700\"]\tnotes.txt\nWho, then?\t['Ada']\t\n",
    "a.json": '[{"question": "When?", "answers": [1700, "in 1700"], "file": "notes.txt"},\n'
    '{"query": "Who, then?", "answer": "Ada"}]',
    "a.jsonl": '{"question": "When?", "answer": "1700|in 1700", "file": "notes.txt"}\n'
    '{"question": "Who, then?", "answers": ["Ada"]}',
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_questions_are_the_same_in_every_kind_of_table(tmp_path, name):
    first, second = read(tmp_path, name, TABLES[name])
    assert (first.text, first.answers, first.file) == ("When?", ("1700", "in 1700"), "notes.txt")
    assert (second.text, second.answers, second.file) == ("Who, then?", ("Ada",), None)
    lines = {"a.csv.gz": (2, 4), "blank.csv": (2, 4), "sep.csv": (3, 4), "a.json": (1, 2), "a.jsonl": (1, 2)}
    assert (first.line, second.line) == lines.get(name, (2, 3))


def test_a_page_words_and_other_columns_are_kept(tmp_path):
    (one,) = read(tmp_path, "a.csv", "question,answer,file,page,text,topic\nHow?,1,a.pdf,3,bu\u00adilt in 1700,mills\n")
    assert (one.page, one.words, one.more) == (3, "built in 1700", {"topic": "mills"})
    record = one.to_record(Named("page", ("a.pdf:3:0",)))
    assert record.fields["topic"] == "mills" and record.answers == ("1",)
    assert named_passages(record) == Named("page", ("a.pdf:3:0",)) and named_passages(one.to_record(None)) is None
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "a?", "answers": ["b"]}\n{"query": "c?", "answer": "d", "text": "e", "topic": "f"}\n')
    assert read_own_table(path).used == ("query", "answers", "answer", "text") and read_own_table(path).kept == (
        "topic",
    )


def test_answers_in_brackets_that_are_no_list_are_texts_and_numbers_that_pandas_has_written_are_whole(tmp_path):
    assert read(tmp_path, "a.csv", "question,answer\nWhich section?,[main]\n")[0].answers == ("[main]",)
    lines = '{"question": "when?", "answer": 1954.0}\n{"question": "how much?", "answer": [1.5, 2.0]}\n'
    assert [one.answers for one in read(tmp_path, "q.jsonl", lines)] == [("1954",), ("1.5", "2")]


def test_answers_lose_marks_of_direction_and_keep_joiners_of_letters(tmp_path):
    marked = "question,answer\nwho?,\u200fAda\u200e \u2067Quill\u2069\u200f\nwhat?,a\u200cb\n"
    assert [one.answers for one in read(tmp_path, "a.csv", marked)] == [("Ada Quill",), ("a\u200cb",)]


def test_answers_too_long_to_be_repeated_are_counted(tmp_path):
    long = " ".join(["word"] * 11)
    questions = read(tmp_path, "a.csv", f"question,answer\na,{long}\nb,{long}|short\n")
    assert long_answers(questions) == 1


HEAD = "question,answer,file,page\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", "", ": there are no questions in it"),
        ("q.csv", "question,answer\n", ": there are no questions in it"),
        ("q.csv", "Frage,Antwort\na,b\n", ", header: no column 'question' or 'query', found frage, antwort; rename"),
        ("q.csv", "question,anwser\na,b\n", ", header: no column 'answers' or 'answer', found question, anwser"),
        ("q.csv", "question,answer,answer\na,b,c\n", ", line 1: the header names a column twice"),
        ("q.csv", "question,answer\na,b\nc,d,e\n", ", line 3: 3 fields, but the header has 2 (question, answer); put"),
        ("q.csv", "question,answer,\na,b,c\n", ", line 2: 3 fields, but the header has 2 (question, answer); put"),
        ("q.csv", 'question,answer\na,"b\n', ", line 2: a quote (\") in the row that begins here has no partner"),
        ("q.csv", "question,answer\na,b\n,c\n", ", line 3, column 'question': the question is empty"),
        ("q.csv", "question,answer\na,\n", ", line 2, column 'answer': the answer is empty"),
        ("q.csv", "question,answer\na,b||c\n", ", line 2, column 'answer': one of the answers is empty in 'b||c'"),
        ("q.csv", "question,answer\na,b\nc,d\na,e\n", ", line 4: the question 'a' is already on line 2"),
        ("q.csv", 'question,answer\na b,b\n"a\n b",e\n', ", line 3: the question 'a\\n b' is already on line 2"),
        ("q.csv", HEAD + "a,b,f.pdf,p. 3\n", ", line 2, column 'page': must be one page, a whole number, found 'p. 3'"),
        ("q.csv", HEAD + "a,b,,3\n", ", line 2, column 'page': a page needs the file it is of"),
        ("q.csv", "question,answer\na,\udcff\n", ": not UTF-8 text"),
        ("q.xlsx", "x", ": its name must end in .csv, .tsv, .json, .jsonl"),
        ("q.json", '"question"', ": expected a list of JSON objects"),
        ("q.json", '[{"question": "a",}]', ": not valid JSON ("),
        ("q.json", '[{"question": "a",\n"answer": "b"},\n{"question": "c"}]', ", line 3: no column 'answers' or"),
        ("q.jsonl", '{"question": "a", "answers": [true]}', ", line 1, column 'answers': must be a text, or a list"),
        ("q.jsonl", '{"question": "a", "answers": [["b", "c"], "d"]}', ", line 1, column 'answers': must be a text,"),
        ("q.jsonl", '{"question": "a", "answers": NaN}', ", line 1, column 'answers': the answer is empty"),
        ("q.jsonl", '{"question": "a", "answers": [Infinity]}', ", line 1, column 'answers': must be a text, or a"),
        ("q.jsonl", '{"question": "a", "answers": []}', ", line 1, column 'answers': the answer is empty"),
        ("q.jsonl", '{"question": 5, "answers": "b"}', ", line 1, column 'question': must be a text, found 5"),
        ("q.jsonl", '{"question": "a"', ", line 1: not valid JSON (Expecting ',' delimiter, column 17)"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_line_and_column(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert refused(read_own_questions, path).startswith(f"{path}{said}")


def test_a_json_file_as_pandas_writes_it_is_read(tmp_path):
    records = [{"question": f"q{number}", "answer": "a"} for number in range(3)]
    assert [one.line for one in read(tmp_path, "a.json", json.dumps(records, indent=2))] == [2, 6, 10]


@pytest.mark.parametrize("cell", ["{'title': array(['a'], dtype=object)}", "('a b', 'c d')", "['a b' 'c d']"])
def test_a_cell_with_several_passages_is_no_place_of_the_answer(tmp_path, cell):
    (one,) = read(tmp_path, "q.csv", f'question,answer,context\nq,a,"{cell}"\n')
    assert one.words is None


def test_a_header_over_several_lines_is_one_line_in_a_message(tmp_path):
    (tmp_path / "q.csv").write_text('"question\n(English)",answer\na,b\n')
    assert "found question (english), answer;" in refused(read_own_questions, tmp_path / "q.csv")
