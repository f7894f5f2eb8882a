"""The report: one HTML file with everything in it, made from tables, figures and manifests."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import pandas as pd

from litm.findings import findings
from litm.wording import percent

#: Columns of the tables that the report shows, and their headings.
ACCURACY_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "placement": "Placement",
    "target": "Target",
    "n": "n",
    "accuracy": "Accuracy",
    "ci_low": "95 % from",
    "ci_high": "to",
    "accuracy_first_line": "First line",
    "accuracy_full": "Full answer",
    "n_empty": "Empty",
    "n_cut": "Cut",
    "n_refused": "Refused",
    "n_failed": "Failed",
    "n_not_recorded": "Not recorded",
    "n_excluded": "Left out",
}
TOKEN_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "placement": "Placement",
    "n": "n",
    "mean": "Mean",
    "sd": "SD",
    "min": "Min",
    "max": "Max",
    "gold_depth_tokens": "Depth of gold",
}
CHECK_COLUMNS = {
    "experiment": "Experiment",
    "size": "Size",
    "n": "Questions",
    "n_symbols_only": "Symbols only",
    "n_short": "Two characters or fewer",
    "n_in_question": "In the question",
    "n_in_distractors": "In a distractor",
}
BIAS_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "placement": "Placement",
    "n_complete": "n",
    "pbi": "PBI",
    "pbi_ci_low": "95 % from",
    "pbi_ci_high": "to",
    "pbi_class": "Class",
    "class_certain": "Certain",
    "reason": "No information",
    "edge_accuracy": "Edge",
    "middle_accuracy": "Middle",
    "primacy": "Primacy",
    "recency": "Recency",
    "tilt": "Tilt",
    "gap": "Gap",
    "gap_null_95": "Gap by chance",
    "cochran_p": "Cochran p",
}
UTILISATION_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "placement": "Placement",
    "n": "n",
    "closed_book": "Closed book",
    "accuracy": "Accuracy",
    "oracle": "Oracle",
    "utilisation": "Utilisation",
    "utilisation_ci_low": "95 % from",
    "utilisation_ci_high": "to",
}
RETRIEVAL_COLUMNS = {
    "questions": "Questions",
    "corpus": "Corpus",
    "retriever": "Retriever",
    "k": "Passages",
    "n": "n",
    "recall": "Recall",
    "ci_low": "95 % from",
    "ci_high": "to",
    "gold_recall": "Gold passage",
    "recall_against_exact": "Against exact search",
}
CANDIDATE_COLUMNS = {
    "candidates": "Candidates",
    "kind": "Kind",
    "documents": "Documents",
    "n": "Questions",
    "n_left_out": "Left out",
    "n_gold_without_answer": "Gold without answer",
    "n_answer_in_others_dpr": "Answer elsewhere (DPR)",
    "n_answer_in_others_metric": "Answer elsewhere (metric)",
}
PERCENT = (
    "accuracy",
    "ci_low",
    "ci_high",
    "accuracy_first_line",
    "accuracy_full",
    "recall",
    "gold_recall",
    "recall_against_exact",
    "pbi",
    "pbi_ci_low",
    "pbi_ci_high",
    "primacy",
    "recency",
    "tilt",
    "gap",
    "gap_null_95",
    "edge_accuracy",
    "middle_accuracy",
    "closed_book",
    "oracle",
    "utilisation",
    "utilisation_ci_low",
    "utilisation_ci_high",
    "gold_depth_tokens",
)


def render_report(
    template: str,
    accuracy: pd.DataFrame,
    token_counts: pd.DataFrame | None,
    answer_checks: pd.DataFrame,
    position_bias: pd.DataFrame | None,
    utilisation: pd.DataFrame | None,
    retrieval: pd.DataFrame | None,
    candidates: pd.DataFrame | None,
    figures: Sequence[tuple[str, bytes]],
    manifests: Sequence[Mapping],
) -> str:
    """The report's HTML; figures are (title, PNG bytes). The same input gives the same text."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(template).render(
        findings=findings(position_bias),
        figures=[(title, base64.b64encode(png).decode(), png_width(png)) for title, png in figures],
        tables=[
            (title, note, list(columns.values()), table_cells(table, columns))
            for title, note, table, columns in (
                ("Accuracy by position", ACCURACY_NOTE, accuracy, ACCURACY_COLUMNS),
                ("Position bias", BIAS_NOTE, position_bias, BIAS_COLUMNS),
                ("Utilisation of the context", UTILISATION_NOTE, utilisation, UTILISATION_COLUMNS),
                ("Prompt tokens", TOKEN_NOTE, token_counts, TOKEN_COLUMNS),
                ("Gold answers to be careful with", CHECK_NOTE, answer_checks, CHECK_COLUMNS),
                ("Candidates", CANDIDATE_NOTE, candidates, CANDIDATE_COLUMNS),
                ("Retrieval", RETRIEVAL_NOTE, retrieval, RETRIEVAL_COLUMNS),
            )
            if table is not None
        ],
        sweeps=[_provenance(manifest) for manifest in manifests],
    )


