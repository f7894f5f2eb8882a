"""The prefix tree of prompts, against one built node by node."""

import random

import pytest

from litm.prefix_tree import reading_plan, tree_tokens


def prompts(seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(3) for _ in range(rng.randrange(9))] for _ in range(rng.randrange(12))]


@pytest.mark.parametrize("page", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_the_nodes_of_the_tree_and_what_does_not_fill_a_page_is_shared_by_nobody(seed, page):
    nodes, left_over = set(), 0
    for prompt in dict.fromkeys(map(tuple, prompts(seed))):
        whole = len(prompt) // page * page
        nodes |= {prompt[: end + page] for end in range(0, whole, page)}
        left_over += len(prompt) - whole
    repeated = prompts(seed) if page == 1 else [list(one) for one in dict.fromkeys(map(tuple, prompts(seed)))]
    assert tree_tokens(repeated, page) == len(nodes) * page + left_over


@pytest.mark.parametrize("seed", range(20))
def test_a_prompt_waits_only_for_one_before_it_and_none_is_forgotten(seed):
    some = prompts(seed)
    plan = reading_plan(some, 2)
    assert sorted(plan.order) == list(range(len(some)))
    place = {index: number for number, index in enumerate(plan.order)}
    followers = [index for group in plan.followers.values() for index in group]
    assert sorted([*plan.first, *followers]) == list(range(len(some)))
    assert all(place[leader] < place[index] for leader, group in plan.followers.items() for index in group)
