"""Reasoning models: switched off, stripped before scoring, or with a token budget."""

import pytest
import torch
from conftest import ROOT
from engine_settings import changed_settings
from local_engines import SETTINGS, answered, prepared, save_babbler
from record_makers import example, response
from score_frames import accuracy_table
from transformers import AutoModelForCausalLM

from litm.base.messages import UserError
from litm.config.catalogue import read_catalogue_entry
from litm.engines.interface import FIRST_LINE, EngineSettings
from litm.engines.registry import load_engine
from litm.prompting.prompt_format import PromptFormat, load_tokenizer, model_tokenizer
from litm.prompting.reasoning import (
    BUDGET,
    OFF,
    STRIP,
    TAGS,
    Reasoning,
    final_answer,
    generation_settings,
    opened_by_prompt,
    scored_reasoning,
    with_answer,
    with_answers,
)
from litm.records.responses import LENGTH, STOP
from litm.scoring.scores import Sweep, score_sweep

REFERENCE = str(ROOT / "resources" / "reference_model")
TURNS = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"
#: As Qwen3's: without reasoning, an empty one is written into the prompt.
SWITCHED = (
    TURNS + "{%- if add_generation_prompt %}<|assistant|>\n"
    "{%- if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
#: As DeepSeek-R1's and QwQ's: the prompt opens the reasoning.
OPENING = TURNS + "{% if add_generation_prompt %}<|assistant|><think>\n{% endif %}"


def chat_tokenizer(chat_template: str):
    tokenizer = load_tokenizer(REFERENCE)
    tokenizer.chat_template = chat_template
    return tokenizer


@pytest.fixture
def switched_folder(tmp_path):
    chat_tokenizer(SWITCHED).save_pretrained(tmp_path)
    return str(tmp_path)


def test_off_is_the_switch_of_the_chat_template(switched_folder):
    def prompt(policy):
        tokenizer = model_tokenizer(switched_folder, None, "chat", Reasoning(policy))
        return tokenizer.decode(PromptFormat(tokenizer, "chat").encode(["hello"])[0])

    plain = load_tokenizer(switched_folder)
    chat = [{"role": "user", "content": "hello"}]
    expected = plain.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    assert prompt(OFF) == expected and expected.endswith("<think>\n\n</think>\n\n")
    assert prompt(None) == plain.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) != expected


def test_off_without_a_switch_is_refused(tmp_path):
    chat_tokenizer(OPENING).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="chat template has no 'enable_thinking' to switch"):
        model_tokenizer(str(tmp_path), None, "chat", Reasoning(OFF))
    with pytest.raises(UserError, match="reasoning: off is for prompt_template chat, and it is raw"):
        model_tokenizer(str(tmp_path), None, "raw", Reasoning(OFF))


def test_prompts_that_open_the_reasoning_are_known():
    assert PromptFormat(chat_tokenizer(OPENING), "chat").opens_reasoning("<think>")
    assert not PromptFormat(chat_tokenizer(SWITCHED), "chat").opens_reasoning("<think>")
    assert PromptFormat(load_tokenizer(REFERENCE), "named", "Q: {prompt} <think>").opens_reasoning("<think>")


def test_tags_that_the_tokenizer_leaves_out_of_texts_are_refused(tmp_path):
    tokenizer = load_tokenizer(REFERENCE)
    tokenizer.add_special_tokens({"additional_special_tokens": ["</think>"]})
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UserError, match="the tokenizer leaves </think> out of its texts"):
        model_tokenizer(str(tmp_path), None, "raw", Reasoning(STRIP))
    model_tokenizer(str(tmp_path), None, "raw", Reasoning(STRIP, tags=("[THINK]", "[/THINK]")))


