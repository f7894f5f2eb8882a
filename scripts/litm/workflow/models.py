"""Plan of models: their locations, their identities, and the tokenization of their prompts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.base.store import canonical_json
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.config.recorded_models import RecordedModel
from litm.config.study import Study
from litm.models.files import model_files, tokenizer_files
from litm.workflow.data import DataPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


@dataclass(frozen=True)
class Prompting:
    """Inputs for the tokenization of a model's prompts.

    own_tokenizer: a separate tokenizer in the config, "" for none; tokenizer: the file or folder to load, "" if
    `source` gives it or there is none; tokenizer_files: its files; source: the file with the model's identity, if that
    is needed to load the tokenizer (a hub commit, or the folder of an unpacked GGUF file); template: the file of a
    named prompt template; reasoning: the reasoning settings, and whether code that comes with the model runs (JSON).
    """

    own_tokenizer: str
    tokenizer: str
    tokenizer_files: list[str]
    source: list[str]
    template: list[str]
    prompt_template: str
    reasoning: str


class ModelPlan:
    """Inputs and params of the rules that identify {model} and count its tokens."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        #: Models to ask, and models used only for counting tokens, which need not be selected.
        self.asked: Mapping[str, Model | ApiModel] = {
            name: model
            for name, model in {**study.token_models, **study.models}.items()
            if not isinstance(model, RecordedModel)
        }
        self._datasets = study.datasets
        self._project = project
        self._data = data
        recorded = [model for model in study.models.values() if isinstance(model, RecordedModel) and model.tokenizer]
        self._prompting = {model.name: self._read_prompting(model) for model in (*self.asked.values(), *recorded)}
        #: Those whose tokens can be counted: all but those of a server or with recorded responses without a tokenizer.
        self.counted = [name for name, one in self._prompting.items() if one.tokenizer_files or one.source]

    def _read_prompting(self, model: Model | ApiModel | RecordedModel) -> Prompting:
        own = model.tokenizer or ""
        if own in self._datasets:
            own = self._data.file(own)
        if not isinstance(model, Model):
            folder = own if Path(own).is_dir() else None
            location, is_elsewhere = own, False
        else:
            is_elsewhere = bool(model.hub) or model.is_gguf
            folder = None if own or is_elsewhere else model.path
            location = own or folder or ""
        # Counting tokens needs no weights, only the tokenizer's files.
        files = [str(file) for file in tokenizer_files(Path(folder))] if folder else [own] if own else []
        return Prompting(
            own_tokenizer=own,
            tokenizer=location,
            tokenizer_files=files,
            source=[f"results/models/{model.name}.json"] if is_elsewhere and not files else [],
            template=(
                [self._project.file("resources", "prompt_templates", f"{model.template_name}.txt")]
                if model.template_name
                else []
            ),
            prompt_template=model.prompt_template,
            reasoning=canonical_json(
                {} if isinstance(model, RecordedModel) else {**model.reasoning.settings(), **model.trust()}
            ),
        )

    def prompting(self, name: str) -> Prompting:
        """The tokenization inputs of the model of this name."""
        return self._prompting[name]

    # Identity

    def source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity; none for recorded responses."""
        return [f"results/models/{wildcards.model}.json"] if wildcards.model in self.asked else []

    def folder(self, wildcards: Wildcards) -> list[str]:
        """The files of a model in a folder, or its GGUF file; none for a hub or server model."""
        model = self.asked[wildcards.model]
        if isinstance(model, ApiModel) or not model.path:
            return []
        return [str(file) for file in model_files(Path(model.path), model.trust_remote_code)]

    def identified_tokenizer(self, wildcards: Wildcards) -> list[str]:
        """The tokenizer in a model's identity; the tokenizer that counts a server model's tokens is not part of it."""
        own = self._prompting[wildcards.model].own_tokenizer
        return [own] if own and not isinstance(self.asked[wildcards.model], ApiModel) else []

    def location(self, wildcards: Wildcards) -> str:
        """The location of the model: JSON."""
        return canonical_json(self.asked[wildcards.model].location())

    # Tokenization

    def own_tokenizer(self, wildcards: Wildcards) -> str:
        """The separate tokenizer in the config, "" for none."""
        return self._prompting[wildcards.model].own_tokenizer

    def tokenizer(self, wildcards: Wildcards) -> str:
        """The tokenizer's file or folder, "" if `tokenizer_source` gives it or there is none."""
        return self._prompting[wildcards.model].tokenizer

    def tokenizer_files(self, wildcards: Wildcards) -> list[str]:
        """The tokenizer's files; none if `tokenizer_source` gives its location, or there is none."""
        return self._prompting[wildcards.model].tokenizer_files

    def tokenizer_source(self, wildcards: Wildcards) -> list[str]:
        """The file with the location of a tokenizer on the hub or in a GGUF file; none for any other."""
        return self._prompting[wildcards.model].source

    def template(self, wildcards: Wildcards) -> list[str]:
        """The file of the named prompt template; none for a raw prompt or the model's own chat template."""
        return self._prompting[wildcards.model].template

    def prompt_template(self, wildcards: Wildcards) -> str:
        """The name of the prompt template."""
        return self._prompting[wildcards.model].prompt_template

    def reasoning(self, wildcards: Wildcards) -> str:
        """The reasoning settings: JSON."""
        return self._prompting[wildcards.model].reasoning

    def context_window(self, wildcards: Wildcards) -> int:
        """The context window in tokens, 0 if the config sets none."""
        return self.asked[wildcards.model].context_window or 0
