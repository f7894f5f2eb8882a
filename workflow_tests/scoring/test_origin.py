"""Responses of another model, with other settings, or of another sweep: refused before they are scored."""

import pytest
from record_makers import example, response

from litm.base.messages import UserError
from litm.records.responses import measured_content, response_key
from litm.scoring.scores import check_origin, with_checked_keys

SOURCE, DECODING = {"identity": {"files": {"w": "1"}}}, {"max_new_tokens": 5, "stop": "end_token"}
SETTINGS = {"engine": "dummy", "prompt_template": "raw", "reasoning": "strip"}
#: The identity of the sweep has no setting that changes only what is scored.
MODEL = {"engine": "dummy", "prompt_template": "raw"}
MADE = {"source": SOURCE["identity"], "model": MODEL, "template": None, "decoding": DECODING}


def test_responses_of_the_studys_model_and_settings_are_scored_in_a_number_format_that_the_machine_chose_too():
    check_origin("r", {"identity_fields": MADE}, SOURCE, SETTINGS, DECODING)
    made = {**MADE, "model": {**MODEL, "dtype": "bfloat16"}}
    for dtype in ("auto", "bfloat16"):
        check_origin("r", {"identity_fields": made}, SOURCE, {**SETTINGS, "dtype": dtype}, DECODING)
    with pytest.raises(UserError, match="another settings than the study"):
        check_origin("r", {"identity_fields": made}, SOURCE, {**SETTINGS, "dtype": "float32"}, DECODING)


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (({"identity": {"files": {"w": "2"}}}, SETTINGS, DECODING), "model"),
        ((SOURCE, {**SETTINGS, "prompt_template": "chat"}, DECODING), "settings"),
        ((SOURCE, SETTINGS, {**DECODING, "max_new_tokens": 6}), "limit or stop rule"),
    ],
)
def test_responses_of_another_model_or_with_other_settings_are_refused(now, what):
    with pytest.raises(UserError, match=f"^r: these responses have another {what} than the study.*--forcerun generate"):
        check_origin("r", {"identity_fields": MADE}, *now)


def test_responses_under_the_manifest_of_another_sweep_are_refused():
    asked = example(id="a", size=5, placement="gold_at_0", prompt="p")
    answer = response(id="a", size=5, placement="gold_at_0", key=response_key("one", "p"))
    assert list(with_checked_keys("r", {"identity": "one", "identity_fields": MADE}, [asked], [answer])) == [asked]
    with pytest.raises(UserError, match="^r: the response to question a, size 5, gold_at_0, is not of the sweep"):
        list(with_checked_keys("r", {"identity": "two", "identity_fields": MADE}, [asked], [answer]))


def test_a_prompt_without_a_recorded_response_has_no_key_to_check():
    asked = example(id="a", size=5, placement="gold_at_0", prompt="p")
    absent = response(id="a", size=5, placement="gold_at_0", key="-", response=None, finish_reason="not_recorded")
    assert list(with_checked_keys("r", {"identity": "one", "identity_fields": MADE}, [asked], [absent])) == [asked]


def test_the_key_of_a_chat_is_that_of_its_messages():
    turns = [{"role": "user", "content": "p"}]
    asked = example(id="a", size=5, placement="gold_at_0", prompt="transcript", messages=turns)
    answer = response(id="a", size=5, placement="gold_at_0", key=response_key("one", turns))
    chat = {"identity": "one", "identity_fields": {**MADE, "model": {"prompt_template": "chat"}}}
    assert list(with_checked_keys("r", chat, [asked], [answer])) == [asked]


def test_the_key_of_a_measured_prompt_that_did_not_fit_is_that_of_the_prompt_with_its_answers():
    asked = example(id="a", size=5, placement="gold_at_0", prompt="p", targets=[{"answers": ["x"]}])
    key = response_key("one", measured_content("p", asked.targets[0].answers))
    too_long = response(id="a", size=5, placement="gold_at_0", key=key, response=None, finish_reason="overflow")
    made = {"identity": "one", "identity_fields": {**MADE, "decoding": {"measure": "log_probability"}}}
    assert list(with_checked_keys("r", made, [asked], [too_long])) == [asked]


def test_examples_are_passed_on_one_at_a_time():
    def examples():
        yield example(id="a")
        pytest.fail("a second example was read before the first was passed on")

    passed_on = with_checked_keys("r", {"identity": "one", "identity_fields": MADE}, examples(), [])
    assert next(passed_on) == example(id="a")
