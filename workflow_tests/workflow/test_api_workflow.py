"""The whole workflow with a model on a server, whose filter holds back one prompt."""

import pandas as pd
from fault_server import FaultServer
from workbench import CONFIG

from litm.base.formats import read_json


def test_a_model_of_a_server_is_asked_scored_drawn_and_never_asked_again(new_bench):
    bench = new_bench

    def right(prompt: str) -> str:
        number = prompt.rpartition("what is number ")[2].split()[0]
        return f"\nanswer{number}, I think.\nWhy?"

    refused = "what is number 2"
    with FaultServer(lambda prompt, attempt: "refused" if refused in prompt else None, answer=right) as server:
        served = {"engine": "openai", "api_model": "big-1", "base_url": f"{server.url}/v1", "request": {"seed": 1}}
        define = {**CONFIG["define"], "models": {"served": served}}
        bench.configure({**CONFIG, "models": ["served"], "experiments": ["qa"], "define": define})
        bench.run()
        assert bench.asked("qa", "served") == (8, 0)
        assert all(body["seed"] == 1 and body["max_tokens"] == 10 for body in server.bodies)
        bench.run("--forcerun", "generate", "--until", "generate")
        assert bench.asked("qa", "served") == (0, 8) and len(server.asked) == 8
    accuracy = pd.read_csv(bench.path("results/tables/accuracy.csv"))
    assert accuracy["n"].tolist() == [4, 4] and accuracy["accuracy"].tolist() == [0.75, 0.75]
    assert accuracy["n_refused"].tolist() == [1, 1] and accuracy["n_failed"].tolist() == [0, 0]
    report = bench.path("results/report.html").read_text()
    assert f"big-1 of a server ({served['base_url']})" in report
    manifest = read_json(bench.path("results/responses/served/qa.manifest.json"))
    (made_with,) = manifest["made_with"]
    assert made_with.startswith("openai ") and made_with.endswith(f", {server.url}/v1, big-1-0613")
