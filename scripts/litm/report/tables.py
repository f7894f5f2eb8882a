"""The tables that the report shows: their columns, headings and notes, and their cells as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from litm.wording import percent


@dataclass(frozen=True)
class Shown:
    """How the report shows the table of a name: its title, a note, and the headings of its columns by their names."""

    name: str
    title: str
    note: str
    columns: Mapping[str, str]


#: Columns of words, which begin at the left.
TEXT_HEADINGS = frozenset(
    {"Model", "Experiment", "Placement", "Target", "Class", "No information", "Verdict", "Reason"}
    | {"Candidates", "Kind", "Corpus", "Retriever"}
    | {"Claim", "Models", "Statistic", "Section", "What was found", "Source"}
)
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
PUBLISHED_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "placement": "Placement",
    "accuracy": "Accuracy",
    "published": "Published",
    "difference": "Difference",
    "ci_low": "95 % from",
    "ci_high": "to",
    "verdict": "Verdict",
    "reason": "Reason",
    "source": "Source",
}
CLAIM_COLUMNS = {
    "claim": "Claim",
    "models": "Models",
    "experiment": "Experiment",
    "size": "Size",
    "verdict": "Verdict",
    "statistic": "Statistic",
    "value": "Value",
    "ci_low": "From",
    "ci_high": "to",
    "confidence": "Confidence",
    "n": "n",
    "reason": "Reason",
}
CLAIM_SUMMARY_COLUMNS = {
    "statement": "Claim",
    "section": "Section",
    "supported": "Supported",
    "contradicted": "Contradicted",
    "not_enough": "Not enough data",
    "finding": "What was found",
}
TOKENS_USED_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "answers": "Answers",
    "prompt_tokens": "Prompt tokens",
    "response_tokens": "Answer tokens",
    "last_asked": "Asked last",
    "last_prompt_tokens": "Their prompt tokens",
    "last_computed_tokens": "Computed",
    "saved": "Saved",
    "dollars": "US$",
}
#: Fractions, shown in per cent.
PERCENT = frozenset(
    {"accuracy", "ci_low", "ci_high", "accuracy_first_line", "accuracy_full", "recall", "gold_recall"}
    | {"recall_against_exact", "pbi", "pbi_ci_low", "pbi_ci_high", "primacy", "recency", "tilt", "gap", "gap_null_95"}
    | {"edge_accuracy", "middle_accuracy", "closed_book", "oracle", "utilisation", "utilisation_ci_low"}
    | {"utilisation_ci_high", "gold_depth_tokens", "published", "difference", "saved", "value", "confidence"}
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


TOKENS_USED_NOTE = (
    "Answers and their tokens, as the journal has them. Asked last: the prompts of the last run of the sweep, their "
    "tokens, those that were computed, and what the common beginnings of prompts saved, in per cent. Empty: nothing "
    "was asked, or only the server knows. US$ by the prices in the config."
)
PUBLISHED_NOTE = (
    "Per cent, measured here and published; difference: ours minus theirs in points, with its 95 % interval. What is "
    "not comparable has the reason beside it."
)
CLAIM_SUMMARY_NOTE = (
    "What the paper says, asked of each model, experiment and size here that it can be asked of: in how many cases the "
    "numbers support it, contradict it, or do not decide. One by one they are among the tables below."
)
CLAIM_NOTE = (
    "Per cent and points. From and to: the interval that decides, at the confidence that the number of cases asks for "
    "(Holm's correction over all of a claim and an experiment)."
)
#: What the report shows of the tables, by the table's name, in this order.
SHOWN = (
    Shown("accuracy", "Accuracy by position", ACCURACY_NOTE, ACCURACY_COLUMNS),
    Shown("position_bias", "Position bias", BIAS_NOTE, BIAS_COLUMNS),
    Shown("utilisation", "Utilisation of the context", UTILISATION_NOTE, UTILISATION_COLUMNS),
    Shown("claims", "Claims, case by case", CLAIM_NOTE, CLAIM_COLUMNS),
    Shown("token_counts", "Prompt tokens", TOKEN_NOTE, TOKEN_COLUMNS),
    Shown("answer_checks", "Gold answers to be careful with", CHECK_NOTE, CHECK_COLUMNS),
    Shown("candidates", "Candidates", CANDIDATE_NOTE, CANDIDATE_COLUMNS),
    Shown("retrieval", "Retrieval", RETRIEVAL_NOTE, RETRIEVAL_COLUMNS),
)
#: Sections of their own, by the name that links lead to.
COMPARISONS = {
    "published": Shown("published_comparison", "Published numbers", PUBLISHED_NOTE, PUBLISHED_COLUMNS),
    "claims": Shown("claims_summary", "The paper's claims", CLAIM_SUMMARY_NOTE, CLAIM_SUMMARY_COLUMNS),
}
TOKENS_USED = Shown("tokens_used", "Tokens and cost of each sweep", TOKENS_USED_NOTE, TOKENS_USED_COLUMNS)


def shown_tables(tables: Mapping[str, pd.DataFrame], shown: Sequence[Shown] = SHOWN) -> list[dict]:
    """The tables that there are, each as {title, note, headings, text, rows}; text: which columns are words.

    Columns that a table lacks are left out, and so are tables without rows.
    """
    return [_table(one, tables[one.name]) for one in shown if one.name in tables and len(tables[one.name])]


def _table(shown: Shown, table: pd.DataFrame) -> dict:
    columns = {name: heading for name, heading in shown.columns.items() if name in table}
    is_text = [heading in TEXT_HEADINGS for heading in columns.values()]
    return {
        "title": shown.title,
        "note": shown.note,
        "headings": list(zip(columns.values(), is_text, strict=True)),
        "rows": [list(zip(row, is_text, strict=True)) for row in table_cells(table, columns)],
    }


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
