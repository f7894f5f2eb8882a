"""What people bring: tables of questions as other programs write them by default."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from brought_study import DOCUMENTS, QUESTIONS, TOWNS, is_said, judged, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome, refused

from litm.base.messages import UserError
from litm.questions.own_questions import OwnTable, read_own_table

#: A table has these two questions, unless a variant says otherwise.
WHO, WHEN = "Who paid for the bridge?", "When was it built?"
ADA, YEAR = ("Ada Quill",), ("1701",)


@dataclass(frozen=True)
class Read:
    """A table that is read. answers: of its questions in their order; noted: words of its notes, () for no note; pages,
    words: places of the answers; kept: other columns.
    """

    file: str
    content: str | bytes
    answers: tuple[tuple[str, ...], ...] = (ADA, YEAR)
    noted: tuple[str, ...] = ()
    pages: tuple[int | None, ...] | None = None
    words: tuple[str | None, ...] | None = None
    kept: tuple[str, ...] | None = None

    def fault(self, table: OwnTable) -> str:
        said = "; ".join(table.notes)
        found = {
            "answers": tuple(one.answers for one in table.questions) == self.answers,
            "notes": all(word in said for word in self.noted) and (bool(self.noted) or not said),
            "pages": self.pages in (None, tuple(one.page for one in table.questions)),
            "words": self.words in (None, tuple(one.words for one in table.questions)),
            "columns": self.kept in (None, table.kept),
        }
        wrong = [name for name, is_right in found.items() if not is_right]
        return f"{', '.join(wrong)}: {table}" if wrong else ""


@dataclass(frozen=True)
class Refused:
    """A table that is refused with these words."""

    file: str
    content: str | bytes
    words: tuple[str, ...]


def _csv(header: str, *rows: str) -> str:
    return "\n".join((header, *rows)) + "\n"


def _cells(*answers: str) -> str:
    """A table of these cells as the csv module of any program quotes them."""
    rows = [(f"question {number}?", answer) for number, answer in enumerate(answers, start=1)]
    return pd.DataFrame(rows, columns=["question", "answer"]).to_csv(index=False)


def _lines(*records: Mapping[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _parquet(records: Iterable[Mapping[str, Any]]) -> bytes:
    raw = io.BytesIO()
    pd.DataFrame(records).to_parquet(raw)
    return raw.getvalue()


FRAME = pd.DataFrame(
    {"question": [WHO, WHEN], "answer": ["Ada Quill", "1701"], "page": [3.0, None], "file": ["a", "a"]}
)
TABLE = FRAME[["question", "answer"]].to_csv(index=False)
PAIR = (("Ada Quill", "Quill"),)

LISTS = {
    "numpy": Read("q.csv", _cells("['Ada Quill' 'Quill']"), PAIR),
    "numpy, quotes of both kinds": Read(
        "q.csv", _cells("[\"Ada O'Quill\" 'it\\'s \"x\"']"), (("Ada O'Quill", 'it\'s "x"'),)
    ),
    "numpy, lines": Read("q.csv", _cells("['Ada Quill'\n 'Quill']"), PAIR),
    "numpy, shortened": Refused(
        "q.csv", _cells("['a' 'b' 'c' ... 'x' 'y' 'z']"), ("line 2, column 'answer'", "shortened")
    ),
    "numpy, numbers": Read(
        "q.csv", _cells("[1701 1702]", "[ 5 20]"), (("1701", "1702"), ("5", "20")), ("each number",)
    ),
    "numpy, floats": Read(
        "q.csv", _cells("[1701. 1702.]", "[1.  2.5]"), (("1701", "1702"), ("1", "2.5")), ("each number",)
    ),
    "numpy, two dimensions": Read("q.csv", _cells("[['Ada Quill']\n ['Quill']]"), PAIR),
    "array with a type": Read("q.csv", _cells("array(['Ada Quill', 'Quill'], dtype=object)"), PAIR),
    "array of short texts": Read("q.csv", _cells("array(['Ada Quill', 'Quill'], dtype='<U9')"), PAIR),
    "a list of arrays": Read("q.csv", _cells("[array(['Ada Quill', 'Quill'], dtype=object)]"), PAIR),
    "scalars of numpy 2": Read("q.csv", _cells("[np.str_('Ada Quill'), np.str_('Quill')]"), PAIR),
    "Python": Read("q.csv", _cells("['Ada Quill', \"Quill\"]"), PAIR),
    "Python, a | inside": Read("q.csv", _cells("['Ada|Quill', 'Quill']"), (("Ada|Quill", "Quill"),)),
    "a tuple": Read("q.csv", _cells("('Ada Quill', 'Quill')", "('x',)"), (*PAIR, ("x",))),
    "a set": Read("q.csv", _cells("{'Quill', 'Ada Quill'}"), PAIR),
    "nested": Read("q.csv", _cells("[['Ada Quill', 'Quill']]"), PAIR),
    "nested, several": Refused("q.csv", _cells("[['a', 'b'], ['c']]"), ("line 2, column 'answer'", "write one list")),
    "JSON": Read("q.csv", _cells('["Ada Quill", "Quill"]'), PAIR),
    "JSON, escapes": Read("q.csv", _cells('["caf\\u00e9", "a\\/b"]'), (("café", "a/b"),)),
    "R": Read("q.csv", _cells('c("Ada Quill", "Quill")'), PAIR),
    "R, fwrite": Read("q.csv", _cells("Ada Quill|Quill"), PAIR),
    "bytes": Read("q.csv", _cells("b'Ada Quill'", "[b'a', b'b']"), (ADA, ("a", "b"))),
    "SQuAD by pandas": Read(
        "q.csv",
        _cells("{'text': array(['Ada Quill', 'Quill'], dtype=object), 'answer_start': array([1, 5], dtype=int32)}"),
        PAIR,
    ),
    "SQuAD by Python": Read("q.csv", _cells("{'text': ['Ada Quill', 'Quill'], 'answer_start': [1, 5]}"), PAIR),
    "SQuAD, an object": Read(
        "q.jsonl", _lines({"question": WHO, "answers": {"text": ["Ada Quill", "Quill"], "answer_start": [1, 5]}}), PAIR
    ),
    "SQuAD's own objects": Read(
        "q.jsonl",
        _lines(
            {
                "question": WHO,
                "answers": [{"text": "Ada Quill", "answer_start": 1}, {"text": "Quill", "answer_start": 5}],
            }
        ),
        PAIR,
    ),
    "SQuAD 2, no answer": Refused(
        "q.jsonl",
        _lines({"question": WHO, "answers": {"text": [], "answer_start": []}}),
        ("line 1, column 'answers'", "empty"),
    ),
    "TriviaQA": Read(
        "q.jsonl", _lines({"question": WHO, "answer": {"value": "Ada Quill", "aliases": ["Quill"], "type": "x"}}), PAIR
    ),
    "an empty list": Refused("q.csv", _cells("[]"), ("line 2, column 'answer'", "empty")),
    "a cut list": Refused("q.csv", _cells("['Ada Quill', 'Qui"), ("line 2, column 'answer'", "looks like a list")),
    "a strange object": Refused("q.csv", _cells("{'label': 'x'}"), ("line 2, column 'answer'", "'label'")),
    "texts in brackets": Read(
        "q.csv",
        _cells("[main]", "(1999)", "{x}", "('tis the season)", "[sic] Ada", "c(x)", "[...]"),
        (("[main]",), ("(1999)",), ("{x}",), ("('tis the season)",), ("[sic] Ada",), ("c(x)",), ("[...]",)),
    ),
    "numbers, shortened": Refused("q.csv", _cells("[1 2 3 ... 7 8 9]"), ("line 2, column 'answer'", "shortened")),
    "R, numbers": Read("q.csv", _cells("c(1701, 1702)", "Ada"), (("1701", "1702"), ("Ada",))),
    "an interval beside texts": Read("q.csv", _cells("[0, 1]", "(3, 4)", "Ada"), (("[0, 1]",), ("(3, 4)",), ("Ada",))),
    "texts in quotes": Read("q.csv", _cells('"Ada"', "'x' and 'y'"), (('"Ada"',), ("'x' and 'y'",))),
}

NUMBERS = {
    "pandas, pages": Read("q.csv", FRAME.to_csv(index=False), pages=(3, None), noted=("read in 'page'",)),
    "pandas, pages in JSON": Read(
        "q.jsonl", FRAME.to_json(orient="records", lines=True), pages=(3, None), noted=("read in 'page'",)
    ),
    "a page beside a text": Refused(
        "q.csv", _csv("question,answer,file,page", "a,b,f,3.0", "c,d,f,p. 4"), ("line 3, column 'page'", "whole number")
    ),
    "half a page": Refused(
        "q.csv", _csv("question,answer,file,page", "a,b,f,3.5"), ("line 2, column 'page'", "whole number")
    ),
    "pages by thousands": Refused(
        "q.csv", _csv("question,answer,file,page", 'a,b,f,"1,000"'), ("line 2, column 'page'",)
    ),
    "pandas, years": Read("q.csv", _cells("1701.0", "1722.0"), (YEAR, ("1722",)), ("read in 'answer'", "decimal")),
    "years in JSON": Read(
        "q.jsonl",
        _lines({"question": "a", "answer": 1701.0}, {"question": "b", "answer": 1722.0}),
        (YEAR, ("1722",)),
        ("decimal",),
    ),
    "decimal commas": Read(
        "q.csv", "question;answer;file;page\na;1701,0;f;3,0\nb;1722,0;f;4,0\n", (YEAR, ("1722",)), ("decimal",), (3, 4)
    ),
    "versions": Read("q.csv", _cells("version 3.0", "2.0"), (("version 3.0",), ("2.0",))),
    "decimals": Read("q.csv", _cells("3.0", "2.5"), (("3.0",), ("2.5",))),
    "decimals that are meant": Read("q.csv", _cells('["3.0"]', '["2.0"]'), (("3.0",), ("2.0",))),
    "thousands": Read("q.csv", _cells("1,701", "2,000"), (("1,701",), ("2,000",))),
    "dates of pandas": Read(
        "q.csv", _cells("1701-03-01 00:00:00", "1702-04-05 00:00:00"), (("1701-03-01",), ("1702-04-05",)), ("00:00:00",)
    ),
    "dates of Excel": Read("q.csv", _cells("2-Mar", "Ada"), (("2-Mar",), ("Ada",)), ("altered", "2-Mar")),
    "exponents of Excel": Read("q.csv", _cells("1.23E+11", "Ada"), (("1.23E+11",), ("Ada",)), ("altered",)),
    "truth values of pandas": Read(
        "q.csv", _cells("True", "False"), (("True", "yes"), ("False", "no")), ("true also as yes",)
    ),
    "truth values of Excel": Read(
        "q.csv", _cells("TRUE", "FALSE"), (("TRUE", "yes"), ("FALSE", "no")), ("true also as yes",)
    ),
    "truth values of JSON": Read(
        "q.jsonl",
        _lines({"question": "a", "answer": True}, {"question": "b", "answer": False}),
        (("True", "yes"), ("False", "no")),
        ("true also as yes",),
    ),
    "dates in milliseconds": Read(
        "q.json", '[{"question":"a","answer":1577836800000}]', (("1577836800000",),), ("altered",)
    ),
    "sets and coordinates beside texts": Read(
        "q.csv", _cells("{1, 2}", "(0.5, 1)", "Ada"), (("{1, 2}",), ("(0.5, 1)",), ("Ada",))
    ),
    "a text that is true": Read("q.csv", _cells("True", "Ada"), (("True",), ("Ada",))),
}

EMPTY = {
    **{
        f"answer {mark}": Refused("q.csv", _cells("Ada", mark), ("line 3, column 'answer'", f'["{mark}"]'))
        for mark in ("nan", "NaN", "None", "NULL", "null", "NA", "N/A", "#N/A", "<NA>", "NaT", "#REF!")
    },
    "answer null of JSON": Refused(
        "q.jsonl", _lines({"question": "a", "answer": None}), ("line 1, column 'answer'", "empty")
    ),
    "answer NaN of JSON": Refused("q.jsonl", '{"question": "a", "answer": NaN}\n', ("line 1, column 'answer'",)),
    "answers that are meant": Read(
        "q.csv", _cells('["NA"]', '["None"]', "none", "Nan Goldin"), (("NA",), ("None",), ("none",), ("Nan Goldin",))
    ),
    "question nan": Refused("q.csv", _csv("question,answer", "nan,b"), ("line 2, column 'question'", "empty")),
    "places": Read(
        "q.csv",
        _csv("question,answer,file,page,text,topic", "a,Ada Quill,nan,NaN,None,NA", "b,1701,f,<NA>,#N/A,x"),
        pages=(None, None),
        words=(None, None),
    ),
    "places in R": Read(
        "q.csv", '"question","answer","file","page"\n"a","Ada Quill",NA,NA\n"b","1701","f",3\n', pages=(None, 3)
    ),
}

FILES = {
    "pandas, row numbers": Read("q.csv", FRAME[["question", "answer"]].to_csv(), kept=()),
    "pandas, row numbers twice": Read("q.csv", ",Unnamed: 0,question,answer\n0,0,a,Ada Quill\n1,1,b,1701\n", kept=()),
    "R, write.csv": Read("q.csv", f'"","question","answer"\n"1","{WHO}","Ada Quill"\n"2","{WHEN}","1701"\n', kept=()),
    "R, write.table": Read("q.csv", f'"question","answer"\n"1","{WHO}","Ada Quill"\n"2","{WHEN}","1701"\n', kept=()),
    "a comma without quotes": Refused("q.csv", "question,answer\na,b\nWho, then?,Ada\n", ("line 3", "3 fields")),
    "a byte order mark": Read("q.csv", b"\xef\xbb\xbf" + TABLE.encode()),
    "Excel, Unicode text": Read("q.csv", TABLE.replace(",", "\t").encode("utf-16")),
    "Excel, Unicode text as tsv": Read("q.tsv", TABLE.replace(",", "\t").replace("\n", "\r\n").encode("utf-16")),
    "UTF-16, big end first": Read("q.csv", b"\xfe\xff" + TABLE.encode("utf-16-be")),
    "Windows-1252": Refused("q.csv", _cells("Zoë").encode("cp1252"), ("not UTF-8", "CSV UTF-8")),
    "letters of Windows-1252 in UTF-8": Read("q.csv", _cells("ZoÃ«", "Ada"), (("ZoÃ«",), ("Ada",)), ("encoding",)),
    "semicolons": Read("q.csv", TABLE.replace(",", ";")),
    "sep=;": Read("q.csv", "sep=;\r\n" + TABLE.replace(",", ";")),
    "tabs in a csv": Read("q.csv", TABLE.replace(",", "\t")),
    "carriage returns": Read("q.csv", TABLE.replace("\n", "\r")),
    "a text file": Refused("q.txt", TABLE, ("its name must end in", ".tsv")),
    "a spreadsheet": Refused("q.xlsx", b"PK\x03\x04", ("save a spreadsheet as CSV",)),
    "names in other spellings": Read("q.csv", _csv("User Input,Ground-Truth", f"{WHO},Ada Quill", f"{WHEN},1701")),
    **{
        f"to_json, {orient}": Read("q.json", FRAME[["question", "answer"]].to_json(orient=orient), kept=kept)
        for orient, kept in {"columns": (), "index": (), "split": (), "table": ("index",), "records": ()}.items()
    },
    "to_json, lines in a .json": Read("q.json", FRAME[["question", "answer"]].to_json(orient="records", lines=True)),
    "to_dict": Read("q.json", json.dumps(FRAME[["question", "answer"]].to_dict("list"))),
    "a list under a key": Read(
        "q.json", json.dumps({"version": "1", "data": FRAME[["question", "answer"]].to_dict("records")})
    ),
    "values alone": Refused("q.json", FRAME.to_json(orient="values"), ("expected a JSON object",)),
    "Parquet": Read(
        "q.parquet",
        _parquet(
            [
                {"question": WHO, "answers": {"text": ["Ada Quill"], "answer_start": [1]}},
                {"question": WHEN, "answers": {"text": ["1701"], "answer_start": [2]}},
            ]
        ),
    ),
    "Parquet, cut": Refused("q.parquet", _parquet([{"question": WHO}])[:-9], ("not a whole Parquet file",)),
    "keys that differ in case": Refused(
        "q.jsonl", '{"question": "a", "answer": "b", "Answer": "c"}\n', ("line 1", "differ only in case")
    ),
}


def _said(question: str, right: str, said: str, *more: str) -> str:
    """A table of a framework with an answer of a system that is wrong. more: columns with a list of contexts."""
    columns = {question: [WHO, WHEN], said: ["Bo Renner", "1722"], right: ["Ada Quill", "1701"]}
    contexts = {name: ["['The miller, Bo.', 'The mill.']"] * 2 for name in more}
    return pd.DataFrame(columns | contexts).to_csv(index=False)


FRAMEWORKS = {
    name: Read("q.csv", table, noted=("the right answers are in", "not used"), words=(None, None))
    for name, table in {
        "RAGAS, old": _said("question", "ground_truth", "answer", "contexts"),
        "RAGAS, oldest": _said("question", "ground_truths", "answer", "contexts"),
        "RAGAS": _said("user_input", "reference", "response", "retrieved_contexts", "reference_contexts"),
        "TruLens": _said("query", "expected_response", "output"),
        "DeepEval": _said("input", "expected_output", "actual_output", "context", "retrieval_context"),
        "LangSmith, to_pandas": _said("inputs.question", "reference.answer", "outputs.answer"),
        "LangSmith, get_test_results": _said("input.question", "reference.output", "outputs.output"),
        "LangSmith": _said("inputs", "reference_outputs", "outputs"),
        "MLflow, evaluate": _said("inputs", "ground_truth", "outputs", "predictions"),
        "MLflow, targets": _said("inputs", "targets", "predictions"),
        "MLflow, results": _said("inputs/question", "expectations/expected_response", "outputs"),
        "Langfuse": _said("input", "expectedOutput", "output"),
        "inspect": _said("input", "target", "output"),
        "Azure": _said("query", "ground_truth", "response", "context"),
        "LlamaIndex": _said("query", "reference_answer", "response", "reference_contexts"),
    }.items()
} | {
    "a prediction beside an answer": Read("q.csv", _said("question", "answer", "prediction"), noted=("'prediction'",)),
    "RAGAS' testset": Read(
        "q.jsonl",
        _lines(
            *(
                {"user_input": one, "reference_contexts": [f"The {one}"], "reference": right}
                for one, right in ((WHO, "Ada Quill"), (WHEN, "1701"))
            )
        ),
        words=(f"The {WHO}", f"The {WHEN}"),
    ),
    "MLflow, objects": Read(
        "q.jsonl",
        _lines(
            *(
                {"inputs": {"question": one}, "outputs": "x", "expectations": {"expected_response": right}}
                for one, right in ((WHO, "Ada Quill"), (WHEN, "1701"))
            )
        ),
        noted=("'outputs'",),
    ),
    "Langfuse, objects in cells": Read(
        "q.csv",
        pd.DataFrame(
            {
                "input": [json.dumps({"question": one}) for one in (WHO, WHEN)],
                "expectedOutput": [json.dumps({"answer": one}) for one in ("Ada Quill", "1701")],
            }
        ).to_csv(index=False),
    ),
    "HotpotQA": Read(
        "q.jsonl",
        _lines({"question": WHO, "answer": "Ada Quill", "context": {"title": ["a"], "sentences": [["b"]]}}),
        (ADA,),
        ("several passages",),
        words=(None,),
    ),
    "RAGAS without references": Refused(
        "q.csv", _csv("question,answer,contexts", "a,b,\"['c']\""), ("'answer'", "ground_truth")
    ),
    "only a response": Refused("q.csv", _csv("question,response", "a,b"), ("'response'", "ground_truth")),
    "LangSmith's dataset": Refused(
        "q.jsonl", _lines({"inputs": {"question": "a"}, "outputs": {"answer": "b"}}), ("'outputs'", "ground_truth")
    ),
    "Phoenix": Refused(
        "q.csv", _csv("input,output,reference", "a,b,The passage c"), ("'reference'", "'output'", "ground_truth")
    ),
    "reference beside answer": Refused(
        "q.csv", _csv("question,answer,reference", "a,b,c"), ("line 2", "'answer' and 'reference'", "ground_truth")
    ),
    "choices as answers": Refused(
        "q.csv", _csv("question,answers,answer", "a,\"['x', 'y']\",x"), ("line 2", "different answers")
    ),
    "an empty reference": Refused(
        "q.csv", _csv("question,answer,ground_truth", "a,b,c", "d,e,"), ("line 3, column 'ground_truth'", "empty")
    ),
    "BEIR's queries": Refused(
        "q.jsonl", _lines({"_id": "1", "text": "a?", "metadata": {}}), ("line 1", "no column 'question'")
    ),
    "a conversation": Refused(
        "q.jsonl",
        _lines({"user_input": [{"content": "a", "type": "human"}], "reference": "b"}),
        ("line 1, column 'user_input'", "must be a text"),
    ),
    "MMLU": Read("q.jsonl", _lines({"question": "a", "choices": ["x", "y"], "answer": 1}), (("1",),), ("choices",)),
    "an object that is no column": Read(
        "q.jsonl",
        _lines({"inputs": {"question": "a", "k": "c"}, "reference_outputs": {"answer": "b", "k": "d"}}),
        (("b",),),
    ),
    "a question in brackets": Read("q.csv", _csv("question,answer", '"{""a"": 1 and what?",b'), (("b",),)),
    "a time of retrieval": Read("q.csv", _csv("question,answer,retrieved_at", "a,b,2020"), (("b",),)),
    "promptfoo's table of results": Read(
        "q.csv", _csv('question,__expected,"[openai:gpt-4o] Answer: {{question}}"', "a,b,c"), (("b",),)
    ),
    "long names": Refused(
        "q.csv",
        _csv(
            "response,"
            + ",".join(f"a long name of a column, number {number}".replace(",", "") * 5 for number in range(90)),
            "a" + ",b" * 90,
        ),
        ("'response'",),
    ),
    "promptfoo's assertions": Refused(
        "q.csv", _csv("question,__expected", "a,contains: b"), ("line 2, column '__expected'",)
    ),
}


def outcome(folder: Path, name: str, variant: Read | Refused) -> Outcome:
    """The outcome of reading a variant."""
    path = folder / variant.file
    path.write_bytes(variant.content if isinstance(variant.content, bytes) else variant.content.encode())
    try:
        table = read_own_table(path)
    except UserError as error:
        said = str(error)
        if isinstance(variant, Refused) and all(word in said for word in variant.words):
            return refused(name, said)
        return Outcome(name, WRONG, f"refused: {said}")
    fault = variant.fault(table) if isinstance(variant, Read) else f"not refused: {table}"
    return Outcome(name, WRONG if fault else RIGHT, fault)


def _reading(variants: Mapping[str, Read | Refused], arena: Arena) -> Iterator[Outcome]:
    for name, variant in variants.items():
        yield outcome(arena.folder, name, variant)


CONFIG = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}


def _sound(arena: Arena) -> Iterator[Outcome]:
    """Without a fault: or the other cases would say nothing."""
    table = "question,answer\n" + "".join(f"{question},{answer}\n" for question, answer in QUESTIONS.items())
    found = study(arena, {**DOCUMENTS, "questions.csv": table}, CONFIG)
    yield judged("a sound table", found, lambda it: set(it.accuracy()) == {1.0})


def _numpy_study(arena: Arena) -> Iterator[Outcome]:
    table = pd.DataFrame(
        {
            "question": [*QUESTIONS],
            "answer": [f"['{who}' '{who.split()[-1]}']" for who in QUESTIONS.values()],
            "file": [f"{town}.txt" for town in TOWNS],
        }
    )
    found = study(arena, {**DOCUMENTS, "questions.csv": table.to_csv(index=True)}, CONFIG)
    yield judged("a study of numpy's lists", found, lambda it: set(it.accuracy()) == {1.0})


def _framework_study(arena: Arena) -> Iterator[Outcome]:
    """The system was right for six questions of ten; the model that is studied for all."""
    right = [*QUESTIONS.values()]
    table = pd.DataFrame(
        {
            "question": [*QUESTIONS],
            "answer": [*right[:6], *right[7:], right[0]],
            "contexts": [f"['{text.strip()}']" for text in DOCUMENTS.values()],
            "ground_truth": right,
        }
    )
    found = study(arena, {**DOCUMENTS, "questions.csv": table.to_csv(index=False)}, CONFIG)
    yield judged(
        "a study of RAGAS' table",
        found,
        lambda it: set(it.accuracy()) == {1.0} and is_said(it, "the right answers are in 'ground_truth'", "'answer'"),
    )


def _float_study(arena: Arena) -> Iterator[Outcome]:
    """Pages, years and ids of columns that pandas has turned into floats."""
    chunks = [
        {"page_content": text.strip(), "metadata": {"source": "guide.pdf", "page_label": str(page)}}
        for page, text in enumerate(DOCUMENTS.values(), start=1)
    ]
    table = pd.DataFrame(
        {
            "question": [f"When was the mill of {town} built?" for town in TOWNS],
            "answer": [float(year) for year, _ in TOWNS.values()],
            "file": "guide.pdf",
            "page": [None if page == 3 else float(page) for page in range(1, len(TOWNS) + 1)],
        }
    )
    answers = dict(zip(table["question"], (str(year) for year, _ in TOWNS.values()), strict=True))
    files = {"chunks.json": json.dumps(chunks), "questions.csv": table.to_csv(index=False)}
    config = {**CONFIG, "my_data": {"documents": "chunks.json", "questions": "questions.csv"}}
    found = study(arena, files, config, answers)
    yield judged("a study of floats", found, lambda it: set(it.accuracy()) == {1.0} and is_said(it, "decimal"))


KINDS = {"lists": LISTS, "numbers": NUMBERS, "empty cells": EMPTY, "files": FILES, "frameworks": FRAMEWORKS}
CASES = [
    *(
        Case(f"tables: {kind}", lambda arena, variants=variants: _reading(variants, arena), fast=True)
        for kind, variants in KINDS.items()
    ),
    Case("a sound table", _sound),
    Case("a study of numpy's lists", _numpy_study),
    Case("a study of RAGAS' table", _framework_study),
    Case("a study of floats", _float_study),
]
