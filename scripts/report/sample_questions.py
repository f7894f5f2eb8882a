"""Take a sample of an experiment's questions for the report: prompts, answers and verdicts of all models.

models: in the order of --responses
task: a task of litm/examples/tasks
questions: of each size
"""

from litm.base.cli import program
from litm.base.json_files import write_jsonl
from litm.base.messages import note
from litm.base.table_files import read_parquet
from litm.examples.tasks import load_task
from litm.records.examples import read_examples
from litm.records.responses import read_responses


@program
def main(
    models: tuple[str, ...],
    task: str,
    examples: tuple[str, ...],
    responses: tuple[str, ...],
    scores: tuple[str, ...],
    questions: int,
    seed: int,
    output: str,
) -> None:
    import pandas as pd

    from litm.report.question_samples import question_records, sampled_ids

    scored = pd.concat([read_parquet(path) for path in scores])
    ids = sampled_ids(scored, questions, seed)
    answers = {model: read_responses(path) for model, path in zip(models, responses, strict=True)}
    other_items = load_task(task).other_items
    write_jsonl(output, question_records(read_examples(*examples), answers, scored, ids, other_items))
    note(f"{output}: {sum(map(len, ids.values()))} questions")
