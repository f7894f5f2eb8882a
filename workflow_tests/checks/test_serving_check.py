"""litm check --against: which entries are meant, what is asked at each look, and what is said of a broken server."""

import json
import os
import re
import subprocess
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import ROOT
from local_http import Handler, Served

from litm.analysis.regression import NOT_WORSE, WORSE
from litm.base.messages import UserError
from litm.checks.serving_study import (
    Asking,
    asking_study,
    best_rung,
    ladders,
    next_rung,
    pilot_questions,
    two_entries,
    with_lengths,
)
from litm.compare import SAME_ANSWERS, STATUS
from litm.config.study import load_study
from litm.config.yaml_files import read_layers
from litm.engines.modules.fake import KEY, PAIR
from litm.figures.curves import verdict_chart

CONFIG = read_layers([ROOT / "config" / name for name in ("config.yaml", "serving_check.yaml")])


def study(**changes):
    return load_study({**CONFIG, **changes}, ROOT)


def test_an_address_is_another_server_of_the_model_and_a_name_another_entry():
    both = two_entries("m", "http://localhost:2/v1", "http://localhost:1/v1", CONFIG, {})
    assert [(name, entry["base_url"][-4], entry["api_model"]) for name, entry in both.items()] == [
        ("m", "2", "m"),
        ("m-reference", "1", "m"),
    ]
    assert [*two_entries(None, None, "smollm2-float32", CONFIG, {})] == ["smollm2-bfloat16", "smollm2-float32"]
    for model, against, words in (("m", "smollm2-float32", "m: no known model"), (None, "x", "give --model too")):
        with pytest.raises(UserError, match=words):
            two_entries(model, None, against, CONFIG, {})
    with pytest.raises(UserError, match="that is the model itself"):
        two_entries("smollm2-float32", None, "smollm2-float32", CONFIG, {})


def test_each_length_has_five_depths_and_the_same_experiments_from_easy_to_hard():
    lengths = ladders(study())
    assert [len(ladder) for ladder in lengths] == [len(CONFIG["experiments"])] * 3
    assert all(len(asking.positions) == 5 for ladder in lengths for asking in ladder)
    assert [ladder[0].size for ladder in lengths] == [40, 160, 400]
    assert {pilot_questions(asking) * 5 for ladder in lengths for asking in ladder} == {20}


def test_lengths_in_tokens_take_the_place_of_those_of_the_config():
    changed = with_lengths(CONFIG, [3000])
    (ladder,) = ladders(study(**changed))
    assert {asking.experiment: asking.size for asking in ladder}["serving_codes"] == 100
    assert ladder[0].positions == (0, 25, 50, 74, 99)
    assert with_lengths(CONFIG, []) == CONFIG


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        (
            {"measure": ["answer", "log_probability"]},
            "read in one pass over prompt and answer, which need not read the",
        ),
        ({"task": "linked_facts", "fillers": None, "positions": {40: [[0, 39]]}}, "needs 'positions' of one item"),
    ],
)
def test_what_cannot_be_judged_is_refused(experiment, words):
    define = CONFIG["define"]
    refused = {**define["experiments"], "serving_codes": {**define["experiments"]["serving_codes"], **experiment}}
    refused["serving_codes"] = {key: value for key, value in refused["serving_codes"].items() if value is not None}
    with pytest.raises(UserError, match=f"serving_codes.*{words}"):
        ladders(study(experiments=["serving_codes"], define={**define, "experiments": refused}))


def test_the_pilot_goes_up_or_down_until_the_reference_is_between_floor_and_ceiling():
    def walk(*accuracies: float) -> tuple[list[int], int]:
        """The places tried, and the one taken, of a ladder with these accuracies."""
        tried: dict[int, float] = {}
        while (place := next_rung(tried, len(accuracies))) is not None:
            tried[place] = accuracies[place]
        return [*tried], best_rung(tried)

    assert walk(1, 0.95, 0.6, 0.2) == ([2], 2)
    assert walk(1, 1, 1, 0.7) == ([2, 3], 3)
    assert walk(0.7, 0.1, 0, 0) == ([2, 1, 0], 0)
    assert walk(1, 1, 0.1, 0) == ([2, 1], 1)
    assert walk(0.3) == ([0], 0)


def test_a_look_asks_what_is_open_alone_and_earlier_questions_again():
    asked = [Asking("serving_codes", 40, (0, 20)), Asking("serving_pairs", 140, (70,))]
    narrowed = asking_study(CONFIG, ["smollm2-float32"], asked, 24)
    read = load_study(narrowed, ROOT)
    cells = [(name, cell.size, cell.placement) for name, entry in read.experiments.items() for cell in entry.cells]
    assert cells == [
        ("serving_codes", 40, "gold_at_0"),
        ("serving_codes", 40, "gold_at_20"),
        ("serving_pairs", 140, "gold_at_70"),
    ]
    assert {entry.examples for entry in read.experiments.values()} == {24} and [*read.models] == ["smollm2-float32"]
    assert CONFIG["define"]["experiments"]["serving_codes"]["examples"] == 400


