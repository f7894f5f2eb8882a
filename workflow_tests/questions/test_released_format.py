"""What a file in the released format says of its documents."""

from litm.base.json_files import write_jsonl
from litm.questions.released_format import Document, QuestionRecord, filled_shares, write_question_records


def test_documents_that_were_filled_in_are_shares_by_experiment_and_size(tmp_path):
    retrieved = [Document.from_fields("t", f"text {number}") for number in range(4)]
    filled = [*retrieved[:1], *(document.as_filler() for document in retrieved[1:])]
    texts = {"whole": retrieved, "filled": filled, "not asked": filled}
    records = [QuestionRecord.from_documents(text, ["a"], documents) for text, documents in texts.items()]
    candidates, examples, unmade = (str(tmp_path / f"{name}.jsonl") for name in ("candidates", "examples", "unmade"))
    write_question_records(candidates, records)
    write_jsonl(examples, [{"id": record.id} for record in records[:2]])
    at_all_sizes = dict.fromkeys(("4", "2", "1"), (candidates, examples))
    # A file counts for the first experiment that has it.
    experiments = {
        "qa": at_all_sizes | {"3": (candidates, unmade)},
        "other": at_all_sizes,
        "absent": {"4": (unmade, examples)},
    }
    assert filled_shares(experiments) == {"qa": {2: 1 / 4, 4: 3 / 8}}
