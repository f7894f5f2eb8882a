"""Batches by length and token budget."""

from hypothesis import given
from hypothesis import strategies as st

from litm.models.devices import halved_budget, length_sorted_batches, longest_first, next_batch


@given(st.lists(st.integers(1, 500), max_size=60), st.integers(1, 50), st.integers(1, 2000))
def test_every_prompt_is_in_one_batch_and_no_batch_is_over_the_budget(lengths, new_tokens, budget):
    batches = list(length_sorted_batches(lengths, new_tokens, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = (max(lengths[index] for index in batch) + new_tokens) * len(batch)
        assert padded <= budget or len(batch) == 1
    order = [lengths[index] for batch in batches for index in batch]
    assert order == sorted(lengths, reverse=True)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=60), st.integers(1, 50))
def test_a_halved_budget_splits_a_batch_in_two(lengths, new_tokens):
    batch = longest_first(lengths)
    budget = halved_budget(batch, lengths, new_tokens)
    assert len(next_batch(batch, 0, lengths, new_tokens, budget)) == len(batch) // 2
