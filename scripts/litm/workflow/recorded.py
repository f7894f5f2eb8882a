"""Plan of recorded responses: the files with answers recorded elsewhere."""

from litm.base.messages import UserError
from litm.base.store import canonical_json
from litm.config.recorded_models import RecordedModel, ResponseFile
from litm.config.study import Study
from litm.workflow.data import DataPlan
from litm.workflow.wildcards import Wildcards


class RecordedPlan:
    """Inputs and params of the rule that imports the recorded responses of {model} to {experiment}."""

    def __init__(self, study: Study, data: DataPlan) -> None:
        self.models = {name: model for name, model in study.models.items() if isinstance(model, RecordedModel)}
        self._data = data

    def _files(self, wildcards: Wildcards) -> tuple[ResponseFile, ...]:
        files = self.models[wildcards.model].files
        if wildcards.experiment not in files:
            raise UserError(f"models.{wildcards.model}.responses: no responses to {wildcards.experiment}")
        return files[wildcards.experiment]

    def files(self, wildcards: Wildcards) -> list[str]:
        """The files of the responses, each a dataset or the user's own."""
        return [self._data.file(file.dataset) if file.dataset else str(file.path) for file in self._files(wildcards)]

    def cells(self, wildcards: Wildcards) -> str:
        """The cells that each file covers: JSON, a list of [size, placement] per file."""
        return canonical_json([[[cell.size, cell.placement] for cell in file.cells] for file in self._files(wildcards)])

    def fields(self, wildcards: Wildcards) -> str:
        """The files' names of our fields: JSON."""
        return canonical_json(dict(self.models[wildcards.model].fields))

    def reasoning(self, wildcards: Wildcards) -> str:
        """The treatment of reasoning in the responses: JSON."""
        return canonical_json(self.models[wildcards.model].reasoning.settings())
