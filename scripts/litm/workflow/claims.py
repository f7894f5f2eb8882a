"""Plan of the paper's claims: the inputs of their tables."""

from collections.abc import Iterable

from litm.base.store import canonical_json
from litm.config.study import Study
from litm.workflow.retrieval import CandidatePlan, recall_file


class ClaimPlan:
    """Inputs and params of the rules that judge the paper's claims."""

    def __init__(self, study: Study, candidates: CandidatePlan) -> None:
        self._study = study
        conditions = study.conditions
        #: The claims concern documents as retrieved: for an experiment with remedies, its variant without any.
        self._experiments = {
            name: one for name, one in study.experiments.items() if name not in conditions or conditions[name].is_plain
        }
        self._recall = {
            name: recall_file(one)
            for name, experiment in self._experiments.items()
            for one in candidates.open_domain([experiment])
        }

    @property
    def scores(self) -> list[str]:
        """The scores of the sweeps that claims use."""
        sweeps = [pair for pair in self._study.sweeps if pair[1] in self._experiments]
        # A config may have only conditions with remedies.
        return [f"results/scores/{model}/{name}.parquet" for model, name in sweeps or self._study.sweeps]

    @property
    def recall(self) -> list[str]:
        """The recall of the retriever of each open-domain experiment."""
        return list(self._recall.values())

    @property
    def recall_of(self) -> list[str]:
        """The experiment of each file in `recall`."""
        return list(self._recall)

    @property
    def relations(self) -> str:
        """The relations between models, and the selected experiments: JSON."""
        return self._relations(self._experiments or self._study.experiments)

    @property
    def published_relations(self) -> str:
        """The same for all experiments of the catalogue."""
        return self._relations(self._study.relations["experiments"])

    def _relations(self, experiments: Iterable[str]) -> str:
        relations = self._study.relations
        return canonical_json(
            {**relations, "experiments": {name: relations["experiments"][name] for name in experiments}}
        )
