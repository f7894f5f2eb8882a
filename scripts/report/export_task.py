"""Export an experiment as tasks of inspect_ai and lm-evaluation-harness: records, facts, task files, and its metric.

about: JSON: name, task, title, metric, max_new_tokens and stop of the experiment
examples: the examples of all its cells
code: the module of its metric, and all that it imports
templates: files of resources/task_export; the name of a file says what it becomes
judge: the prompt of the model that judges the answers, none without one
only_unclear: answers that have an accepted answer as whole words are right without it
output: a folder, replaced as a whole
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import folder_writer, read_text, write_text
from litm.base.json_files import write_json, write_jsonl
from litm.base.messages import note
from litm.records.examples import read_examples
from litm.records.measures import VERDICT_DECODING
from litm.report.task_export import FACTS, RECORDS, filled, metric_package, task_facts, task_name, task_record


@program
def main(
    about: dict,
    examples: tuple[str, ...],
    code: tuple[Path, ...],
    templates: tuple[Path, ...],
    output: str,
    judge: Path | None = None,
    only_unclear: bool = False,
) -> None:
    records = [task_record(example) for example in read_examples(*examples)]
    facts, name = task_facts(about, records), task_name(about["name"])
    if judge:
        facts["judge"] = {"prompt": read_text(judge), "only_unclear": only_unclear, **VERDICT_DECODING}
    places = {
        **dict.fromkeys(("inspect_task.py", "inspect_judged_task.py"), f"{name}.py"),
        "lm_eval_task.yaml": f"{name}.yaml",
        "lm_eval_utils.py": "utils.py",
    }
    with folder_writer(output) as folder:
        write_jsonl(folder / RECORDS, records)
        write_json(folder / FACTS, facts)
        for template in templates:
            write_text(folder / places[template.name], filled(read_text(template), facts))
        for place, text in metric_package(facts, code).items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(text)
    note(f"{output}: {facts['prompts']} prompts of {facts['questions']} questions")
    if judge:
        note(f"{about['name']}: for inspect_ai alone: lm-evaluation-harness has no metric that is a model")
