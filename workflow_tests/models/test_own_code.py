"""Code of a model runs only if its entry allows it, for any folder and standard input."""

import ast
import io
import json
import re
from inspect import getsource
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from conftest import ROOT
from engine_settings import changed_settings
from local_engines import SETTINGS, answers
from model_folders import change
from programs import refused, run_program

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.config.catalogue import read_catalogue_entry
from litm.engines.modules.transformers import NOT_OF_CONFIG
from litm.models.configuration import load_config
from litm.models.identity import check_identified
from litm.models.locations import check_safe_weights
from litm.prompting.prompt_format import load_tokenizer
from litm.records.responses import Response

REFUSAL = "it needs Python code of its own, which is not run here"


@pytest.fixture
def folder(model_folder, tmp_path, monkeypatch) -> Path:
    """A model whose configuration, tokenizer and network are code of its own, and a user who says yes to everything."""
    (model_folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 100))
    return model_folder


@pytest.mark.parametrize(
    ("load", "what", "map_of", "names"),
    [
        (lambda folder: load_config(folder, None), "configuration", "config.json", {"AutoConfig": "own.Config"}),
        (load_tokenizer, "tokenizer", "tokenizer_config.json", {"AutoTokenizer": ["own.Tokenizer", None]}),
    ],
)
def test_a_configuration_or_a_tokenizer_that_is_code_is_refused_in_one_line(folder, load, what, map_of, names):
    change(folder / "config.json", model_type="mine")
    change(folder / map_of, auto_map=names, tokenizer_class="Mine")
    assert f"{what} of {folder}: {REFUSAL}" in refused(load, str(folder))
    assert not (folder.parent / "ran").exists()


NAMES = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}


def answer(folder: Path, **more: object) -> list[Response]:
    return answers(changed_settings(SETTINGS, location=str(folder), device="auto", max_new_tokens=1, **more), ["x"])


def test_a_network_that_is_code_gives_way_to_that_of_transformers(folder):
    before = answer(folder)
    change(folder / "config.json", auto_map=NAMES)
    assert answer(folder) == before and not (folder.parent / "ran").exists()


def test_every_load_by_transformers_passes_the_permission_for_code():
    calls = []
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("from_pretrained"):
                told = {argument.arg: ast.unparse(argument.value) for argument in node.keywords}
                calls.append((f"{path.name}: {ast.unparse(node.func)}", told.get("trust_remote_code")))
    # This class is given, not looked up, so that there is no code but its own.
    said = {"False", "own_code", "keys.trust_remote_code"}
    plain = [name.split(": ")[1].partition(".")[0] for name, told in calls if told not in said]
    assert plain == ["GenerationConfig"] and len(calls) > 5


def test_a_models_config_cannot_say_how_or_from_where_it_is_loaded():
    from transformers import AutoConfig, PreTrainedConfig

    source = getsource(AutoConfig.from_pretrained) + getsource(PreTrainedConfig._get_config_dict)
    taken = set(re.findall(r'kwargs(?:\.pop\(|\.get\(|\[)"(\w+)"', source))
    assert {"trust_remote_code", "code_revision", "revision", "cache_dir", "token", "subfolder"} <= taken
    # The model's own type is a key of its config.json.
    for key in (taken | NOT_OF_CONFIG) - {"model_type"}:
        with pytest.raises(UserError, match=f"models.m.config: '{key}' is not a key of a config.json but an option"):
            read_catalogue_entry("models", "m", {"engine": "transformers", "hub": "a/b", "config": {key: True}})


@pytest.fixture
def own(folder) -> Path:
    """A model whose configuration and network are code of its own that works, in two files."""
    (folder / "mark.py").write_text(f"def mark():\n    open({str(folder.parent / 'ran')!r}, 'w')\n")
    (folder / "own.py").write_text(
        "from transformers import LlamaConfig, LlamaForCausalLM\nfrom .mark import mark\nmark()\n"
        "class Config(LlamaConfig):\n    model_type = 'mine'\n"
        "class Model(LlamaForCausalLM):\n    config_class = Config\n"
    )
    change(folder / "config.json", model_type="mine", auto_map=NAMES)
    return folder


def identify(folder: Path, output: Path, **more) -> CompletedProcess:
    location = json.dumps({"path": str(folder), "hub": None, "revision": None, **more})
    return run_program("identify_model", "--location", location, "--output", output)


