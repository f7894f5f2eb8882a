"""The experiment EXPERIMENT for inspect_ai, whose answers a model judges.

    inspect eval EXPERIMENT.py --model PROVIDER/MODEL --model-role grader=PROVIDER/JUDGE

Each prompt is sent as it is: without a system message, further examples or stop sequences, at temperature 0. The judge
gets each answer without its context, in the prompt that the experiment has where it comes from (task.json).
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from EXPERIMENT_metric import METRIC  # noqa: E402
from EXPERIMENT_metric.litm.scoring.metrics import first_line  # noqa: E402
from EXPERIMENT_metric.litm.verdicts import REMINDER, RIGHT, judge_prompt, read_verdict  # noqa: E402

FACTS = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
JUDGE = FACTS["judge"]


# By size and placement; the standard error is that of independent questions.
@scorer(metrics=[grouped(mean(), "cell"), stderr(cluster="cluster")])
def EXPERIMENT_verdict() -> Scorer:
    """1 for an answer that the judge calls right, and 0 for another; unscored if neither of two replies is a verdict.

    An answer is the part up to where the experiment ends it (`stop`). An empty one is wrong, and is not sent.
    """

    async def score(state: TaskState, target: Target) -> Score:
        whole, accepted = state.output.completion, [*target]
        answer = first_line(whole) if FACTS["stop"] == "first_line" else whole
        if not answer.strip():
            return Score(value=0.0, answer=answer)
        if JUDGE["only_unclear"] and METRIC.strict(answer, accepted):
            return Score(value=1.0, answer=answer, explanation="an accepted answer as whole words")
        judge = get_model(role="grader", required=True)
        config = GenerateConfig(temperature=0, max_tokens=JUDGE["max_new_tokens"])
        asked = judge_prompt(JUDGE["prompt"], state.metadata["question"], accepted, answer)
        replies = []
        for prompt in (asked, asked + REMINDER):
            replies.append((await judge.generate(prompt, config=config)).completion)
            if verdict := read_verdict(replies[-1]):
                return Score(value=float(verdict == RIGHT), answer=answer, explanation=replies[-1])
        return Score.unscored(answer=answer, explanation="no verdict: " + " | ".join(replies))

    return score


@task
def EXPERIMENT() -> Task:
    return Task(
        dataset=json_dataset(str(HERE / "examples.jsonl")),
        solver=generate(),
        scorer=EXPERIMENT_verdict(),
        config=GenerateConfig(temperature=0, max_tokens=FACTS["max_new_tokens"]),
    )
