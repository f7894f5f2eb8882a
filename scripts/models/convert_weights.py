"""Convert pickled weights (.bin) to safetensors, in a new folder with the other files of the model.

Pickles are read with `weights_only`, which accepts tensors and refuses everything else. The tensors do not change.

model: a folder, or the name of a model on the hub
revision: of a model on the hub
output: a new folder
"""

import json
import shutil
from pathlib import Path
from pickle import UnpicklingError

from litm.base.cli import program
from litm.base.loading import first_line, loading
from litm.base.messages import UserError, note
from litm.models.identity import download, hub_identity
from litm.models.locations import PARTS, PICKLED, indexed_files

#: Pattern of weight files; other pickles of a training, such as its arguments, are no weights.
NAMED = f"pytorch_model{PICKLED}"


def convert(folder: Path, output: Path) -> None:
    """Convert the weights of a model folder; `UserError` if it has none, or the output exists."""
    files = sorted({*folder.glob(NAMED), *(file for file in indexed_files(folder) if file.match(PICKLED))})
    if not files:
        raise UserError(f"{folder}: no weights to convert ({NAMED})")
    if output.exists():
        raise UserError(f"{output} is there already: name a new folder")
    output.mkdir(parents=True)
    try:
        index: dict[str, str] = {}
        for file in files:
            name = file.relative_to(folder).with_suffix(".safetensors").name.replace("pytorch_model", "model")
            index |= dict.fromkeys(_convert_file(file, output / name), name)
            note(f"{output / name}: written")
        if len(files) > 1:
            text = json.dumps({"metadata": {}, "weight_map": index}, indent=2)
            (output / "model.safetensors.index.json").write_text(text, encoding="utf-8")
        for file in {file for pattern in PARTS for file in folder.glob(pattern)}:
            if not file.match(PICKLED) and not file.name.endswith(".index.json"):
                shutil.copyfile(file, output / file.name)
    except BaseException:
        shutil.rmtree(output)
        raise
    note(f"set the model's 'path' to {output}")


def _convert_file(file: Path, output: Path) -> list[str]:
    """Write the tensors of a pickle as safetensors; returns their names."""
    import torch
    from safetensors.torch import save_file

    with loading(str(file), _why_not):
        weights = torch.load(file, map_location="cpu", weights_only=True)
    if not isinstance(weights, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in weights.values()):
        raise UserError(f"{file}: expected tensors by name, found something else")
    # Cloned, because safetensors refuses tensors that share memory.
    save_file({name: tensor.clone().contiguous() for name, tensor in weights.items()}, output, {"format": "pt"})
    return list(weights)


def _why_not(error: Exception) -> str:
    # torch's own message would explain how to run the code anyway.
    return "it has more than tensors, which may be code" if isinstance(error, UnpicklingError) else first_line(error)


@program
def main(model: str, output: Path, revision: str | None = None) -> None:
    folder = Path(model)
    if not folder.is_dir():
        folder = Path(download(model, hub_identity(model, revision)["commit"])[0])
    convert(folder, output)
