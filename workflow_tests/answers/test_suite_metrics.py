"""The suite's metrics: codes, and integers in all their spellings."""

import pytest

from litm.answers import read_integer
from litm.scoring.metrics import exact_code, exact_integer, last_integer, only_code
from litm.scoring.scores import judge


@pytest.mark.parametrize(
    "answer",
    [
        "TRK-5938", "trk-5938", "The code is TRK-5938.", "**TRK-5938**", '"TRK-5938"', "`TRK-5938`", "__TRK-5938__",
        "TRK\u20115938", "TRK\u20135938", "BCD-2222, TRK-5938, FGH-3333", "1. BCD-2222\n2. TRK-5938\n", "(TRK-5938)",
        "TRK-5938\n\nQuestion: What is", "code:TRK-5938", "TRK-5938 - that is it", "TRK-5938-",
    ],
)  # fmt: skip
def test_a_code_counts_as_a_token_of_its_own(answer):
    assert exact_code(answer, ["TRK-5938"])


@pytest.mark.parametrize(
    "answer",
    [
        "", "TRK", "5938", "TRK-593", "TRK-59381", "ATRK-5938", "A-TRK-5938", "TRK-5938-B", "TRK-5938b", "TRK 5938",
        "TRK5938", "TRK-5939", "5938-TRK", "I do not know.",
    ],
)  # fmt: skip
def test_what_is_not_exactly_the_code_does_not_count(answer):
    assert not exact_code(answer, ["TRK-5938"])


@pytest.mark.parametrize(
    "answer",
    [
        "4284", "4,284", "$4,284", "$4,284.00", "4 284", "4\u202f284", "4\u00a0284", "4'284", "4.284", "4.284,00 €",
        "4284,00", "4284.", "4284.0", "US$4,284", "USD 4,284", "USD4284", "4284USD", "4284 dollars", "**$4,284**",
        "\\$4,284", "\\boxed{4284}", "4{,}284", "_4284_", "`4284`", "= 4284", "~4284", "Answer: 4284",
        "The total cost is $4,284.", "The total cost is $4284 for 12 kg.", "Total: $ 4,284",
    ],
)  # fmt: skip
def test_a_number_is_read_with_any_separators_and_currency(answer):
    assert exact_integer(answer, ["4284"])


@pytest.mark.parametrize(
    "answer",
    [
        "12 \u00d7 357 = 4284", "12 x 357 = 4284", "12x357=4284", "12*$357=$4,284", "357 \u00b7 12 = 4284",
        "12 kg \u00d7 $357/kg = $4,284", "12kg \u00d7 $357 = $4,284", "12 kg * $357 per kg = $4284.00",
        "12 times 357 is 4284.", "$4,284 (12 kg \u00d7 $357)", "The total is $4,284 (12kg x $357).",
        "4284 (= 12 * 357)", "$4,284 because one kg costs $357.", "**4284**, since the price is 357 dollars.",
        "_4284_ at a price of 357", "It costs $4,284, as one kg costs $357.",
        "The price is $357 per kg, so 12 kg cost $4,284.", "It costs $357, so the total is $4284",
        "12 kg at $357 per kg is $4,284", "At 357 dollars a kilo, 12 kilos come to 4284 dollars.",
        "357*12 = 357*10 + 357*2 = 3570 + 714 = 4284", "5000 - 716 = 4284", "$12 \\times 357 = 4284$",
        "(12 kg) \u00d7 ($357) = $4,284",
    ],
)  # fmt: skip
def test_the_result_of_a_calculation_is_read_not_its_parts(answer):
    assert exact_integer(answer, ["4284"])


