"""Workers: parts of a sweep that are answered at once, with shared weights."""

import random
import threading
import time

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from litm.inference.generation import at_once, copies, parts_of, worker_count


def model(**shape: int) -> LlamaForCausalLM:
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=40, **{**sizes, **shape})).eval()


@pytest.fixture
def threads():
    """Two threads, whatever the machine has; as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield 2
    torch.set_num_threads(before)


@pytest.mark.parametrize(("count", "prompts"), [(1, 7), (2, 60), (3, 60), (4, 2), (8, 1)])
def test_parts_have_every_prompt_once_and_about_the_same_work(count, prompts):
    draw = random.Random(0)
    ids = [[draw.randrange(9) for _ in range(50)] for _ in range(prompts)]
    found = parts_of(ids, count)
    assert sorted(index for part in found for index in part) == list(range(prompts))
    assert len(found) == min(count, prompts)
    assert max(map(len, found)) - min(map(len, found)) <= 1 + 0.1 * prompts


def test_a_part_begins_where_prompts_share_little():
    # Of 20 questions with three prompts each: 30 common tokens.
    ids = [[number] * 30 + [prompt] for number in range(20) for prompt in range(3)]
    assert [len(part) % 3 for part in parts_of(ids, 4)] == [0, 0, 0, 0]


def test_copies_share_weights_and_no_settings():
    first, second = copies(model(), 2)
    pairs = zip(first.state_dict().items(), second.state_dict().items(), strict=True)
    assert all(name == other and one.data_ptr() == two.data_ptr() for (name, one), (other, two) in pairs)
    second.config._attn_implementation = "eager"
    assert first.config._attn_implementation == "sdpa"
    ids = torch.tensor([[1, 2, 3]])
    second.set_attn_implementation("sdpa")
    assert torch.equal(first(ids).logits, second(ids).logits)


def test_only_a_small_unquantised_model_on_a_processor_has_several_workers_and_one_with_eager_attention(threads):
    assert worker_count(model(), "none") == threads
    assert worker_count(model(), "nf4") == 1
    eager = model()
    eager.set_attn_implementation("eager")
    assert worker_count(eager, "none") == 1
    with torch.device("meta"):
        assert worker_count(model(), "none") == 1


def test_workers_yield_everything_and_leave_the_threads_as_they_were(threads):
    models, running = copies(model(), 2), threading.active_count()
    assert sorted(at_once(models, [iter([1, 2]), iter([3])])) == [1, 2, 3]
    assert torch.get_num_threads() == threads and threading.active_count() == running


def test_workers_do_not_run_ahead_of_a_slow_consumer_who_loses_what_it_has_and_an_item_of_each_at_a_stop(threads):
    begun = []
    streams = [(begun.append(number) or number for number in range(5)) for _ in range(2)]
    for done, _ in enumerate(at_once(copies(model(), 2), streams)):
        time.sleep(0.02)
        assert len(begun) - done <= 1 + 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_error_of_one_worker_ends_the_others_and_is_raised_after_what_they_have_finished(threads, error):
    models, running = copies(model(), 3), threading.active_count()
    begun, failed, items = threading.Event(), threading.Event(), []

    def endless():
        while True:
            models[0](torch.tensor([[1]]))
            begun.set()
            yield "step"

    def failing():
        begun.wait()
        failed.set()
        raise error
        yield

    def finishing():
        failed.wait()
        time.sleep(0.1)
        yield "answer"

    with pytest.raises(error):
        items.extend(at_once(models, [endless(), failing(), finishing()]))
    assert "answer" in items and threading.active_count() == running
    # The models can be used again.
    assert models[0](torch.tensor([[1]])).logits.shape == (1, 1, 40)
