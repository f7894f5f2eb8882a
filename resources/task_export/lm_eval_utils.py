"""The experiment EXPERIMENT for lm-evaluation-harness: its prompts, sent as they are, and its metric."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasets import Dataset
from lm_eval.api.task import ConfigurableTask

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from EXPERIMENT_metric import METRIC  # noqa: E402

FACTS = json.loads((HERE / "task.json").read_text(encoding="utf-8"))


def examples(**_: Any) -> dict[str, Dataset]:
    """The records beside this file, wherever lm_eval is started."""
    with (HERE / "examples.jsonl").open(encoding="utf-8") as lines:
        return {"test": Dataset.from_list([json.loads(line) for line in lines])}


def prompt(doc: dict) -> str:
    """The prompt as one text, for models that take no chat."""
    return doc["metadata"].get("prompt") or doc["input"]


def answer(doc: dict) -> str:
    """An accepted answer, which logs show."""
    return doc["target"][0]


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """The verdict on an answer, under the name of its measure and that of its size and placement."""
    cells = ["", f"_{doc['metadata']['cell']}"] if len(FACTS["cells"]) > 1 else [""]
    found = {}
    for target in doc["metadata"]["targets"]:
        name = f"_{target['name']}" if len(FACTS["targets"]) > 1 else ""
        verdict = float(METRIC.verdicts(results[0], target["answers"], doc["target"])["correct"])
        found |= {f"accuracy{name}{cell}": verdict for cell in cells}
    return found


class ExactPrompts(ConfigurableTask):
    """A task whose prompts stay as they are; a conversation is one for models with a chat template."""

    def __init__(self, config: dict) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def fewshot_context(
        self,
        doc: dict,
        num_fewshot: int,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., str] | None = None,
        gen_prefix: str | None = None,
    ) -> str:
        if num_fewshot or system_instruction or gen_prefix:
            raise ValueError("EXPERIMENT: its prompts are whole: leave out --num_fewshot and --system_instruction")
        if not (apply_chat_template and chat_template):
            return prompt(doc)
        content = doc["input"]
        messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
        return chat_template(messages, add_generation_prompt=True)
