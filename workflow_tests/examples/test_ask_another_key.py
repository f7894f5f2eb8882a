"""Key-value retrieval with a fixed context and another key per position."""

import pytest
from configs import KV, of_row
from conftest import ROOT, write_lines
from figure_tables import FIGURE, cell, draw, legend, table
from record_makers import changed
from suite_examples import SETTINGS, example, examples_by_position, questions

from litm.base.messages import UserError
from litm.config.experiments import Experiment
from litm.config.study import load_study
from litm.examples.checks import check_examples
from litm.examples.task import ASK_ANOTHER_KEY
from litm.examples.tasks.key_values import kv_retrieval
from litm.placements import gold_placement


def examples(size: int, positions: list[int], asked=questions) -> dict[str, list[dict]]:
    """Examples by placement."""
    return {
        (placement := gold_placement([position])): [
            example("kv_retrieval", kv_retrieval.ask_another_key(question, size, placement), size, placement)
            for question in asked("kv_retrieval", size)
        ]
        for position in positions
    }


def test_every_position_asks_for_its_own_pair_of_the_same_context():
    by_placement = examples(20, [0, 9, 19])
    assert not check_examples(by_placement, generated=True, design=ASK_ANOTHER_KEY)
    for versions in zip(*by_placement.values(), strict=True):
        assert len({version.id for version in versions}) == 1
        (context,) = {version.prompt.partition("JSON data:\n")[2].partition("\n\nKey:")[0] for version in versions}
        for position, version in zip((0, 9, 19), versions, strict=True):
            (target,) = version.targets
            line = context.split("\n")[position]
            assert version.question in line and target.answers[0] in line
            assert version.prompt[slice(*target.span)] == line.removesuffix(",")
            assert version.prompt.count(version.question) == 2


def test_released_files_are_asked_the_same_way(tmp_path):
    pairs = [[f"key{n}", f"value{n}"] for n in range(5)]
    path = write_lines(tmp_path / "kv.jsonl.gz", [{"ordered_kv_records": pairs, "key": "key2", "value": "value2"}])
    (question,) = kv_retrieval.questions(4, SETTINGS, str(path))
    asked = [kv_retrieval.ask_another_key(question, 4, gold_placement([position])) for position in range(4)]
    assert [(one.id, one.text) for one in asked] == [("key2", key) for key in ("key2", "key0", "key1", "key3")]
    by_placement = examples(4, [0, 1, 3], asked=lambda task, size: [question])
    assert not check_examples(by_placement, generated=False, design=ASK_ANOTHER_KEY)
    with pytest.raises(UserError, match="a context of 6 needs 5"):
        kv_retrieval.ask_another_key(question, 6, "gold_at_0")


def differ(at_9, at_19):
    at_9["prompt"] = at_9["prompt"].replace(at_19["targets"][0]["answers"][0][:8], "00000000")


def swap(at_9, at_19):
    for field in ("prompt", "question"):
        at_9[field], at_19[field] = at_19[field], at_9[field]


@pytest.mark.parametrize(
    ("change", "found"),
    [(differ, "more than the key asked for differs"), (swap, "gold_at_9 does not ask for the pair that is there")],
)
def test_another_context_or_pair_at_a_position_is_found(change, found):
    spoilt = changed(examples(20, [0, 9, 19]), lambda made: change(made["gold_at_9"][0], made["gold_at_19"][0]))
    findings = check_examples(spoilt, generated=True, design=ASK_ANOTHER_KEY)
    assert any(found in finding for finding in findings)


def test_examples_of_the_other_design_are_found():
    moved = examples_by_position("kv_retrieval", 20, [gold_placement([position]) for position in (0, 9, 19)])
    assert not check_examples(moved, generated=True)
    assert check_examples(moved, generated=True, design=ASK_ANOTHER_KEY)
    assert check_examples(examples(20, [0, 9, 19]), generated=True)


def experiment(**entry) -> Experiment:
    return load_study(of_row({"experiments.own": {**KV, **entry}}), ROOT).experiments["own"]


def test_the_usual_design_leaves_the_settings_of_examples_as_they_were():
    designs = {}, {"design": "move_the_pair"}, {"design": "ask_another_key"}
    usual, moved, other = (experiment(**design).example_settings() for design in designs)
    assert "design" not in usual and moved == usual and other == {**usual, "design": ASK_ANOTHER_KEY}


def test_a_task_whose_items_are_not_alike_has_no_such_design():
    with pytest.raises(UserError, match=r"^experiments\.own: 'design: ask_another_key' is for kv_retrieval, not"):
        experiment(task="needle_in_haystack", design="ask_another_key")


def test_a_figure_of_both_designs_has_a_labelled_line_for_each():
    names = ["kv_retrieval_small", "kv_retrieval_small_ask_another_key"]
    cells = [cell("m", name, 10, position, 0.5) for name in names for position in (0, 4, 9)]
    canvas = draw({**FIGURE, "experiments": names, "references": {}}, table(*cells))
    (panel,) = canvas.axes
    assert [len(line.lines[0].get_xdata()) for line in panel.containers] == [3, 3]
    assert len({line.lines[0].get_linestyle() for line in panel.containers}) == 2
    assert set(names) <= {*legend(canvas)}
