"""The prefix tree of a sweep's prompts: its size, and the order with the longest shared prefixes."""

from itertools import pairwise

from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks.key_values import kv_retrieval
from litm.inference.costs import tree_order, tree_tokens
from litm.prompting.prompt_format import load_tokenizer

#: Few different tokens, so that prompts have beginnings in common.
PROMPTS = st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=12)


@given(PROMPTS)
def test_the_tokens_of_the_tree_are_those_of_a_tree_that_is_built(prompts):
    nodes = {tuple(prompt[:end]) for prompt in prompts for end in range(1, len(prompt) + 1)}
    assert tree_tokens(prompts) == len(nodes)


def test_a_node_of_the_tree_is_a_token():
    assert tree_tokens([[5, 6, 7], [5, 6, 300], [5, 6, 7, 8], [70000]]) == 6


@given(PROMPTS)
def test_no_earlier_prompt_has_more_in_common_than_the_one_before(prompts):
    order, shared = tree_order(dict(enumerate(prompts)))
    for place, tokens in enumerate(shared):
        earlier = [common(prompts[order[place]], prompts[other]) for other in order[:place]]
        assert tokens == max(earlier, default=0)


def common(one: list[int], other: list[int]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def test_only_the_text_before_a_moved_pair_is_shared():
    template = read_template(ROOT / "resources" / "prompts" / "kv_retrieval.txt")
    (question,) = kv_retrieval.questions(40, ExampleSettings(1, 1, "ranked"), None)
    examples = [make_example(question, 40, f"gold_at_{at}", template, kv_retrieval) for at in (10, 20, 39)]
    tokenizer = load_tokenizer(str(ROOT / "resources" / "reference_model"))
    prompts = [tokenizer(example.prompt)["input_ids"] for example in examples]
    before = [len(tokenizer(example.prompt[: example.targets[0].span[0]])["input_ids"]) for example in examples]
    saved = sum(map(len, prompts)) - tree_tokens(prompts)
    # A token or two may cross the place where the texts part.
    assert all(later > earlier for earlier, later in pairwise(before))
    assert abs(saved - (before[0] + before[1])) <= 6