@pytest.mark.parametrize(
    ("text", "opened", "answer"),
    [
        ("Paris", False, "Paris"),
        ("<think>\nRome? No.\n</think>\n\nParis", False, "\n\nParis"),
        ("Rome? No.</think>Paris", True, "Paris"),
        # Somebody else's, whose prompts nobody knows.
        ("Rome? No.</think>Paris", False, "Paris"),
        ("<think>Rome? N", False, None),
        ("Rome? N", True, None),
        ("<think></think>", False, ""),
    ],
)
def test_the_answer_is_what_comes_after_the_reasoning(text, opened, answer):
    assert final_answer(text, TAGS, opened) == answer


def test_recorded_responses_show_that_their_prompts_opened_the_reasoning():
    assert opened_by_prompt(["Rome? N", "No.</think>Paris"], TAGS)
    assert not opened_by_prompt(["Rome", "<think>No.</think>Paris"], TAGS)
    assert not opened_by_prompt(["Rome", "Paris", "Oslo</think>"], TAGS)


def answers(*said: tuple[str, str]) -> list[str]:
    responses = [response(id=str(n), response=text, finish_reason=reason) for n, (text, reason) in enumerate(said)]
    return [one.answer for one in with_answers(responses, Reasoning(STRIP))]


def test_responses_to_unknown_prompts_all_cut_while_thinking_have_no_answer_and_a_stray_tag_changes_its_own_alone():
    assert answers(("I recall Anna Berg, or was it", LENGTH), ("Rome?", LENGTH)) == ["", ""]
    assert answers(("Rome", STOP), ("Paris", STOP), ("Oslo</think>", STOP)) == ["Rome", "Paris", ""]


def test_only_the_answer_is_scored_and_a_reasoning_that_never_ended_counts_as_cut():
    texts = ["<think>b?</think>a", "<think>a?</think>b", "<think>a, or", "a"]
    cell, target = {"size": 2, "placement": "gold_at_0"}, {"position": 0, "depth": 0.0, "answers": ["a"]}
    examples = [example(id=str(n), **cell, targets=[target]) for n in range(len(texts))]
    records = [response(id=str(n), **cell, response=text, finish_reason=STOP) for n, text in enumerate(texts)]
    stripped = [with_answer(record, TAGS, opened=False) for record in records]
    assert [record.text for record in stripped] == texts
    assert scored_reasoning(records, Reasoning()) == {"with_reasoning": 3, "with_text": 4}
    assert scored_reasoning(records, Reasoning(STRIP)) == scored_reasoning(records[3:], Reasoning()) == {}
    sweep = Sweep("m", "e", "t", "value_in_answer")
    scores = score_sweep(sweep, examples, stripped)
    assert scores["correct"].tolist() == [True, False, False, True]
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["n"], row["n_cut"], row["n_empty"]) == (4, 1, 1)
    assert score_sweep(sweep, examples, records)["correct"].tolist() == [True, True, True, True]


def test_strip_is_part_of_the_identity_only_where_it_changes_the_response():
    plain = {"dtype": "auto"}
    strip, off = ({**plain, **Reasoning(policy).settings()} for policy in (STRIP, OFF))
    assert generation_settings(strip, stops_early=False) == plain
    assert generation_settings(strip, stops_early=True) == strip
    assert generation_settings(off, stops_early=False) == off
    assert Reasoning.from_settings(strip) == Reasoning(STRIP) and Reasoning.from_settings(plain) == Reasoning()


def entry(**more):
    keys = {"engine": "transformers", "hub": "a/chat-model", "prompt_template": "chat", **more}
    return read_catalogue_entry("models", "m", keys).located(ROOT, {})


def test_a_model_without_a_policy_has_the_settings_it_had():
    assert "reasoning" not in entry().answer_settings()
    # YAML reads a bare off as false.
    assert entry(reasoning=False).answer_settings() == entry(reasoning="off").answer_settings()
    assert entry(reasoning="off").answer_settings()["reasoning"]["policy"] == OFF
    assert entry(reasoning="budget", reasoning_tokens=9).reasoning == Reasoning(BUDGET, 9)


