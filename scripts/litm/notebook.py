"""Results of a study in a notebook: tables, answers and prompts as data frames, comparisons, and figures.

Needs neither Snakemake nor torch, only what `pip install -e .` brings.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from litm.analysis.differences import condition_difference_rows, model_pairs_table
from litm.analysis.grid import Files, read_grids
from litm.base.json_files import read_json
from litm.base.messages import UserError, first_of
from litm.base.store import text_sha256
from litm.base.table_files import read_parquet
from litm.figures.chart import Rows, recall_of, with_beside
from litm.figures.kinds import KINDS
from litm.findings.record import StudyFindings
from litm.recorded_scores import Curves, curves_of_not_known
from litm.records.conditions import REFERENCE_TASKS, Comparison
from litm.records.examples import read_examples
from litm.records.responses import read_responses
from litm.tables.table import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Names = str | Collection[str] | None


@dataclass(frozen=True)
class Results:
    """The results of one study.

    Each table of results/README.md is an attribute of its name, with the types of its columns: `results.accuracy`.
    Filters take one value, several, or None for all.
    """

    folder: Path
    """Its results folder."""

    def __post_init__(self) -> None:
        if not (self.folder / "tables").is_dir():
            raise UserError(f"{self.folder}: no folder 'tables': run the study, or name its results folder")

    @cached_property
    def names(self) -> list[str]:
        """The tables that the study has."""
        return [name for name in tables() if (self.folder / "tables" / f"{name}.csv").exists()]

    @cached_property
    def selection(self) -> dict[str, Any]:
        """What the study selects: models, experiments with their settings, datasets with their digests."""
        return read_json(self.folder / "tables" / "study.json")

    @cached_property
    def findings(self) -> StudyFindings:
        """What the study shows, and what to know before a number is quoted; `UserError` without results/findings.json.

        `results.findings.of_kind("curve")` has those of a kind of results/README.md; `words.sentence` says one.
        """
        return StudyFindings.from_json(read_json(self.folder / "findings.json"))

    @property
    def models(self) -> list[str]:
        """Its models, in the order of the config."""
        return self.selection["models"]

    @property
    def experiments(self) -> dict[str, dict[str, Any]]:
        """The settings of its experiments by name, in the order of the config."""
        return {settings["name"]: settings for settings in self.selection["experiments"]}

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("_") or name not in tables():
            raise AttributeError(f"no table '{name}'; there are {', '.join(self.names)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.names]

    def table(self, name: str) -> pd.DataFrame:
        """A table by its name; `UserError` for one that the study lacks."""
        if name not in self.names:
            raise UserError(f"{self.folder}/tables has no {name}.csv; there are {', '.join(self.names)}")
        return tables()[name].read(self.folder / "tables" / f"{name}.csv")

    def scores(self, model: Names = None, experiment: Names = None, position: Any = None) -> pd.DataFrame:
        """One row per answer and target, with its verdicts; columns as in `litm.scoring.scores.Score`."""
        rows = pd.concat([read_parquet(path) for path in self._sweeps("scores", ".parquet", model, experiment)])
        return rows[rows["position"].map(lambda at: _matches(at, position))].reset_index(drop=True)

    def responses(self, model: Names = None, experiment: Names = None) -> pd.DataFrame:
        """One row per prompt with its response, as in results/responses."""
        rows = []
        for path in self._sweeps("responses", ".jsonl.gz", model, experiment):
            names = {"model": path.parent.name, "experiment": path.name.removesuffix(".jsonl.gz")}
            rows += [names | response.to_json() for response in read_responses(path)]
        return pd.DataFrame(rows)

    def has_scores(self, model: str, experiment: str) -> bool:
        """Whether the study selects this sweep and has its scores."""
        return experiment in self.experiments and (self.folder / "scores" / model / f"{experiment}.parquet").exists()

    def scores_by_prompt(
        self, model: str, experiment: str, cells: Collection[tuple[int, str]] | None = None
    ) -> pd.DataFrame:
        """The scores of one sweep with ids that end with the digest of the question's prompts: equal ids are equal
        prompts, also in other studies. text: what was scored; folder: of the study. `UserError` for responses that do
        not say what was asked.

        cells: size and placement of the prompts of the digest, by default all; ids of sizes without one stay.
        """
        scores, asked = self.scores(model, experiment), self.responses(model, experiment)
        if "prompt_sha256" not in asked or asked["prompt_sha256"].isna().any():
            raise UserError(
                f"{self.folder}/responses/{model}/{experiment}.jsonl.gz: made by a version that did not keep "
                "prompt_sha256: run the study again, which asks nothing"
            )
        if cells is not None:
            asked = asked[pd.MultiIndex.from_frame(asked[["size", "placement"]]).isin(cells)]
        prompts = asked.sort_values("placement").groupby(["size", "id"])["prompt_sha256"].agg(" ".join)
        named = prompts.index.get_level_values("id") + " " + prompts.map(text_sha256)
        keys = pd.MultiIndex.from_frame(scores[["size", "id"]])
        ids = pd.Series(named.reindex(keys).to_numpy(), scores.index).fillna(scores["id"])
        prompt, row = (pd.MultiIndex.from_frame(table[["size", "placement", "id"]]) for table in (asked, scores))
        text = asked.get("answer", asked["response"]).fillna(asked["response"]).set_axis(prompt).reindex(row)
        return scores.assign(id=ids, text=text.to_numpy(), folder=str(self.folder))

    def examples(self, experiment: str, size: Any = None, placement: Any = None) -> pd.DataFrame:
        """One row per prompt of an experiment with its targets, as in results/examples."""
        paths = [
            path
            for path in sorted((self.folder / "examples" / experiment).glob("*/*.jsonl.gz"))
            if _matches(int(path.parent.name), size) and _matches(path.name.removesuffix(".jsonl.gz"), placement)
        ]
        return pd.DataFrame([example.to_json() for example in read_examples(*paths)])

    def compare(self, a: str, b: str, experiment: Names = None) -> pd.DataFrame:
        """Paired differences a - b on the same questions, with the statistics of the tables.

        a, b: two models: rows as in model_pairs.csv, on the experiments that both answered (or those of `experiment`);
        or two experiments: rows as in condition_differences.csv, for every model that answered both. p is corrected
        over the accuracies, and over the other quantities, of each experiment, or of each model. `UserError` for other
        names, and without a common question.
        """
        if a != b and {a, b} <= {*self.models}:
            files = [str(path) for name in (a, b) for path in self._sweeps("scores", ".parquet", name, experiment)]
            if not (pairs := tables()["model_pairs"].frame(model_pairs_table(Files(files)))).empty:
                return pairs
            raise UserError(
                f"compare({a!r}, {b!r}): no question that both have at all positions of a size without a doubt"
            )
        if {a, b} <= self.experiments.keys():
            files = [str(path) for path in self._sweeps("scores", ".parquet", None, (a, b))]
            tasks = [self.experiments[name]["task"] for name in (b, a)]
            references = (name for task in tasks for name, of_name in REFERENCE_TASKS.items() if of_name == task)
            condition = next(references, "experiment")
            grids = read_grids(Files(files).scores())
            rows = condition_difference_rows(grids, [Comparison(condition, a, b, a, b)], [])
            if not (table := tables()["condition_differences"].frame(rows)).empty:
                return table
            raise UserError(f"compare({a!r}, {b!r}): no model answered both at one size without a doubt")
        named = first_of([*self.models, *self.experiments], 20)
        raise UserError(f"compare({a!r}, {b!r}): name two models, or two experiments, of this study: {named}")

    def curves(self, experiment: str, model: Names = None, is_known: bool = True) -> Curves:
        """The curves of an experiment, of all models or of these.

        is_known: if False, only of the questions that each model gets wrong closed book, see `curves_of_not_known`.
        Raises `UserError` for an experiment without scores, or without a closed-book experiment of the study.
        """
        scores = self.scores(model, experiment)
        if is_known:
            return Curves(scores)
        closed_book = self.experiments[experiment].get("closed_book")
        if closed_book not in self.experiments:
            raise UserError(
                f"{experiment}: the study has no closed-book experiment of it, so it is not known what is known"
            )
        return curves_of_not_known(scores, self.scores(model, closed_book))

    @property
    def figures(self) -> list[str]:
        """The figures of the study, by name."""
        return [*self.selection["figures"]]

    def plot(self, name: str, **settings: Any) -> "Figure":
        """A figure of results/figures by its name: the same drawing of the same numbers, without a page's width.

        settings: changes of its settings, such as `models=["a"]`, `sizes=[20]` or `title="..."`. `UserError` for a
        figure that the study lacks, and for settings, models and sizes that the figure lacks.
        """
        if name not in self.figures:
            raise UserError(f"no figure '{name}'; there are {', '.join(self.figures)}")
        settings |= {key: [single] for key in ("models", "sizes") if isinstance(single := settings.get(key), str | int)}
        defaults = self.selection["figures"][name]
        figure = {**defaults, **settings, "page": None}
        experiments = [*figure["experiments"], *figure["references"]]
        accuracy = self._accuracies(figure)
        table = accuracy[accuracy["experiment"].isin(figure["experiments"])]
        choices = {"settings": [*defaults], "experiments": [*self.experiments]}
        choices |= {f"{key}s": [*table[key].unique()] for key in ("model", "size")}
        for key, allowed in choices.items():
            asked = settings if key == "settings" else settings.get(key) or ()
            if unknown := [value for value in asked if value not in allowed]:
                raise UserError(f"plot({name!r}): {key}: no '{unknown[0]}'; there are {', '.join(map(str, allowed))}")
        searches = figure.pop("recall")
        inputs = {name: self._input(name, experiments, searches) for name in KINDS[figure["kind"]].inputs}
        inputs |= {"accuracy": accuracy} if "accuracy" in inputs else {}
        return KINDS[figure["kind"]].draw(figure, Rows(**inputs))

    def _accuracies(self, figure: Mapping[str, Any]) -> pd.DataFrame:
        """The accuracies of the study, and of the models beside that a figure shows."""
        beside = self.table("beside_accuracy") if figure.get("beside") else None
        return with_beside(figure, self.accuracy, beside)

    def _input(self, name: str, experiments: Sequence[str], searches: Sequence) -> Any:
        """The field of `Rows` of this name."""
        if name == "scores":
            return (read_parquet(path) for path in self._sweeps("scores", ".parquet", None, experiments))
        if name == "recall":
            return recall_of(self.table("retrieval"), searches) if searches else None
        return self.table(name) if name in self.names else None

    def _sweeps(self, folder: str, ending: str, model: Names, experiment: Names) -> list[Path]:
        """Files of sweeps, in the order of the config; `UserError` if there are none."""
        paths = [
            self.folder / folder / of_model / f"{of_experiment}{ending}"
            for of_model in self.models
            if _matches(of_model, model)
            for of_experiment in self.experiments
            if _matches(of_experiment, experiment)
        ]
        if not (there := [path for path in paths if path.exists()]):
            raise UserError(
                f"{self.folder}/{folder}: nothing of model {model or 'any'}, experiment {experiment or 'any'}"
            )
        return there


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one, or one of several; any is for None."""
    if wanted is None or isinstance(wanted, str) or not isinstance(wanted, Collection):
        return wanted is None or value == wanted
    return value in wanted
