"""What docs/tutorial.md says its commands print, where that does not depend on the machine."""

import re
import tomllib

import yaml
from conftest import ROOT
from plans import plan, plan_in

from litm.workflow import dry_run

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
#: Of a dry run: time and number format are those of the machine, and differences those of earlier scores.
OF_THE_MACHINE = re.compile(r"(a rule of thumb|show only differences)")


def blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE)


def test_the_tutorial_shows_what_a_dry_run_of_its_study_prints(tmp_path, monkeypatch):
    (study,), (_, shown) = blocks("yaml"), blocks("text")
    demo = plan_in(tmp_path, "config")
    monkeypatch.chdir(tmp_path)
    inputs = plan("config", **yaml.safe_load(study))
    # The default run has been made; the new size of one experiment is to be added, whose examples are made first.
    model = demo.study.sweeps[0].model.name
    answers = tmp_path / "results/answers/identity" / f"{model}+run.jsonl"
    answers.parent.mkdir(parents=True)
    answers.touch()
    jobs = dry_run.Jobs(inputs.study, inputs.sweeps, lambda left: [])
    done = {pair for pair in demo.study.pairs() if pair[1] != "mini_gazetteer_qa"}
    for name, experiment in inputs.study.pairs():
        if (name, experiment) not in done:
            jobs.add("generate", {"model": name, "experiment": experiment}, "no output yet")
    jobs.add("make_examples", {"experiment": "mini_gazetteer_qa"}, "no output yet")
    printed = jobs.summary()
    expected = [line for line in shown.splitlines() if not OF_THE_MACHINE.search(line)]
    assert len(expected) == 5 and [line for line in printed if line in expected] == expected, printed


def test_the_tutorial_s_numbers_of_prompts_and_requirements_are_those_of_its_studies():
    prompts = {
        sweep.experiment.name: len(sweep.experiment.cells) * sweep.experiment.examples
        for sweep in plan("config").study.sweeps
    }
    assert "SmolLM2 has already answered the 120 with ten documents, so only the 48 with five remain" in PAGE
    assert prompts["mini_gazetteer_qa"] == 120
    for experiment, n in re.findall(r"(?m)^(\w+), \d+ \w+, n = (\d+)", blocks("text")[0]):
        assert plan("config").study.experiments[experiment].examples == int(n)
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert f"Python {needs.removeprefix('>=')} or newer" in PAGE
