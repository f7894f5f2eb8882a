"""Doubts: which answers are neither right nor wrong, and which numbers they touch."""

import pandas as pd
import pytest
from record_makers import response
from score_frames import accuracy_table, score_rows
from suite_examples import example, questions

from litm.examples.task import ExampleSettings
from litm.scoring.doubts import (
    WORDS,
    curve_doubt,
    doubt_in_words,
    doubt_of,
    few_errors,
    is_doubt,
    is_error,
    repeats_itself,
    repeats_prompt,
    sound,
)
from litm.scoring.scores import Sweep, score_sweep
from litm.servers.cut_prompts import cut_at, cut_by_server

PROMPT = "Answer with the text below and nothing else, please.\n\n" + "\n".join(
    f"Item {n} has word w{n}." for n in range(60)
)


def rows(doubts: dict[int, list[str | None]], **changes) -> pd.DataFrame:
    """Score rows with these doubts at each position."""
    frame = score_rows({position: [False] * len(of) for position, of in doubts.items()}, **changes)
    return frame.assign(doubt=pd.array([one for of in doubts.values() for one in of], dtype="string"))


def test_a_number_is_in_doubt_if_more_than_half_of_its_answers_are():
    assert doubt_of(rows({0: ["empty", "empty", None]})) == "empty"
    assert doubt_of(rows({0: ["empty", None]})) is None
    assert doubt_of(rows({0: ["empty", "error", "error", None]})) == "error"
    assert doubt_of(score_rows({0: [True]})) is None


def test_answers_that_do_not_count_cast_no_doubt():
    frame = rows({0: ["empty", None, None]})
    assert doubt_of(frame.assign(excluded=[False, True, True])) == "empty"
    assert doubt_of(frame.assign(finish_reason=["stop", "failed", "not_recorded"])) == "empty"


def test_a_curve_is_in_doubt_if_one_of_its_positions_is():
    assert curve_doubt(rows({0: [None] * 3, 4: ["error"] * 2 + [None], 8: [None] * 3})) == "error"
    assert curve_doubt(rows({0: [None, "error"], 8: [None, None]})) is None


def test_sizes_in_doubt_are_left_out_of_comparisons():
    frame = pd.concat([rows({0: ["error"] * 2, 4: [None] * 2}, size=5), rows({0: [None] * 2, 8: [None] * 2})])
    assert set(sound(frame)["size"]) == {9}
    plain = score_rows({0: [True]})
    assert sound(plain) is plain


def test_error_messages_among_the_answers_are_said_where_they_are_too_few_for_a_doubt():
    assert few_errors(rows({0: ["error", None, None], 8: [None, "empty", None]})).startswith("1 of 6 answers are error")
    assert few_errors(rows({0: ["error", "error", None]})) == few_errors(rows({0: ["empty", None]})) == ""
    assert few_errors(score_rows({0: [True]})) == ""


def test_the_accuracy_of_a_cell_has_its_doubt():
    table = accuracy_table(rows({0: ["prompts_cut: 1024"] * 2, 8: [None] * 2}))
    assert table["doubt"].tolist()[0] == "prompts_cut: 1024" and pd.isna(table["doubt"].tolist()[1])


def test_score_rows_without_a_doubt_have_no_column_of_doubts():
    asked = [
        example("kv_retrieval", one, 4, "gold_at_0")
        for one in questions("kv_retrieval", 4, ExampleSettings(6, 0, "ranked"))
    ]
    answers = [response(id=one.id, size=4, placement="gold_at_0", response=one.targets[0].answers[0]) for one in asked]
    sweep = Sweep("m", "kv", "kv_retrieval", "value_in_answer")
    assert "doubt" not in score_sweep(sweep, asked, answers)
    same = [response(id=one.id, size=4, placement="gold_at_0", response="overloaded") for one in asked]
    assert set(score_sweep(sweep, asked, same)["doubt"]) == {"same_answer: overloaded"}
    # Fewer may share a wrong text by chance.
    assert "doubt" not in score_sweep(sweep, asked[:4], same[:4])


def test_prompts_with_the_server_s_limit_of_tokens_are_in_doubt():
    asked = [
        example("kv_retrieval", one, 4, "gold_at_0")
        for one in questions("kv_retrieval", 4, ExampleSettings(6, 0, "ranked"))
    ]
    answers = [
        response(
            id=one.id, size=4, placement="gold_at_0", response=one.targets[0].answers[0], prompt_tokens=100 + n // 3
        )
        for n, one in enumerate(asked)
    ]
    sweep = Sweep("m", "kv", "kv_retrieval", "value_in_answer")
    scores = score_sweep(sweep, asked, answers, cut_at=lambda lengths, tokens: 101)
    assert scores["doubt"].fillna("").tolist() == [""] * 3 + ["prompts_cut: 101"] * 3


