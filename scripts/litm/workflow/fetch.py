"""Plan of downloads for a machine without a network."""

from litm.config.study import Study
from litm.workflow.data import DataPlan
from litm.workflow.models import ModelPlan
from litm.workflow.needs import needs_of


class FetchPlan:
    """Inputs of the rule that downloads everything that a study needs."""

    def __init__(self, study: Study, data: DataPlan, models: ModelPlan) -> None:
        needs = needs_of(study)
        #: The remote files.
        self.files = [data.file(dataset.name) for dataset in needs.remote_files]
        #: Files with the hub commit of each model and encoder, determined once, while there is a network.
        self.sources = [
            *(f"results/models/{name}.json" for name in models.asked),
            *(f"results/retrievers/{one.name}.json" for one in needs.retrievers if one.method == "dense"),
            *(f"results/rerankers/{name}.json" for name in _cross_encoders(study)),
        ]


def _cross_encoders(study: Study) -> list[str]:
    names = dict.fromkeys(filter(None, (experiment.rerank for experiment in study.experiments.values())))
    return [name for name in names if study.rerankers[name].method == "cross_encoder"]
