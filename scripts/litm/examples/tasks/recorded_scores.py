"""The task recorded_scores: verdicts on answers from elsewhere, whose questions, prompts and answers are not known."""

from litm.examples.task import RECORDED_SCORES, Task

recorded_scores = Task(
    name=RECORDED_SCORES,
    asks="is not known here: verdicts are recorded, without questions, prompts and answers.",
    prompt="",
    metric="recorded",
    max_new_tokens=0,
    item="unit",
    format_items=lambda items: [],
)
