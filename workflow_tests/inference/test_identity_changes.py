"""Reasons to ask again: the fields that differ from the nearest identity, in words."""

from litm.inference.answer_identity import NEW_PROMPTS, identity_changes, reason_in_words, reason_to_ask, sweep_identity


def identity(dtype="bfloat16", weights="1" * 64, template=None, **more) -> dict:
    source = {"files": {"config.json": "c" * 64, "model.safetensors": weights}}
    return sweep_identity(source, {"dtype": dtype, **more}, template, {"max_new_tokens": 100, "stop": "end_token"})


def test_only_innermost_fields_that_differ_are_changes():
    assert identity_changes(identity(), identity("float32")) == {"model.dtype": ["bfloat16", "float32"]}
    assert identity_changes(identity(), identity(weights="2" * 64, quantization="nf4")) == {
        "model.quantization": [None, "nf4"],
        "source.files.model.safetensors": ["1" * 64, "2" * 64],
    }
    assert identity_changes(identity(), identity()) == {}
    assert identity_changes(identity(top=0), identity(top=0.0)) == {"model.top": [0, 0.0]}
    assert identity_changes(identity(top=1), identity(top=True)) == {"model.top": [1, True]}


def test_a_folder_instead_of_a_hub_model_is_fields_gone_and_come():
    hub = {**identity(), "source": {"hub": "a/b", "commit": "f"}}
    assert identity_changes(hub, identity()) == {
        "source.commit": ["f", None],
        "source.files.config.json": [None, "c" * 64],
        "source.files.model.safetensors": [None, "1" * 64],
        "source.hub": ["a/b", None],
    }


def test_the_nearest_identity_counts_and_of_several_the_last():
    far, near, as_near = identity("float16", template="x"), identity("float32"), identity("float16")
    assert reason_to_ask({"f": far, "n": near}, "i", identity()) == {"model.dtype": ["float32", "bfloat16"]}
    assert reason_to_ask({"n": near, "f": far}, "i", identity()) == {"model.dtype": ["float32", "bfloat16"]}
    assert reason_to_ask({"n": near, "m": as_near}, "i", identity()) == {"model.dtype": ["float16", "bfloat16"]}


def test_new_prompts_and_a_new_journal_are_told_apart():
    assert reason_to_ask({"i": identity()}, "i", identity()) == NEW_PROMPTS
    assert reason_to_ask({}, "i", identity()) is None


def test_the_reason_is_one_short_line():
    assert reason_in_words(NEW_PROMPTS) == "the journal had no answers to these prompts"
    changes = {"model.quantization": [None, "nf4"], "template": ["a\n\n{prompt}" + "b" * 99, None], "w": ["1" * 64, 2]}
    assert reason_in_words(changes) == (
        "model.quantization was not there and is nf4; template was a {prompt}bbbbbb... and is not there; "
        "w was 1111111111111111... and is 2"
    )
    far = {"source.base_url": ["http://localhost:8000/v1", "http://localhost:8000/v2/chat"]}
    assert reason_in_words(far) == "source.base_url was ...00/v1 and is ...00/v2/chat"
    long = {"template": ["x" * 30 + "old" + "y" * 30, "x" * 30 + "new" + "y" * 30]}
    assert reason_in_words(long) == "template was ...xxxxoldyyyyyyyyy... and is ...xxxxnewyyyyyyyyy..."
    assert reason_in_words({"model.request.seed": ["1", 1]}) == 'model.request.seed was "1" and is 1'
    many = {f"f{number}": [number, 9] for number in range(6)}
    assert reason_in_words(many).endswith("; f3 was 3 and is 9; 2 more differ")
