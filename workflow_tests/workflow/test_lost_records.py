"""Results whose Snakemake records are lost."""

from base64 import urlsafe_b64encode

from litm.workflow.housekeeping import say_unrecorded


def test_results_without_a_record_are_said_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ["results/a.json", "results/b.json", "results/missing.json"]
    for number in (0, 1):
        (tmp_path / files[number]).parent.mkdir(exist_ok=True)
        (tmp_path / files[number]).write_text("{}")
    records = tmp_path / ".snakemake" / "metadata"
    assert say_unrecorded(files).startswith("2 results (results/a.json, ...) have no record")
    records.mkdir(parents=True)
    (records / urlsafe_b64encode(b"results/a.json").decode()).write_text("{}")
    assert say_unrecorded(files).startswith("1 results (results/b.json, ...) have no record")
    (records / urlsafe_b64encode(b"results/b.json").decode()).write_text("{}")
    assert say_unrecorded(files) == ""