def test_code_that_the_entry_trusts_runs_and_is_part_of_the_identity(own, tmp_path):
    done = identify(own, tmp_path / "m.json", trust_remote_code=True)
    assert done.returncode == 0 and "trust_remote_code is true: Python code that comes with the model" in done.stderr
    source = json.loads((tmp_path / "m.json").read_text())
    assert {"own.py", "mark.py"} < source["identity"]["files"].keys() and source["trust_remote_code"] is True
    assert answer(own, trust_remote_code=True) and (tmp_path / "ran").exists()
    # Its code may read any file.
    for name in ("sub/more.py", "merges.dat"):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).touch()
        assert f"{name} is new since the model was identified" in refused(check_identified, "m", source, None)
        (own / name).unlink()


@pytest.mark.parametrize(
    ("config", "trust", "said"),
    [
        ("own.Config", {}, f"{REFUSAL}.*set 'trust_remote_code: true'"),
        ("a/b--own.Config", {"trust_remote_code": True}, r"names code of another repository \(a/b--own.Config\)"),
    ],
    ids=["without that word", "of another repository"],
)
def test_other_code_is_refused_and_does_not_run(own, tmp_path, config, trust, said):
    change(own / "config.json", auto_map={**NAMES, "AutoConfig": config})
    done = identify(own, tmp_path / "m.json", **trust)
    assert done.returncode == 1 and re.search(said, done.stderr) and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("revision", [None, "main", "v1.0", "0123456", "g" * 40])
def test_a_model_of_the_hub_is_trusted_at_a_commit_only(revision):
    entry = {"engine": "transformers", "hub": "a/b", "trust_remote_code": True, "revision": revision}
    said = refused(read_catalogue_entry, "models", "m", entry)
    assert said.startswith("models.m: 'trust_remote_code' needs the commit whose code you have read")
    assert read_catalogue_entry("models", "m", {**entry, "revision": "0" * 40}).answer_settings()["trust_remote_code"]


def test_nothing_asks_on_standard_input_while_a_library_loads(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(UserError, match="model m: EOF when reading a line"), loading("model m"):
        input()
    assert input() == "y"


def pickled(folder: Path) -> Path:
    """The same model with its weights as two pickles and their index."""
    import torch
    from safetensors.torch import load_file

    weights = list(load_file(folder / "model.safetensors").items())
    (folder / "model.safetensors").unlink()
    index = {}
    for number, some in enumerate((weights[:5], weights[5:]), start=1):
        name = f"pytorch_model-0000{number}-of-00002.bin"
        torch.save(dict(some), folder / name)
        index |= {tensor: name for tensor, _ in some}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": index}))
    torch.save({"lr": 0.1}, folder / "training_args.bin")
    return folder


def test_the_command_that_the_refusal_of_pickles_names_makes_a_folder_with_the_same_weights(folder, tmp_path):
    from safetensors.torch import load_file

    before = load_file(folder / "model.safetensors")
    said = refused(check_safe_weights, str(pickled(folder)), None)
    (command,) = re.findall("are not loaded: run `PYTHONPATH=scripts python (.*)` and set 'path'", said)
    program, *words = command.split()
    words[-1] = str(tmp_path / "new")
    assert run_program(Path(program).stem, *words).returncode == 0
    after = [load_file(file) for file in sorted((tmp_path / "new").glob("*.safetensors"))]
    assert len(after) == 2 and {**after[0], **after[1]}.keys() == before.keys()
    assert all(tensor.equal(before[name]) for some in after for name, tensor in some.items())
    check_safe_weights(str(tmp_path / "new"), None)
    assert answer(tmp_path / "new")
    done = run_program(Path(program).stem, *words)
    assert done.returncode == 1 and "is there already" in done.stderr


class Malicious:
    def __reduce__(self) -> tuple:
        return (open, (Malicious.target, "w"))


def test_a_pickle_with_more_than_tensors_is_not_converted_and_runs_nothing(folder, tmp_path):
    import torch

    Malicious.target = str(tmp_path / "ran")
    torch.save({"a": Malicious()}, folder / "pytorch_model.bin")
    done = run_program("convert_weights", "--model", folder, "--output", tmp_path / "new")
    assert done.returncode == 1 and "pytorch_model.bin: it has more than tensors, which may be code" in done.stderr
    assert not (tmp_path / "ran").exists() and not (tmp_path / "new").exists()
