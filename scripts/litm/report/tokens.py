"""Tokens and cost of each sweep's answers, and the tokens that shared prefixes saved."""

from collections.abc import Mapping, Sequence

import pandas as pd

COLUMNS = {
    "model": "string",
    "experiment": "string",
    "answers": "Int64",
    "prompt_tokens": "Int64",
    "response_tokens": "Int64",
    "last_asked": "Int64",
    "last_prompt_tokens": "Int64",
    "last_computed_tokens": "Int64",
    "saved": "Float64",
    "dollars": "Float64",
}


def token_table(manifests: Sequence[Mapping], prices: Mapping[str, Mapping | None]) -> pd.DataFrame:
    """One row per sweep, without recorded responses: its tokens, the tokens of its last run, and its cost.

    prices: `input` and `output` in US dollars per million tokens, by model that costs money; None where unknown.
    saved: fraction of the last run's prompt tokens that were not computed. Values are missing if only a server knows
    them or nothing was asked.
    """
    rows = [_row(manifest, prices) for manifest in manifests if manifest["prompt_tokens"] is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _row(manifest: Mapping, prices: Mapping[str, Mapping | None]) -> dict:
    work = manifest["work"] or {}
    all_of_it, computed = work.get("prompt_tokens"), work.get("computed_tokens")
    price = prices.get(manifest["model"])
    return {
        "model": manifest["model"],
        "experiment": manifest["experiment"],
        "answers": sum(manifest["made_with"].values()),
        "prompt_tokens": manifest["prompt_tokens"],
        "response_tokens": manifest["response_tokens"],
        "last_asked": manifest["asked"],
        "last_prompt_tokens": all_of_it,
        "last_computed_tokens": computed,
        "saved": 1 - computed / all_of_it if all_of_it and computed is not None else None,
        "dollars": None if price is None else _dollars(manifest, price),
    }


def _dollars(manifest: Mapping, price: Mapping) -> float:
    return (manifest["prompt_tokens"] * price["input"] + manifest["response_tokens"] * price["output"]) / 1e6


def tokens_in_words(table: pd.DataFrame, prices: Mapping[str, Mapping | None]) -> list[str]:
    """Sums of the token table, one sentence each."""
    if table.empty:
        return []
    sums = table[["answers", "prompt_tokens", "response_tokens"]].sum()
    told = [
        f"{sums['answers']:,} answers to {sums['prompt_tokens']:,} tokens of prompts, with {sums['response_tokens']:,} "
        "tokens of their own."
    ]
    known = table[table["saved"].notna()]
    if not known.empty:
        asked, computed = known["last_prompt_tokens"].sum(), known["last_computed_tokens"].sum()
        told.append(
            f"In the last run of {len(known)} sweeps {computed:,} of {asked:,} prompt tokens were computed: common "
            f"beginnings of prompts saved {100 * (1 - computed / asked):.1f}\u00a0%."
        )
    if table["dollars"].notna().any():
        told.append(f"By the prices in the config, these answers cost US$ {table['dollars'].sum():,.2f}.")
    unknown = [model for model, price in prices.items() if price is None and (table["model"] == model).any()]
    if unknown:
        told.append(f"What {', '.join(unknown)} cost is not known: the config has no prices.")
    return told
