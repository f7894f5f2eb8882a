"""The key of an answer: the role that each key of the configuration declares agrees with the effect of a change."""

import builtins
import io
import re
import shutil
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar
from unittest.mock import Mock

import pytest
import yaml
from conftest import ROOT
from programs import load_program

from litm.base.schema import Answer, Entry, read_entry, string_keys
from litm.base.store import digest
from litm.config.catalogue import MODELS
from litm.config.data import Dataset
from litm.config.experiment_checks import checked_experiment
from litm.config.experiments import Experiment
from litm.config.reference import key_roles
from litm.engines.local_models import LocalModel
from litm.engines.served_models import ServedModel
from litm.inference.asked_sweep import AskedSweep as Sweep
from litm.models.configuration import load_config
from litm.models.locations import is_read, model_files
from litm.prompting.prompt_format import named_template, read_prompt_template

REFERENCE = ROOT / "resources" / "reference_model"
DECODING = {"max_new_tokens": 9, "stop": "first_line"}
#: The prompt formats that models of a server may name.
TEXTS = {"prompt_templates": ["raw", "chat", "mpt_instruct"]}
CHANGES = string_keys(yaml.safe_load((Path(__file__).parent / "answer_keys.yaml").read_text()))
#: Each key of a class, and whether it is part of the key of an answer; test_gguf_entries.py has that of a package.
KEYS = [(cls, key, part) for cls in (LocalModel, ServedModel, Experiment) for key, (part, _) in key_roles(cls).items()]


@pytest.mark.parametrize(("cls", "key", "is_part"), [row for row in KEYS if row[:2] != (LocalModel, "package")])
def test_a_key_is_part_of_the_key_of_an_answer_if_its_role_says_so(cls, key, is_part, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    entry, other = CHANGES[cls.__name__][key]
    of = prompts_and_decoding if cls is Experiment else partial(identity, monkeypatch, tmp_path)
    assert (of({**entry, key: other}) != of(entry)) == is_part


def test_a_key_without_a_role_is_an_error_when_its_class_is_made():
    with pytest.raises(TypeError, match="Silent: the key 'silent' declares no role: add one of Answer, Run, Place, W"):

        class Silent(Entry):
            """A class."""

            has_roles: ClassVar[bool] = True
            said: Annotated[int, Answer("as written")] = 1
            silent: int = 1


def identity(monkeypatch, folder: Path, entry: dict) -> str:
    """The digest of the identity of a model of the config."""
    program = load_program("identify_model")
    monkeypatch.setattr(program, "hub_identity", lambda hub, revision: {"hub": hub, "commit": f"commit of {revision}"})
    monkeypatch.setattr(program, "load_config", lambda *place: load_config(str(REFERENCE), None))
    if entry.get("path") == "another place":
        entry = {**entry, "path": str(shutil.copytree(REFERENCE, folder / "copy"))}
    model = MODELS.read(entry, "models.m").located(ROOT, TEXTS)
    source = program.identify(model.location(), model.tokenizer if isinstance(model, LocalModel) else None)
    named, template = named_template(model.prompt_template), None
    if named:
        template = read_prompt_template(ROOT / "resources" / "prompt_templates" / f"{named}.txt")
    return digest(Sweep(source, model.answer_settings(), template, DECODING, tokenizer=model.tokenizer).identity)


def prompts_and_decoding(entry: dict) -> str:
    """The digest of the settings that make an experiment's prompts, and of its decoding."""
    files = {"d": None, "e": None, "l": Dataset.model_construct(labels="txt")}
    one = checked_experiment(read_entry(Experiment, entry, "experiments.e"), 0, files, ROOT)
    cells = [asdict(cell) for cell in one.cells]
    # The cluster of a question stands next to its prompt.
    settings = {key: value for key, value in one.example_settings().items() if key != "cluster"}
    made_of = [one.task, one.prompt, one.datasets, one.rerank, one.subset, one.tokens_of, settings, cells]
    made_of.append(one.measured_on and one.measured_on.model_dump())
    return digest([made_of, one.decoding()])


def test_every_vocabulary_that_transformers_names_counts(tmp_path):
    import transformers.models
    from transformers.utils import hub

    names = {hub.CHAT_TEMPLATE_FILE, f"{hub.CHAT_TEMPLATE_DIR}/tool_use.jinja", "special_tokens_map.json"}
    names |= {"config.json", "generation_config.json", "model.safetensors.index.json", "added_tokens.json"}
    for file in Path(transformers.models.__file__).parent.glob("*/tokenization_*.py"):
        for named in re.findall(r"(?ms)^VOCAB_FILES_NAMES\b[^{]*\{(.*?)\}", file.read_text(encoding="utf-8")):
            names |= set(re.findall(r":\s*\"([^\"]+)\"", named))
    assert {"prophetnet.tokenizer", "bpe.codes", "spiece.model", "vocab.txt", "source.spm"} <= names
    assert [name for name in sorted(names) if not counts(tmp_path, name)] == []


def counts(folder: Path, name: str) -> bool:
    """Whether a file of that name in a model's folder is part of the model's identity."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}" if name != "model.safetensors.index.json" else '{"weight_map": {}}')
    found = model_files(folder)
    file.unlink()
    return found == [file]


def test_what_loading_a_model_asks_for_counts(monkeypatch, tmp_path):
    """Every file name that transformers searches for when it loads model and tokenizer counts, present or not."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import hub

    asked: set[str] = set()
    find, files = hub.cached_files, Mock(side_effect=open)

    def noting_names(path_or_repo_id, filenames, **options):
        asked.update(filenames)
        return find(path_or_repo_id, filenames, **options)

    with monkeypatch.context() as patch:
        patch.setattr(hub, "cached_files", noting_names)
        patch.setattr(builtins, "open", files)
        patch.setattr(io, "open", files)
        AutoTokenizer.from_pretrained(REFERENCE, trust_remote_code=False)
        AutoModelForCausalLM.from_pretrained(REFERENCE, trust_remote_code=False)
    opened = {Path(str(call.args[0])) for call in files.call_args_list}
    assert {"config.json", "tokenizer_config.json"} <= asked and REFERENCE / "config.json" in opened
    assert {file for file in opened if file.is_relative_to(REFERENCE)} <= set(model_files(REFERENCE))
    assert [name for name in sorted(asked) if not counts(tmp_path, name)] == []


def test_files_left_by_training_and_users_do_not_count(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    for name in ("trainer_state.json", "training_args.bin", "optimizer.bin", "README.txt", "LICENSE.txt"):
        (tmp_path / name).write_text("x")
        assert not is_read(name)
    assert model_files(tmp_path) == [tmp_path / "config.json"]