@pytest.mark.parametrize(
    "answer",
    [
        "", "I do not know.", "12", "357", "$357 per kg", "12 \u00d7 357", "4285", "42840", "14,284", "4,284,000",
        "-4284", "$-4284", "-$4,284", "42.84", "4284.5", "4,284.50", "0.4284", "A4284", "4284B", "3570 + 714",
        "four thousand two hundred eighty-four", "12 x 357 = 4274", "4284 x 12 = 51408",
    ],
)  # fmt: skip
def test_another_number_or_none_does_not_count(answer):
    assert not exact_integer(answer, ["4284"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234", 1234), ("1,234", 1234), ("1 234", 1234), ("1.234.567", 1234567), ("1,234.000", 1234),
        ("1.5", None), ("1,23", None), ("1234.567", None), ("0.123", None), ("12.345,67", None),
    ],
)  # fmt: skip
def test_one_sign_and_three_digits_are_thousands(text, value):
    assert read_integer(text) == value


def test_endless_digits_and_numbers_are_no_answer():
    assert read_integer("9" * 10_000) is None
    assert read_integer("1, 2, " * 2000 + "3") == 1


def test_every_amount_is_read_back_in_every_form():
    for value in (*range(600, 6001, 12), 5, 1_000_000, 12_345_678):
        point = f"{value:,}".replace(",", ".")
        for text in (f"{value}", f"{value:,}", f"${value:,}.00", point, f"{point},00", f"It is {value:,} USD."):
            assert read_integer(text) == value, text


def test_an_integer_is_read_in_the_first_line_and_a_code_anywhere():
    run_on = "4284\n\nQuestion: I buy 5 kg of tea at $30. What is the total cost?\nAnswer: 150"
    assert judge("exact_integer", run_on, ["4284"])["correct"] is True
    assert judge("exact_integer", "Let me see.\n4284", ["4284"]) == {
        "correct": False, "correct_first_line": False, "correct_full": True,
        "correct_strict": None, "correct_lenient": None,
    }  # fmt: skip
    assert judge("exact_code", "1. BCD-2222\n2. TRK-5938", ["TRK-5938"])["correct"] is True


@pytest.mark.parametrize(
    "answer",
    [
        "4284", "The total is $4,284 (12kg x $357).", "4284 (= 12 * 357)", "The price is $357 per kg.\n12 x 357 = 4284",
        "12 x 300 = 3600\n12 x 57 = 684\n3600 + 684 = 4284", "357\n12 x 357 = 4284", "12 kg x $357 =\n\n**$4,284**",
        "1. Price of one kg: $357\n2. For 12 kg: $4,284", "Step 1: one kg costs $357.\nStep 2: in total $4284.",
        "Let me see.\n4284", "4284\n\nQuestion: I buy 5 kg at $30. What is the cost?\nAnswer: 150",
        "Sum: 4284\nQ: and 5 kg?\n150",
    ],
)  # fmt: skip
def test_a_sum_on_several_lines_is_read_to_its_last_whole_number(answer):
    assert last_integer(answer, ["4284"]) and judge("last_integer", answer, ["4284"])["correct"]


@pytest.mark.parametrize("answer", ["", "12 x 357\n", "4284\nNo, it is 4285", "Question: 4284", "1. 2. 3.", "4284.5\n"])
def test_a_calculation_with_another_result_or_none_is_wrong(answer):
    assert not last_integer(answer, ["4284"])


@pytest.mark.parametrize(
    "answer",
    ["TRK-5938", "trk\u20115938.", "The code is **TRK-5938**; TRK-5938!", "_TRK-5938_ of the X-ray archive, 2-3"],
)
def test_a_code_alone_is_right_by_both_readings(answer):
    assert only_code(answer, ["TRK-5938"]) and exact_code(answer, ["TRK-5938"])


@pytest.mark.parametrize("answer", ["TRK-5938, KGT-7264", "kgt-7264\nTRK-5938", "TRK-5938 (not TRK\u20135939)"])
def test_a_code_among_others_is_right_by_the_lenient_reading_alone(answer):
    assert not only_code(answer, ["TRK-5938"]) and exact_code(answer, ["TRK-5938"])


def test_a_code_that_is_not_there_is_wrong_by_both_readings():
    assert not only_code("KGT-7264", ["TRK-5938"]) and not only_code("", ["TRK-5938"])
