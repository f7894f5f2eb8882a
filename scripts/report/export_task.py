"""Export an experiment as tasks of inspect_ai and lm-evaluation-harness: records, facts, task files, and its metric.

about: JSON: name, task, title, metric, max_new_tokens and stop of the experiment
examples: the examples of all its cells
code: the module of its metric, and all that it imports
templates: files of resources/task_export; the name of a file says what it becomes
output: a folder, replaced as a whole
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import folder_writer, read_text, write_text
from litm.base.json_files import write_json, write_jsonl
from litm.base.messages import note
from litm.records.examples import read_examples
from litm.report.task_export import FACTS, RECORDS, filled, metric_package, task_facts, task_name, task_record


@program
def main(
    about: dict, examples: tuple[str, ...], code: tuple[Path, ...], templates: tuple[Path, ...], output: str
) -> None:
    records = [task_record(example) for example in read_examples(*examples)]
    facts, name = task_facts(about, records), task_name(about["name"])
    places = {"inspect_task.py": f"{name}.py", "lm_eval_task.yaml": f"{name}.yaml", "lm_eval_utils.py": "utils.py"}
    with folder_writer(output) as folder:
        write_jsonl(folder / RECORDS, records)
        write_json(folder / FACTS, facts)
        for template in templates:
            write_text(folder / places[template.name], filled(read_text(template), facts))
        for place, text in metric_package(facts, code).items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(text)
    note(f"{output}: {facts['prompts']} prompts of {facts['questions']} questions")
