"""Models of the configuration that are not run: recorded responses."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.base.schema import Count, Entry, GgufInPackage, Made, Names, PathTo, Positive, Ref, is_file, locate
from litm.config.experiments import Experiment
from litm.config.response_files import check_counted, check_told_apart, fill, response_file
from litm.engines.model_entries import AnyModel, Policy, ReasoningKeys, only_strip
from litm.engines.model_files import check_tokenizer
from litm.models.locations import find_in_package
from litm.prompting.prompt_format import RAW
from litm.recorded.files import ENDINGS, IDENTIFIERS, OWN_FIELDS, FieldNames
from litm.recorded.logs import FIELDS, KINDS
from litm.records.cells import Cell

#: One or several names of a field; the first name that a record has counts.
FieldName = str | Names | None


class Fields(Entry):
    """Names of the fields in files of recorded responses; nested ones with dots (a.b). A field may have several
    names, such as [question, key]; the first name that a record has counts.
    """

    response: FieldName = None
    """Text of the answer. Required."""
    id: FieldName = None
    """The question's id, as in results/examples. One of id, question and prompt is required."""
    question: FieldName = None
    """The question's text; case, spacing and a final question mark do not count."""
    prompt: FieldName = None
    """The whole prompt, exactly as in results/examples."""
    size: FieldName = None
    """The size, if a file has several."""
    placement: FieldName = None
    """The placement (gold_at_4, no_gold), if a file has several."""
    position: FieldName = None
    """The position, instead of the placement; from 0, or on the scale of `position_scale`."""
    finish_reason: FieldName = None
    """Why the answer ended (stop, length). If omitted, the number of cut answers is unknown."""
    prompt_sha256: FieldName = None
    """The sha256 of the prompt, as in results/responses. A response to another prompt is counted but not used."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if not self.response or not any(getattr(self, name) for name in IDENTIFIERS):
            yield f"'response' and one of {', '.join(IDENTIFIERS)} are needed"


class Origin(Entry):
    """How responses were made elsewhere, which is said where they are beside other models. It changes no number."""

    data_version: Literal["v1", "v2"] | None = None
    """Version of the authors' contexts that were asked, see `data_version` of the config."""
    max_new_tokens: Count | None = None
    """The limit of new tokens of an answer."""
    differs: Annotated[str, Field(min_length=1)] | None = None
    """What else differs from answers that a study asks for, in a few words."""
    fetch: Annotated[str, Field(min_length=1)] | None = None
    """The command that downloads the files, for the error on a missing one."""


