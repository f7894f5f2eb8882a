"""Folders of models that answer no prompts: encoders and cross-encoders."""

from pathlib import Path

from litm.base.messages import UserError
from litm.config.values import check_names, locate
from litm.models.files import check_model_folder, has_tokenizer, model_files


def located_folder(path: str, root: Path, where: str, what: str) -> str:
    """The path of a model's folder; `UserError` if files are missing in it.

    where: the key of the entry; what: the kind of model, for messages.
    """
    located = locate(path, root, where)
    check_model_folder(Path(located))
    check_names(model_files(Path(located)), where)
    if not has_tokenizer(Path(located)):
        raise UserError(f"{where}: {located} has no tokenizer: copy the {what}'s there")
    return located
