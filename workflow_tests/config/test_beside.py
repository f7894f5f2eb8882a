"""Models beside those of a study: which there are, what they were asked, and mistakes."""

from pathlib import Path

import configs
import pytest
from conftest import qa_record, write_lines
from programs import refused

FIELDS = {"response": "answer", "question": "question", "position": "at"}


def study(folder: Path, **changes):
    """A study of `reference` on `qa`, with recorded answers of `theirs` to `qa` that may be beside it."""
    file = {"path": str(write_lines(folder / "d.jsonl", [qa_record(0, 4)]))}
    qa = {"task": "multi_document_qa", "dataset": "d", "positions": {3: [0, 2]}}
    judged = qa | {"metric": "judged", "judge": {"model": "reference"}}
    theirs = {"engine": "recorded", "responses": {}, "fields": FIELDS}
    for name in ("qa", "judged"):
        theirs["responses"][name] = str(write_lines(folder / f"{name}.jsonl", []))
    define = {
        "datasets": {"d": file},
        "experiments": {"qa": qa, "judged": judged, "cb": {"task": "closed_book_qa", "dataset": "d"}},
        "models": {"theirs": theirs},
    }
    selected = {"models": ["reference"], "experiments": ["qa", "judged", "cb"], "beside": ["theirs"]}
    return configs.study(**{**selected, "define": define, **changes})


def test_a_model_beside_is_scored_and_is_no_model_of_the_study(tmp_path):
    beside, alone = study(tmp_path), study(tmp_path, beside=None)
    assert [sweep.pair for sweep in beside.beside_sweeps] == [("theirs", "qa")]
    assert beside.sweep("theirs", "qa").cells == beside.sweep("reference", "qa").cells
    assert [sweep.pair for sweep in beside.sweeps] == [sweep.pair for sweep in alone.sweeps]
    assert (list(beside.models), list(beside.figures)) == (list(alone.models), list(alone.figures))


def others(folder: Path, **changes):
    """A study of the paper's questions with a model of config/others.yaml beside it."""
    selected = {"models": ["reference"], "experiments": ["ten_positions"], "beside": ["pythia-2.8b"]}
    data = {"datasets": {"nq_open_10_documents": {"path": str(write_lines(folder / "d.jsonl", [qa_record(0, 10)]))}}}
    return configs.study(**{**selected, "define": data, **changes})


def test_models_of_others_yaml_bring_their_experiments_and_a_missing_file_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refused(others, tmp_path)
    assert said.startswith("models.pythia-2.8b.responses.ten_positions: ") and "git clone https://github.com/" in said
    file = tmp_path / "others/Mixing-Matters/artifacts/phase2/pythia-2.8b/sweep.jsonl.gz"
    file.parent.mkdir(parents=True)
    write_lines(file, [])
    one = others(tmp_path)
    assert [sweep.pair for sweep in one.beside_sweeps] == [("pythia-2.8b", "ten_positions")]
    assert one.beside["pythia-2.8b"].origin.max_new_tokens == 32


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"beside": ["their"]}, "beside: unknown name 'their' (did you mean 'theirs'?)"),
        ({"beside": ["reference"]}, "beside: unknown name 'reference'"),
        ({"models": ["reference", "theirs"]}, "beside: theirs is in 'models' too; name it in one of the two"),
        (
            {"experiments": ["cb"]},
            "beside: theirs has no responses to the selected experiments (cb), only to qa, judged",
        ),
    ],
)
def test_mistakes_in_beside(tmp_path, changes, said):
    assert said in refused(lambda: study(tmp_path, **changes))
