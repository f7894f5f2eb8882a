"""Plan of the reference model: the inputs of its training."""

from litm.reference_model.recipe import TASKS
from litm.workflow.project_files import ProjectFiles


class ReferenceModelPlan:
    """Inputs of the rules that train the reference model."""

    def __init__(self, project: ProjectFiles) -> None:
        self.recipe = project.file("config", "reference_model.yaml")
        #: The prompt files of the tasks in its lessons.
        self.prompts = [project.file("resources", "prompts", f"{task}.txt") for task in TASKS]
