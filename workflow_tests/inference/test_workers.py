"""Workers: parts of a sweep that are answered at once, with shared weights."""

import threading
import time

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from litm.local.generation import at_once, copies, worker_count


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


def test_only_a_small_unquantised_model_on_a_processor_has_several_workers_and_one_with_eager_attention(threads):
    assert worker_count(model(), "none") == threads
    assert worker_count(model(), "nf4") == 1
    eager = model()
    eager.set_attn_implementation("eager")
    assert worker_count(eager, "none") == 1
    with torch.device("meta"):
        assert worker_count(model(), "none") == 1


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