def test_the_picture_has_a_panel_for_each_length_with_the_verdict_below_each_position():
    row = {"experiment": "e", "n": 24, "difference": -0.2, "ci_low": -0.4, "ci_high": 0.1}
    rows = [
        {**row, "size": size, "position": at, "verdict": WORSE if at else NOT_WORSE}
        for size in (9, 19)
        for at in (0, 4)
    ]
    chart = verdict_chart(rows, "a minus b")
    assert [panel.title for panel in chart.panels] == ["e, size 9", "e, size 19"]
    assert chart.panels[0].ticks == ((0, "1st\nnot worse"), (4, "5th\nworse"))
    assert [(point.low, point.value, point.high) for point in chart.panels[1].series[0].points] == [
        (-0.4, -0.2, 0.1)
    ] * 2


class _Handler(Handler):
    """Servers of one model: at /whole/v1 and /other/v1 the same answers, right by chance; at /broken/v1 wrong ones to
    items in the middle. `asked` of its server counts prompts by the first part of the path.
    """

    def do_GET(self) -> None:
        self.send(200, b'{"data": [{"id": "small"}]}')

    def do_POST(self) -> None:
        path, prompt = self.path.split("/")[1], json.loads(self.body())["messages"][-1]["content"]
        asked[path, prompt] += 1
        pairs = PAIR.findall(prompt)
        place = [key for key, _ in pairs].index(KEY.search(prompt).group(1))
        is_right = int(sha256(prompt.encode()).hexdigest(), 16) % 10 < 6
        is_lost = path == "broken" and 0.25 < place / len(pairs) < 0.75
        message = {"role": "assistant", "content": pairs[place][1] if is_right and not is_lost else "none"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 9, "total_tokens": len(prompt) // 4 + 9}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "small", "choices": [choice]}
        self.send(200, json.dumps({**body, "usage": usage}).encode(), Content_Type="application/json")


#: Prompts by server.
asked: Counter[tuple[str, str]] = Counter()
#: Three positions of one short length.
STUDY = {
    "experiments": ["pairs"],
    "define": {
        "experiments": {
            "pairs": {
                "task": "kv_retrieval", "positions": {5: [0, 2, 4]}, "examples": 100, "max_new_tokens": 60
            }
        }
    },
}  # fmt: skip


def check(folder: Path, url: str, model: str, against: str, *words: str) -> subprocess.CompletedProcess:
    (folder / "small.yaml").write_text(yaml.safe_dump(STUDY))
    servers = ["--model", "small", "--url", f"{url}/{model}/v1", "--against", f"{url}/{against}/v1"]
    command = [ROOT / "litm", "check", *servers, "--study", "small.yaml", "--worse-than", "15", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.study
@pytest.mark.long
def test_a_server_that_loses_the_middle_is_worse_there_and_each_prompt_is_asked_once_until_its_verdict(tmp_path):
    with Served(_Handler) as server:
        done = check(tmp_path, server.url, "broken", "whole")
        assert done.returncode == STATUS[WORSE], done.stdout + done.stderr
        folder = tmp_path / "litm-check"
        table = pd.read_csv(folder / "serving_check.csv").set_index("position")
        assert table["verdict"].to_dict() == {0: NOT_WORSE, 2: WORSE, 4: NOT_WORSE}
        assert "worse: by more than 15 points at pairs, size 5, gold_at_2 (-" in done.stdout
        assert re.search(r"pilot, pairs, size 5: \d+\.\d % of 21 prompts\n", done.stdout)
        assert (folder / "serving_check.png").stat().st_size > 10_000
        # No verdict is left out of the study of a later look: what is asked is what the table counts.
        assert {*asked.values()} == {1}
        by_server = Counter(path for path, _ in asked)
        assert by_server["broken"] == table["n"].sum() < 3 * table["n"].max()
        assert by_server["whole"] == table["n"].sum() + 21
        again = check(tmp_path, server.url, "broken", "whole")
        assert again.returncode == SAME_ANSWERS and "nothing was asked of small" in again.stderr
        assert pd.read_csv(folder / "serving_check.csv").set_index("position").equals(table)


@pytest.mark.study
@pytest.mark.long
def test_the_same_server_twice_is_not_worse_and_entries_of_one_identity_are_refused(tmp_path):
    with Served(_Handler) as server:
        done = check(tmp_path, server.url, "other", "whole")
        assert done.returncode == STATUS[NOT_WORSE], done.stdout + done.stderr
        assert "not worse: none of 3 differences is worse by more than 15 points" in done.stdout
        (tmp_path / "one.yaml").write_text(
            yaml.safe_dump({"define": {"models": {
                name: {"engine": "openai", "api_model": "small", "base_url": f"{server.url}/{name}/v1", "revision": "1"}
                for name in ("whole", "other")
            }}, "models": ["other", "whole"]})
        )  # fmt: skip
        words = ["--against", "whole", "--study", "small.yaml", "one.yaml", "--folder", "again"]
        command = [ROOT / "litm", "check", *words]
        shared = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert shared.returncode == 1 and "other and whole have one identity" in shared.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--fake",), "--fake and --against do not go together"),
        (("--model", "m", "--worse-than", "0"), "--worse-than 0: give points"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, error, monkeypatch, tmp_path):
    from litm.checks.first_check import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=error):
        main(["--against", "x", *words])