@pytest.mark.parametrize(
    ("text", "is_repeated"),
    [
        (PROMPT, True),
        (f"{PROMPT} w7", True),
        (f"<|im_start|>user\n{PROMPT}", True),
        (f"Some system text. {PROMPT}\nw7", True),
        (PROMPT.splitlines()[0], True),
        (" ".join(PROMPT.split()[20:60]), True),
        ("Item 7 has word w7.", False),
        (" ".join(PROMPT.split()[20:40]), False),
        ("The word is w7, because item 7 has it, and no other item of all these has it, as far as I can tell.", False),
        ("", False),
    ],
)
def test_an_answer_repeats_its_prompt_if_it_begins_so_or_has_a_long_stretch_of_it(text, is_repeated):
    assert repeats_prompt(text, PROMPT, "Item 7 has word w7.") == is_repeated


def test_a_long_quotation_of_the_gold_item_repeats_no_prompt():
    gold = PROMPT.partition("\n\n")[2]
    assert not repeats_prompt(gold, PROMPT, gold)


@pytest.mark.parametrize(
    "text",
    [
        "the the the the the the the the the the ",
        "!" * 20,
        "<pad>" * 31,
        "I see. " + "Arvik mill, " * 30,
        "Yes. " + "I am sorry, but I did not find the answer to this question in the documents that I have. " * 11,
    ],
)
def test_a_text_repeats_itself_if_most_of_it_is_one_piece_again_and_again(text):
    assert repeats_itself(text)


@pytest.mark.parametrize(
    "text", ["", "no", "Ada Quill", "11000", "Ada Quill, Ada Quill", "a b c d e f g h i j k l m n"]
)
def test_short_and_varied_texts_do_not_repeat_themselves(text):
    assert not repeats_itself(text)


@pytest.mark.parametrize(
    "text",
    [
        "ERROR - timeout",
        "API Error: overloaded",
        "Error calling the model, 3 of 3",
        "APIConnectionError('Connection error.')",
        "openai.BadRequestError: no",
        "Request failed with status code 500",
        "HTTPSConnectionPool(host='x', port=443): Max retries exceeded",
        "CUDA out of memory. Tried to allocate 2 GiB",
        "Failed to generate a response",
        '{"code": 500, "message": "x"}',
    ],
)
def test_what_scripts_write_for_a_request_that_failed_is_an_error(text):
    assert is_error(text)


@pytest.mark.parametrize(
    "text", ["Errors of 1996", "Error analysis", "failed states", "404 BC", "Cuda, a code of 500 lines", "calls failed"]
)
def test_an_answer_about_errors_is_no_error(text):
    assert not is_error(text)


def test_each_doubt_has_words_and_other_reasons_are_no_doubts():
    assert all(is_doubt(kind) and doubt_in_words(kind) != kind for kind in [*WORDS][1:])
    assert doubt_in_words("prompts_cut: 1024").startswith("the server cut the prompts to 1,024 tokens")
    assert doubt_in_words("same_answer: Error: {}").endswith("'Error: {}'")
    assert doubt_in_words("floor") == "floor" and not is_doubt("floor") and not is_doubt(None)


def test_prompts_were_cut_where_longer_ones_have_the_same_tokens():
    assert cut_at([400, 420, 4000, 4010, 4020], [100, 105, 512, 512, 512]) == 512
    assert cut_at([4000, 4010, 4020], [1024] * 3) == 1024


def test_equal_counts_of_like_prompts_and_unknown_counts_show_no_cut():
    assert cut_at([400, 420, 500, 501, 502], [100, 105, 125, 125, 125]) is None
    assert cut_at([4000, 4000, 4000], [1024] * 3) is None
    assert cut_at([4000, 4010, 4020], [None] * 3) is None
    assert cut_at([], []) is None


def test_documents_of_one_form_that_share_the_largest_count_show_no_cut():
    lengths = [7387, 7500, 7700, 7900, 8100, 8179, 3000, 3100, 4000, 4100]
    assert cut_at(lengths, [1249] * 6 + [485, 500, 645, 660]) is None
    assert cut_at(lengths, [1250] * 6 + [485, 500, 645, 660]) == 1250
    assert cut_at(lengths, [1024] * 6 + [485, 500, 645, 660]) == 1024


def test_only_a_server_cuts_prompts():
    """The dummy counts words, and a prompt in Chinese has few words."""
    lengths, words = [4000, 4100, 4200], [40, 41, 42]
    assert cut_by_server({"source": {"api_model": "m"}}, lengths, words) == 42
    assert cut_by_server({"source": {"engine": "dummy"}}, lengths, words) is None
    assert cut_by_server({}, lengths, words) is None


def test_one_prompt_of_blanks_or_dots_has_few_tokens_and_shows_no_cut():
    assert cut_at([3000, 4000, 5000, 8000], [200, 1000, 1200, 2000]) is None
    assert cut_at([30000, 31000, 32000, 4000], [900, 1024, 990, 1000]) == 1024
