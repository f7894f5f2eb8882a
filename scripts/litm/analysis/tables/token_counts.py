"""Table of prompt lengths in each model's tokens."""

from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, MODEL, PLACEMENT, SIZE
from litm.analysis.table import FLOAT, INTEGER, PERCENT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "n", "tokens_mean", "tokens_sd", "tokens_min", "tokens_max",
    "n_special_tokens", "gold_depth_tokens",
)  # fmt: skip
TABLE = Table(
    name="token_counts",
    title="Prompt tokens",
    doc=(
        "Tokens of the prompts of each model and cell, in the model's own prompt format; of models with recorded "
        "responses where their entry names a `tokenizer`."
    ),
    order=50,
    inputs=("token_counts",),
    note=(
        "Tokens of a prompt in the model's own format, special tokens included; SD is the sample standard deviation. "
        "Depth of gold: the place of the gold item's middle in these tokens, in per cent. With special tokens: prompts "
        "whose question or documents contain a text that the tokenizer reads as a special token. Tokenizers of LLaMA's "
        "family (SentencePiece) count as converted by transformers, and prompts are asked in the same way: a text with "
        "several consecutive spaces has one or two tokens more than by SentencePiece itself (333 of the paper's 2,655 "
        "oracle prompts, a mean of 219.80 for the printed 219.7)."
    ),
    columns={
        "model": MODEL,
        "experiment": EXPERIMENT,
        "size": SIZE,
        "placement": PLACEMENT,
        "n": Column(INTEGER, "prompts", "n"),
        "tokens_mean": Column(FLOAT, "mean of their tokens", "Mean"),
        "tokens_sd": Column(FLOAT, "sample standard deviation", "SD"),
        "tokens_min": Column(INTEGER, "the shortest", "Min"),
        "tokens_max": Column(INTEGER, "the longest", "Max"),
        "n_special_tokens": Column(
            INTEGER,
            "prompts whose question or documents contain a text that the tokenizer reads as a special token, such as "
            "`<|endoftext|>`; they are asked unchanged",
            "With special tokens",
        ),
        "n_gold_located": Column(INTEGER, "prompts whose gold items all have a known place in tokens"),
        "gold_first_token": Column(FLOAT, "mean index of the first token of the gold items"),
        "gold_last_token": Column(FLOAT, "mean index of the last"),
        "gold_depth_tokens": Column(
            FLOAT, "mean place of their middle, 0 the prompt's first token and 1 its last", "Depth of gold", PERCENT
        ),
    },
    report=_REPORT,
)


def rows(token_counts: "Files") -> "pd.DataFrame":
    """The rows that `count_tokens.py` wrote for each sweep, in the order of the files."""
    return token_counts.joined(TABLE.dtypes)
