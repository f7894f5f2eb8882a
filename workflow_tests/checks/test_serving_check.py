"""litm check --against: which entries are meant, what is asked at each look, and what is said of a broken server."""

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import ROOT
from local_http import Handler, Served
from score_frames import score_rows

from litm.analysis.regression import NOT_WORSE, OPEN, WORSE
from litm.base.messages import UserError
from litm.base.table_files import write_parquet
from litm.checks import serving_check
from litm.checks.serving_check import UNINFORMATIVE_STATUS, main, warning_lines
from litm.checks.serving_study import (
    Asking,
    asking_study,
    best_rung,
    ladders,
    next_rung,
    pilot_of,
    two_entries,
    with_lengths,
)
from litm.compare import SAME_ANSWERS, STATUS
from litm.config.study import load_study
from litm.config.yaml_files import read_layers
from litm.engines.modules.fake import KEY, PAIR
from litm.figures.curves import verdict_chart
from litm.records.responses import SweepResponse, write_responses

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
    assert pilot_of(lengths[0][0]) == (Asking("serving_neutral", 40, (10, 29)), 10)
    assert pilot_of(Asking("e", 5, (2,))) == (Asking("e", 5, (2,)), 20)


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
        is_right = int(sha256(prompt.encode()).hexdigest(), 16) % 10 < 8
        is_lost = path == "broken" and 0.25 < place / len(pairs) < 0.75
        message = {"role": "assistant", "content": pairs[place][1] if is_right and not is_lost else "none"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 9, "total_tokens": len(prompt) // 4 + 9}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "small", "choices": [choice]}
        self.send(200, json.dumps({**body, "usage": usage}).encode(), Content_Type="application/json")


#: Prompts by server.
asked: Counter[tuple[str, str]] = Counter()
#: Three positions of one short length.
PAIRS = {"task": "kv_retrieval", "positions": {5: [0, 2, 4]}, "max_new_tokens": 60}


def study_file(folder: Path, examples: int, **models: dict) -> str:
    """The name of a study's file in the folder: pairs, and these models."""
    define = {"experiments": {"pairs": {**PAIRS, "examples": examples}}, "models": models}
    (folder / "small.yaml").write_text(yaml.safe_dump({"experiments": ["pairs"], "define": define}))
    return "small.yaml"


@pytest.mark.study
@pytest.mark.long
def test_a_server_that_loses_the_middle_is_worse_there_and_each_prompt_is_asked_once_until_its_verdict(tmp_path):
    with Served(_Handler) as server:
        servers = ["--model", "small", "--url", f"{server.url}/broken/v1", "--against", f"{server.url}/whole/v1"]
        words = [*servers, "--study", study_file(tmp_path, 24), "--worse-than", "20"]
        done = subprocess.run(
            [ROOT / "litm", "check", *words], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    assert done.returncode == STATUS[WORSE], done.stdout + done.stderr
    table = pd.read_csv(tmp_path / "litm-check" / "serving_check.csv").set_index("position")
    assert table["verdict"].to_dict() == {0: NOT_WORSE, 2: WORSE, 4: NOT_WORSE}
    assert "worse: by more than 20 points at pairs, size 5, gold_at_2 (-" in done.stdout
    assert (tmp_path / "litm-check" / "serving_check.png").stat().st_size > 10_000
    assert {*asked.values()} == {1}
    by_server = Counter(path for path, _ in asked)
    assert (by_server["broken"], by_server["whole"]) == (table["n"].sum(), table["n"].sum() + 20)


@dataclass
class Made:
    """In place of Snakemake: what a study asks is answered at once, and written as the workflow does."""

    loses: tuple[int, ...] = ()
    """Positions at which the model `other` has no right answer to every `every`th question."""
    every: int = 1
    accuracy: int = 6
    """Right answers of each ten."""
    has_own_identity: bool = True
    """Whether the two models have an identity each."""
    looks: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """Questions and positions of each look."""

    def __call__(self, folder: Path, targets: Sequence[str]) -> None:
        config = yaml.safe_load((folder / "study.yaml").read_text())
        entry = config["define"]["experiments"]["pairs"]
        if folder.name != "pilot":
            self.looks.append((entry["examples"], tuple(entry["positions"][5])))
        for target in targets:
            model = Path(target).parent.name
            rows = {
                at: [
                    question * 7 % 10 < self.accuracy
                    and not (model == "other" and at in self.loses and question % self.every == 0)
                    for question in range(entry["examples"])
                ]
                for at in entry["positions"][5]
            }
            scores = score_rows(rows, size=5, model=model, experiment="pairs", prompt_tokens=100, excluded=False)
            write_parquet(folder / target, scores)
            identity = model if self.has_own_identity else ""
            keys = [f"{identity} {at} {question}" for at in rows for question in range(entry["examples"])]
            responses = [SweepResponse("q", 5, "gold_at_0", key, "", "stop", 1, 1) for key in keys]
            write_responses(folder / "results" / "responses" / model / "pairs.jsonl.gz", responses)
            kept = folder / "results" / "answers" / "identity" / f"{model}+pairs.jsonl"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text("".join(f"{key}\n" for key in keys))


def check(folder: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit status of a check of the model `other` against `whole` at a margin of 20 points."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(serving_check, "make", made)
    dummy = {"engine": "dummy"}
    words = ["--study", study_file(folder, 50, whole=dummy, other=dummy), "--model", "other", "--against", "whole"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--worse-than", "20"])
    return ended.value.code


@pytest.mark.parametrize(
    ("made", "status", "looks"),
    [
        (Made(), STATUS[NOT_WORSE], [(12, (0, 2, 4)), (24, (0, 2, 4))]),
        (Made(loses=(2,)), STATUS[WORSE], [(12, (0, 2, 4)), (24, (0, 2, 4))]),
        # The ends have their verdicts at the second look, and are asked no more.
        (Made(loses=(2,), every=3), STATUS[OPEN], [(12, (0, 2, 4)), (24, (0, 2, 4)), (35, (2,)), (50, (2,))]),
        (Made(accuracy=0), UNINFORMATIVE_STATUS, [(12, (0, 2, 4)), (24, (0, 2, 4))]),
        (Made(accuracy=10), UNINFORMATIVE_STATUS, [(12, (0, 2, 4)), (24, (0, 2, 4))]),
    ],
)
def test_a_check_asks_what_has_no_verdict_and_its_exit_status_is_the_outcome(
    made, status, looks, tmp_path, monkeypatch, capsys
):
    assert check(tmp_path, made, monkeypatch) == status
    assert made.looks == looks
    table = pd.read_csv(tmp_path / "litm-check" / "serving_check.csv")
    assert table["n"].tolist() == [max(number for number, places in looks if at in places) for at in (0, 2, 4)]
    shown = capsys.readouterr().out
    assert f"pilot, pairs, size 5: {10 * made.accuracy}.0 % of 20 prompts" in shown or made.accuracy == 6
    assert f"{table['n'].sum()} prompts for each, {200 * table['n'].sum():,} prompt tokens of both" in shown


def test_a_model_that_was_asked_nothing_passes_no_check(tmp_path, monkeypatch, capsys):
    made = Made()
    assert check(tmp_path, made, monkeypatch) == STATUS[NOT_WORSE]
    assert check(tmp_path, made, monkeypatch) == SAME_ANSWERS
    assert "nothing was asked of other: all of its answers were kept" in capsys.readouterr().err


def test_entries_of_one_identity_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="other and whole have one identity, so the answers of one are given to the"):
        check(tmp_path, Made(has_own_identity=False), monkeypatch)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--fake",), "--fake and --against do not go together"),
        (("--model", "m", "--worse-than", "0"), "--worse-than 0: give points"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, error, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=error):
        main(["--against", "x", *words])


def test_different_tokens_of_a_prompt_and_answers_in_doubt_are_said_after_the_verdict():
    prompt = {"experiment": "pairs", "size": 5, "placement": "gold_at_0"}
    rows = [{**prompt, "model": side, "id": str(n), "prompt_tokens": 140} for side in "ab" for n in range(3)]
    assert not [*warning_lines(pd.DataFrame(rows), ["new", "old"])]
    rows[0] |= {"prompt_tokens": 100, "doubt": "empty"}
    doubted, cut = warning_lines(pd.DataFrame(rows), ["new", "old"])
    assert "answers of new are in doubt" in doubted and "in 1 of 3 prompts: one cuts prompts" in cut
