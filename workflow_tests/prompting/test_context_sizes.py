"""Context sizes in tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litm.base.messages import UserError
from litm.prompting.token_counts import most_items


@given(st.integers(1, 50), st.integers(0, 200), st.integers(0, 100_000))
def test_the_most_items_that_fit_are_found(each, rest, limit):
    def tokens_of(items: int) -> int:
        return rest + each * items

    if tokens_of(2) > limit:
        with pytest.raises(UserError, match=f"a prompt of 2 items has {tokens_of(2)} tokens already"):
            most_items(limit, tokens_of, fewest=2)
    else:
        found = most_items(limit, tokens_of, fewest=2)
        assert tokens_of(found) <= limit < tokens_of(found + 1)


def test_few_sizes_are_tried():
    tried = []
    most_items(100_000, lambda items: tried.append(items) or 20 * items, fewest=2)
    assert len(tried) < 30 and min(tried) == 2