ACCURACY_NOTE = (
    "Accuracies in per cent with their 95 % interval (Wilson's; Clopper-Pearson's for n < 30 and for none or all "
    "correct). Empty and cut answers (ended at the limit of new tokens) "
    "count as answers; Cut is empty where recorded responses do not say how they ended. Questions without a recorded "
    "response are not counted; questions too long at some position are left out at all positions of that size."
)
TOKEN_NOTE = (
    "Tokens of a prompt in the model's own format, special tokens included; SD is the sample standard deviation. Depth "
    "of gold: where in these tokens the middle of the gold item is, in per cent."
)
CHECK_NOTE = (
    "Symbols only: a gold answer that is nothing after normalisation, looked for as written instead. "
    "In the question, or in a distractor: a model can be right by repeating it."
)
BIAS_NOTE = (
    "Points of accuracy on the questions scored at every position. PBI: mean of start and end (edge) minus middle; "
    "primacy: start minus middle; recency: end minus middle; tilt: end minus start; certain: the whole interval lies "
    "in it. Gap: best minus worst position, and what it would reach by chance (95 %) if positions had no effect. "
    "A flat PBI is not the absence of an effect: see tilt and Cochran's Q."
)
UTILISATION_NOTE = (
    "The share of what the documents could give that the model takes from them, (accuracy - closed book) / (oracle - "
    "closed book), in per cent on the questions that all three have. Empty where the oracle is not clearly better than "
    "closed book: there is nothing to take."
)
CANDIDATE_NOTE = (
    "Documents of each question, gold document included; questions left out because they have fewer; and questions "
    "with an answer in a document beside the gold one, by DPR's check (tokens in a row) and as the metric finds it."
)
RETRIEVAL_NOTE = (
    "Recall: the share of questions with an answer among the first passages found, with its 95 % interval. Gold "
    "passage: the share for which it is among them, where it is in the corpus. Against exact search: what an "
    "approximate index finds of what exact search finds."
)


def png_width(png: bytes) -> int:
    """Width of a PNG picture in pixels, from its header."""
    return int.from_bytes(png[16:20], "big")


def table_cells(table: pd.DataFrame, columns: Mapping[str, str]) -> list[list[str]]:
    """The table's cells of these columns as the report writes them, row by row; missing values are empty."""
    return [[_text(name, row[name]) for name in columns] for row in table.to_dict("records")]


def _text(column: str, value: Any) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column in PERCENT:
        return percent(value)
    if column.startswith("n_"):
        # A column with missing values has been read as fractions.
        return f"{int(value):,}"
    if column == "cochran_p":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _provenance(manifest: Mapping) -> dict[str, str]:
    fields = manifest["identity_fields"]
    source = fields["source"]
    sweep = {"model": manifest["model"], "experiment": manifest["experiment"]}
    counts = {"prompts": f"{manifest['prompts']:,}", "made_with": "; ".join(manifest["made_with"])}
    if "recorded" in source:
        files = len(source["recorded"])
        return {
            **sweep,
            "weights": f"recorded responses ({files} hashed file{'s' if files > 1 else ''})",
            **dict.fromkeys(["dtype", "attention", "format", "decoding"], "not known"),
            **counts,
            "made_with": "not known",
            "identity": manifest["identity"][:12],
        }
    decoding = fields["decoding"]
    weights = f"{source['hub']} @ {source['commit']}" if "hub" in source else f"{len(source['files'])} hashed files"
    return {
        **sweep,
        "weights": weights,
        "dtype": fields["model"]["dtype"],
        "attention": fields["model"]["attention"],
        "format": fields["model"]["prompt_template"],
        "decoding": f"greedy, at most {decoding['max_new_tokens']} tokens, to the {decoding['stop']}",
        **counts,
        "identity": manifest["identity"][:12],
    }