class RecordedModel(ReasoningKeys, AnyModel):
    """Recorded responses of a model, which is not run."""

    is_local: ClassVar[Literal[False]] = False
    is_served: ClassVar[Literal[False]] = False
    is_recorded: ClassVar[Literal[True]] = True
    has_weights: ClassVar[Literal[False]] = False

    engine: Literal["recorded"]
    """recorded: responses made elsewhere are scored."""
    policy: Annotated[Policy, only_strip("is for models that are asked")] = Field(None, alias="reasoning")
    """strip: only the text after the reasoning (between `<think>` and `</think>`) is scored. If omitted, reasoning is
    part of the answer.
    """
    responses: Annotated[dict[str, Annotated[str, Field(min_length=1)]] | None, Ref("experiments", keys=True)] = None
    """The file of responses for each experiment: a dataset's name or a path; JSON Lines, CSV or TSV, plain or .gz.
    {size}, {placement} (gold_at_4) and {position} (4) in a path are filled in. Experiments without an entry are left
    out for this model. null means that you must supply the file; until then the model is left out.
    """
    scores: Annotated[dict[str, Annotated[str, Field(min_length=1)]], Ref("experiments", keys=True)] = Field({})
    """Instead of `responses`, for experiments of the task recorded_scores: the file of verdicts for each (.csv, .tsv,
    .json, .jsonl, plain or .gz), with a row for each question and place. If it has several models or experiments, the
    rows of this name count, or those of `rows`.
    """
    columns: dict[str, str | Names] = Field({})
    """Names of the columns in `scores` by this workflow's names (model, experiment, question, size, position, depth,
    correct, cluster), with dots for nested ones; several together name a question. If omitted, the usual names.
    """
    full_score: Positive = 1
    """The score of a right answer in `scores`, such as 10 for grades from 1 to 10."""
    field_names: Fields | None = Field(None, alias="fields")
    """Names of the fields in these files, by this workflow's names, with dots for nested fields (a.b). If omitted:
    response, id, size, placement, finish_reason and, if present, prompt_sha256, as in results/responses.
    """
    log: Literal["inspect", "lm_eval"] | None = None
    """The framework that wrote these files: inspect (inspect_ai's .eval files, or its logs as .json) or lm_eval (the
    samples_*.jsonl of lm-evaluation-harness). If `fields` is omitted, the fields are those of exported tasks. Answers
    are cut by the experiment's stop rule, which the frameworks lack.
    """
    rows: Annotated[dict[str, dict[str, str]], Ref("experiments", keys=True)] = Field({})
    """For each experiment, the records of its file that belong to it, as values by the file's names of fields
    (closed_book_qa: {condition: closed_book}), as texts. If omitted, all do.
    """
    position_scale: Literal["from_0", "from_1", "depth", "percent"] | None = None
    """The scale of the positions in these files: from_0, from_1, depth (0 is the first item, 1 the last) or percent (0
    to 100). from_1 is also the scale of {position} and {placement} in paths. If omitted, all values together tell: they
    are converted with a line if only one scale is possible; if several are, an error asks for this key.
    """
    tokenizer: Annotated[str | None, PathTo(check_tokenizer, unless="datasets")] = None
    """The model's tokenizer, used only to count prompt tokens: a tokenizer.json file, a folder with a tokenizer, a GGUF
    file, or the name of a dataset with one. If omitted, the model has no row in the tables of tokens. It changes no
    answer.
    """
    package: GgufInPackage | None = None
    """Instead of `tokenizer`: a GGUF file in an installed Python package, as package name and path in its folder."""
    prompt_template: Annotated[str, Ref("prompt_templates")] = RAW
    """Format of the recorded prompts, used to count their tokens: raw (as they are), chat (the tokenizer's chat
    template), or a file of resources/prompt_templates.
    """
    origin: Origin | None = None
    """How the responses were made, for figures and tables in which they are beside other models (`beside`)."""
    files: Made[dict[str, list[tuple[str, list[Cell]]]]] = Field({})
    """The files of responses by selected experiment: the name of a dataset or a path, and the cells in it."""

    #: Why log-probabilities are not measured, see `AskedModel.not_measured`.
    not_measured: ClassVar[str] = "recorded responses have none"

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if not self.responses and not self.scores and not self.is_to_supply:
            yield "'responses' is missing (for each experiment a file of recorded responses)"
        if self.responses and self.scores:
            yield "give either 'responses' or 'scores': these are two models"
        if self.tokenizer and self.package:
            yield "give either 'tokenizer' or 'package'"

    @property
    def not_counting(self) -> str:
        """See `AnyModel.not_counting`."""
        return "has recorded responses and no tokenizer"

    @property
    def is_to_supply(self) -> bool:
        """Whether the user must still supply the responses."""
        return "responses" in self.model_fields_set and self.responses is None

    @property
    def fields(self) -> FieldNames:
        """Names in the files, by this workflow's names of fields."""
        usual = FIELDS[self.log] if self.log else OWN_FIELDS
        return self.field_names.model_dump(exclude_none=True) if self.field_names else usual

    def with_files(self, experiments: Mapping[str, Experiment], root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with the files of its responses to these experiments.

        Raises `UserError` for a file that is missing or of the wrong kind, cells that cannot be told apart, and if no
        experiment has responses.
        """
        where, responses = f"{self.where}.{'scores' if self.scores else 'responses'}", self.recorded
        # Mistakes are reported in the order of the entry; files are in the order of the experiments.
        files = {name: self._files(experiments[name], root, entries) for name in responses if name in experiments}
        if not files:
            raise UserError(
                f"{where}: no file has responses to the selected experiments ({', '.join(experiments)}); add one, or "
                "remove the model from 'models'"
            )
        entry = self.located(root, entries).changed(files={name: files[name] for name in experiments if name in files})
        if self.package is None:
            return entry
        return entry.changed(tokenizer=find_in_package(self.package, f"{self.where}.package", root))

    def _files(self, experiment: Experiment, root: Path, entries: Mapping) -> list[tuple[str, list[Cell]]]:
        """The files of an experiment; a cell whose file is missing beside others is not recorded."""
        if self.scores:
            return [(self.score_file(experiment.name, root), [*experiment.cells])]
        where, pattern = f"{self.where}.responses.{experiment.name}", (self.responses or {})[experiment.name]
        by_name = grouped(experiment.cells, lambda cell: fill(pattern, cell, where, self.position_scale))
        for cells in by_name.values():
            check_told_apart(cells, self.fields, where)

        def is_here(name: str) -> bool:
            with suppress(UserError):
                return name in entries["datasets"] or Path(locate(name, root, where)).is_file()
            return False

        if self.position_scale is None:
            check_counted(pattern, experiment.cells, where, is_here)
        present = {name: cells for name, cells in by_name.items() if is_here(name)} or by_name
        kinds = KINDS[self.log] if self.log else ENDINGS
        try:
            return [
                (response_file(name, entries["datasets"], root, where, kinds), cells) for name, cells in present.items()
            ]
        except UserError as error:
            if any(map(is_here, present)) or not (self.origin and self.origin.fetch):
                raise
            raise UserError(f"{error}; download it: {self.origin.fetch}") from error

    @property
    def recorded(self) -> Mapping[str, str]:
        """The files of responses or verdicts as the entry names them, by experiment."""
        return self.responses or self.scores

    def score_file(self, experiment: str, root: Path) -> str:
        """The path of the verdicts on an experiment; `UserError` for a missing file."""
        where = f"{self.where}.scores.{experiment}"
        path = locate(self.scores[experiment], root, where)
        is_file(path, where)
        return path

    def reading(self, experiment: str, root: Path) -> dict[str, Any]:
        """What `read_verdict_table` is told of the verdicts on an experiment; `UserError` for a missing file."""
        return {
            "table": self.score_file(experiment, root),
            "columns": self.columns,
            "position_scale": self.position_scale,
            "full_score": self.full_score,
            "only": self.rows.get(experiment),
        }

    def without_file(self, experiment: Experiment) -> list[str]:
        """The cells of an experiment whose file is missing beside others, as size and placement."""
        present = {cell for _, cells in self.files.get(experiment.name, ()) for cell in cells}
        return [f"{cell.size} {cell.placement}" for cell in experiment.cells if present and cell not in present]
