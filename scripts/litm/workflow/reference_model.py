"""The reference model: what it is trained by."""

from litm.reference_model.recipe import TASKS
from litm.workflow.project_files import ProjectFiles


class ReferenceModelPlan:
    """Inputs of the rules that train the reference model."""

    def __init__(self, project: ProjectFiles) -> None:
        self.recipe = project.file("config", "reference_model.yaml")
        #: The prompt files of the tasks that its lessons are made of.
        self.prompts = [project.file("resources", "prompts", f"{task}.txt") for task in TASKS]
