"""Sentences on answers that ended at the limit of new tokens."""

import pandas as pd

from litm.analysis.cut_answers import cut_sentences


def row(experiment="kv", placement="gold_at_0", target="gold", n=5, n_cut=0, model="m"):
    return {
        "model": model, "experiment": experiment, "size": 10, "placement": placement, "target": target, "n": n,
        "n_cut": n_cut,
    }  # fmt: skip


def test_cut_answers_are_counted_over_the_cells_of_a_sweep_and_none_gives_no_sentence():
    rows = [row(n_cut=4), row(placement="gold_at_9", n=10, n_cut=7), row("qa"), row(model="other", n_cut=1)]
    assert cut_sentences(rows, {"kv": 30, "qa": 100}) == [
        "m on kv: 11 of 15 answers were cut at 30 tokens; accuracy is a lower bound: raise max_new_tokens",
        "other on kv: 1 of 5 answers were cut at 30 tokens; accuracy is a lower bound: raise max_new_tokens",
    ]


def test_an_answer_to_several_gold_items_counts_once():
    rows = [row(target=target, n=8, n_cut=2) for target in ("first", "second", "third")]
    (sentence,) = cut_sentences(rows, {"kv": 80})
    assert sentence.startswith("m on kv: 2 of 8 answers were cut at 80 tokens;")


def test_table_rows_and_csv_texts_give_the_same_lines_and_unknown_counts_are_skipped(tmp_path):
    table = pd.DataFrame([row(n_cut=3), row(placement="gold_at_9", n_cut=None)]).astype({"n_cut": "Int64"})
    table.to_csv(tmp_path / "a.csv", index=False)
    texts = pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False)
    said = cut_sentences(table.to_dict("records"), {"kv": 30})
    assert said == cut_sentences(texts.to_dict("records"), {"kv": 30})
    assert said[0].startswith("m on kv: 3 of 5 answers were cut")
