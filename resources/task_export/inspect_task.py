"""The experiment EXPERIMENT for inspect_ai.

    inspect eval EXPERIMENT.py --model PROVIDER/MODEL

Each prompt is sent as it is: without a system message, further examples or stop sequences, at temperature 0. The scorer
is the metric that the experiment has where it comes from, in EXPERIMENT_metric.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from EXPERIMENT_metric import METRIC  # noqa: E402

FACTS = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
# By size and placement; the standard error is that of independent questions.
MEASURES = [grouped(mean(), "cell"), stderr(cluster="cluster")]


@scorer(metrics=MEASURES if len(FACTS["targets"]) == 1 else dict.fromkeys(FACTS["targets"], MEASURES))
def EXPERIMENT_verdict() -> Scorer:
    """1 for a right answer and 0 for a wrong one, or a number between them; of each target if there are several."""

    async def score(state: TaskState, target: Target) -> Score:
        answer, targets = state.output.completion, state.metadata["targets"]
        found = {one["name"]: float(METRIC.verdicts(answer, one["answers"], [*target])["correct"]) for one in targets}
        return Score(value=found if len(FACTS["targets"]) > 1 else found[FACTS["targets"][0]], answer=answer)

    return score


@task
def EXPERIMENT() -> Task:
    return Task(
        dataset=json_dataset(str(HERE / "examples.jsonl")),
        solver=generate(),
        scorer=EXPERIMENT_verdict(),
        config=GenerateConfig(temperature=0, max_tokens=FACTS["max_new_tokens"]),
    )
