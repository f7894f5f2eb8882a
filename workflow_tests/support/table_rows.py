"""Rows of tables as `plain_rows` gives them, for findings and what is made of them."""

from litm.tables.table import tables


def row_of(table: str, **values) -> dict:
    """A row of a table with these values; its other columns are None."""
    columns = tables()[table].columns
    assert not (unknown := {*values} - {*columns}), unknown
    return {**dict.fromkeys(columns), **values}


def accuracy_row(model="a", experiment="kv", accuracy=0.5, position=0, size=20, n=100, **more) -> dict:
    """A row of accuracy.csv, of a position or without one."""
    place = {} if position is None else {"position": position, "depth": position / (size - 1)}
    counts = {"n_empty": 0, "n_cut": 0, "n_refused": 0, "n_failed": 0, "n_not_recorded": 0, "n_left_out": 0}
    names = {
        "model": model,
        "experiment": experiment,
        "task": "kv_retrieval",
        "metric": "value_in_answer",
        "size": size,
    }
    placement = "no_gold" if position is None else f"gold_at_{position}"
    limits = {} if accuracy is None else {"ci_low": accuracy - 0.1, "ci_high": accuracy + 0.1}
    values = {**names, "placement": placement, **place, **counts, "n": n, "accuracy": accuracy, **limits, **more}
    return row_of("accuracy", **values)


def bias_row(model="a", experiment="kv", places=(0.8, 0.5, 0.6), shape="U", size=20, n=100, **more) -> dict:
    """A row of position_bias.csv with accuracies at start, middle and end; intervals of 10 points."""
    start, middle, end = places
    contrasts = {
        "primacy": start - middle,
        "recency": end - middle,
        "tilt": end - start,
        "pbi": (start + end) / 2 - middle,
        "gap": max(places) - min(places),
    }
    limits = {f"{name}_ci_{side}": value + by for name, value in contrasts.items() for side, by in
              (("low", -0.05), ("high", 0.05))}  # fmt: skip
    values = {
        "model": model, "experiment": experiment, "task": "kv_retrieval", "metric": "value_in_answer", "size": size,
        "n": n, "n_left_out": 0, "n_positions": 3, "verdict": "measured", "shape": shape,
        "accuracy_all": sum(places) / 3, "accuracy_all_ci_low": sum(places) / 3 - 0.05,
        "accuracy_all_ci_high": sum(places) / 3 + 0.05,
        "accuracy_start": start, "accuracy_middle": middle, "accuracy_end": end, **contrasts, **limits,
        "pbi_class": "moderate", "class_words": "moderate", "pbi_mde": 0.1,
        "position_best": 0, "position_worst": 9, "accuracy_best": max(places), "accuracy_worst": min(places),
        "gap_p_value": 0.001, "cochran_q": 9.0, "cochran_p_holm": 0.01,
    }  # fmt: skip
    return row_of("position_bias", **{**values, **more})


def silent_row(reason, **more) -> dict:
    """A row of position_bias.csv of a curve that tells nothing."""
    nothing = {"verdict": "no_information", "reason": reason, "shape": None, "pbi_class": None, "class_words": None}
    return bias_row(**{**nothing, **more})


def length_row(loss=0.3, verdict="shown beyond", best=0.8, size=40, model="a", experiment="kv", **more) -> dict:
    """A row of effective_length.csv; intervals of 20 points."""
    return row_of(
        "effective_length", model=model, experiment=experiment, size=size, size_smallest=20, n=100, margin=0.1,
        accuracy_best=best, loss=loss, ci_low=loss - 0.1, ci_high=loss + 0.1, verdict=verdict,
        effective_length="less than 40: shown", **more,
    )  # fmt: skip


def utilisation_row(closed_book, oracle, benefit=None, model="a", experiment="qa", n=50, **more) -> dict:
    """A row of utilisation.csv; intervals of 20 points."""
    accuracies = {"accuracy_closed_book": closed_book, "accuracy_oracle": oracle}
    limits = {f"{name}_ci_{side}": value + by for name, value in accuracies.items() for side, by in
              (("low", -0.1), ("high", 0.1))}  # fmt: skip
    return row_of(
        "utilisation", model=model, experiment=experiment, n=n, utilisation=benefit, **accuracies, **limits, **more
    )


def pair_rows(accuracy=(0.1, 0.01), pbi=(0.0, 1.0), a="a", b="b", experiment="kv", n_sizes=1, **more) -> list[dict]:
    """Rows of model_pairs.csv: (difference, p) of all accuracies, and of primacy, recency and PBI."""
    of_accuracy = [("accuracy", place, *accuracy) for place in ("all", "start", "middle", "end")]
    of_bias = [(name, None, *pbi) for name in ("primacy", "recency", "pbi")] if pbi else []
    return [
        row_of(
            "model_pairs", experiment=experiment, model_a=a, model_b=b, quantity=name, place=place, n=80,
            n_sizes=n_sizes, value_a=0.5 + difference, value_b=0.5, difference=difference, ci_low=difference - 0.06,
            ci_high=difference + 0.06, p_holm=p, **more,
        )
        for name, place, difference, p in [*of_accuracy, *of_bias]
    ]  # fmt: skip


def probability_rows(**p_values) -> list[dict]:
    """Rows of log_probability_effects.csv: p of the effects that are named, 1 of others."""
    return [
        row_of("log_probability_effects", model="a", experiment="kv", size=20, quantity=quantity, effect=name, n=60,
               value=-0.4 if quantity == "answer" else -0.1, ci_low=-0.7, ci_high=-0.1, p_holm=p_values.get(name, 1.0))
        for quantity in ("answer", "per_token")
        for name in ("pbi", "primacy", "recency", "tilt")
    ]  # fmt: skip
