"""The JSON schema of results/findings.json: it is the declared one, and findings follow it."""

import json

import jsonschema
import pytest
from conftest import ROOT, WRITE_ANEW
from test_study import advice, study, tables

from litm.findings.schema import SCHEMA, findings_schema

VALIDATOR = jsonschema.Draft202012Validator(findings_schema())


def test_the_written_schema_is_that_of_the_records_and_kinds():
    assert json.loads((ROOT / SCHEMA).read_text()) == findings_schema(), WRITE_ANEW
    jsonschema.Draft202012Validator.check_schema(findings_schema())


def test_the_findings_of_a_study_follow_the_schema():
    made = study(stand_ins=["c"], own=tables(("a", "b", "c")), advice=[advice("b", "other")]).to_json()
    assert len(made["findings"]) > 9 and not [*VALIDATOR.iter_errors(json.loads(json.dumps(made)))]


def test_the_findings_of_a_run_follow_the_schema(finished):
    made = json.loads(finished.path("results/findings.json").read_text())
    assert {"study", "curve", "stand_ins"} <= {finding["kind"] for finding in made["findings"]}
    assert not [*VALIDATOR.iter_errors(made)]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "curves"},
        {"strength": "certain"},
        {"facts": {}},
        {"numbers": {"overall": {"value": 0.1}}},
        {"remedy": "pray"},
        {"colour": 1},
    ],
)
def test_the_schema_refuses_what_no_kind_declares(change):
    made = json.loads(json.dumps(study().to_json()))
    curve = next(one for one in made["findings"] if one["kind"] == "curve")
    curve.update(change)
    assert [*VALIDATOR.iter_errors(made)]