#: The tags have two tokens each and share the first.
PIECES = ["<", "think>", "/think>", "\n", " a", " b", "c", " \n", "d", "</s>"]
END = len(PIECES) - 1
NEW_TOKENS, REASONING_TOKENS = 8, 11


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> EngineSettings:
    """A model with random weights that says tags, line ends and words."""
    folder = tmp_path_factory.mktemp("thinker")
    save_babbler(folder, PIECES, end=END, seed=3)
    rules = {"max_new_tokens": NEW_TOKENS, "stop": FIRST_LINE, "reasoning": Reasoning(BUDGET, REASONING_TOKENS)}
    return changed_settings(SETTINGS, location=str(folder), batch_tokens=500, **rules)


def prompts(count: int, opened: bool) -> list[list[int]]:
    own = [[(n * k) % (len(PIECES) - 1) for k in range(1, 4 + n % 5)] for n in range(1, count)]
    # One that ends with the opening tag, or with a word.
    return [[*prompt, *([0, 1, 3] if opened else [8])] for prompt in own]


@torch.inference_mode()
def expected(model, prompt: list[int], policy: Reasoning, limit: int, stop: str) -> tuple[str, str]:
    """The response and its end by the rules as they are written, one token at a time and on the text alone."""
    opened, said = "".join(PIECES[id] for id in prompt).rstrip().endswith("<think>"), []
    while True:
        text = "".join(PIECES[id] for id in said)
        reasons = opened or text.lstrip().startswith("<think>")
        undecided = not reasons and "<think>".startswith(text.lstrip())
        answers = not undecided and (not reasons or "</think>" in text)
        answer = text.partition("</think>")[2] if reasons else text
        if answers and stop == FIRST_LINE and "\n" in answer.lstrip():
            return text, STOP
        answer_tokens = [k for k in range(len(said) + 1) if "</think>" in "".join(PIECES[id] for id in said[:k])]
        begin = 0 if not reasons else (answer_tokens or [len(said)])[0]
        if policy.policy == BUDGET and answers and len(said) - begin == limit:
            return text, LENGTH
        if len(said) == limit + policy.tokens:
            return text, LENGTH
        forced = policy.policy == BUDGET and reasons and not answers and len(said) >= policy.tokens - 2
        if forced:
            said.append([0, 2][len(said) - (policy.tokens - 2)])
            continue
        token = int(model(input_ids=torch.tensor([[*prompt, *said]]), use_cache=False).logits[0, -1].argmax())
        if token == END:
            return text, STOP
        said.append(token)


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("stop", [FIRST_LINE, "end_token"])
@pytest.mark.parametrize("policy", [Reasoning(BUDGET, REASONING_TOKENS), Reasoning(STRIP)])
def test_responses_end_by_the_rules_of_the_answer_once_the_reasoning_is_over(settings, policy, stop, opened):
    limit = NEW_TOKENS if policy.policy == BUDGET else 20
    engine = load_engine("transformers", changed_settings(settings, reasoning=policy, stop=stop, max_new_tokens=limit))
    asked = prompts(40, opened)
    found = answered(engine, prepared(asked))
    model = AutoModelForCausalLM.from_pretrained(settings.location)
    wanted = [expected(model, prompt, policy, limit, stop) for prompt in asked]
    assert [(one.text, one.finish_reason) for one in found] == wanted
    answers = [final_answer(text, TAGS, opened) for text, _ in wanted]
    # Or the comparison would show little.
    assert len(set(wanted)) > 5
    if opened and policy.policy == BUDGET:
        assert all(answer is not None for answer, (_, reason) in zip(answers, wanted, strict=True) if reason == LENGTH)


def test_a_budget_below_the_closing_tag_is_refused(settings):
    engine = load_engine("transformers", changed_settings(settings, reasoning=Reasoning(BUDGET, 2)))
    with pytest.raises(UserError, match="reasoning_tokens: 2 is too few, </think> alone has 2$"):
        list(engine.generate(prepared([[0]])))
